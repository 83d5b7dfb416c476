package benchpeers

import (
	"testing"

	"github.com/gramengine/gram/lab/internal/beside/besidetest"
)

func TestUsage(t *testing.T) { besidetest.Usage(t, Program, "-rounds 0", "-k 0") }

// Without Python, grambench alone is measured.
func TestRun(t *testing.T) {
	args := besidetest.Fake(t, `{"corpus": {"documents": 7}, "seconds_neighbours": 0.5, "isa": "avx2"}`, nil)
	status, stdout, stderr := besidetest.Run(t, Program, append(args, "-in", "x.svm")...)
	if status != 0 {
		t.Fatalf("status %d, %s", status, stderr)
	}
	besidetest.Has(t, stdout, "x.svm: 7 documents", "grambench neighbours, avx2")
	besidetest.Has(t, stderr, "left out: sparse_dot_topn")
}
