package benchduplicates

import (
	"testing"

	"github.com/gramengine/gram/lab/internal/peers/peerstest"
)

func TestUsage(t *testing.T) {
	peerstest.Usage(t, Program, "-rounds 0", "-names -1", "-within 1", "-grow 99")
}

// Without Python, gram alone is measured.
func TestRun(t *testing.T) {
	said := `{"corpus": {"documents": 7}, "pairs_within": 3, "seconds_pairs": 0.5, "plan": {"method": "join"}}`
	args := peerstest.Fake(t, said, nil)
	status, stdout, stderr := peerstest.Run(t, Program, append(args, "-in", "x.svm")...)
	if status != 0 {
		t.Fatalf("status %d, %s", status, stderr)
	}
	peerstest.Has(t, stdout, "x.svm: 7 documents, 3 pairs within 0.02", "gram duplicates, join", "100")
	peerstest.Has(t, stderr, "left out: sparse_dot_topn", "left out: datasketch")
}

// More documents: the seconds fit a power of their number, here 0.
func TestGrow(t *testing.T) {
	said := `{"pairs_within": 3, "seconds_pairs": 0.5, "seconds_neighbours": 1, "plan": {"method": "join"}}`
	status, stdout, stderr := peerstest.Run(t, Program, append(peerstest.Fake(t, said, nil), "-grow", "100")...)
	if status != 0 {
		t.Fatalf("status %d, %s", status, stderr)
	}
	peerstest.Has(t, stdout, "fit n^0.00", " 16 s") // 4 x 4 times a twentieth's, for a fifth
}
