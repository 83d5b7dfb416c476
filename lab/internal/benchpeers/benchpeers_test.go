package benchpeers

import (
	"testing"

	"github.com/gramengine/gram/lab/internal/peers/peerstest"
)

func TestUsage(t *testing.T) { peerstest.Usage(t, Program, "-rounds 0", "-k 0") }

// Without Python, gram alone is measured.
func TestRun(t *testing.T) {
	args := peerstest.Fake(t, `{"corpus": {"documents": 7}, "seconds_neighbours": 0.5, "isa": "avx2"}`, nil)
	status, stdout, stderr := peerstest.Run(t, Program, append(args, "-in", "x.svm")...)
	if status != 0 {
		t.Fatalf("status %d, %s", status, stderr)
	}
	peerstest.Has(t, stdout, "x.svm: 7 documents", "gram neighbours, avx2")
	peerstest.Has(t, stderr, "left out: sparse_dot_topn")
}
