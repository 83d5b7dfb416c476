package benchlearners

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/gramengine/gram/lab/internal/peers/peerstest"
)

func TestUsage(t *testing.T) {
	peerstest.Usage(t, Program, "-rounds 0", "-landmarks 0", "-landmarks x", "-c 0")
}

// Without Python, gram alone is measured.
func TestRun(t *testing.T) {
	args := peerstest.Fake(t, `{"seconds": 1, "seconds_read": 0.125, "seconds_write": 0.125, "accuracy": 0.75,
		"rows": [{"objective": 3}, {"objective": 4}]}`, map[string]string{
		"20news-bydate/train.tsv.gz": "", "20news-bydate/test.tsv.gz": "",
		"webkb/all.tsv.gz": "student|cornell\ta\nfaculty|misc\tb\n",
	})
	curves := filepath.Join(t.TempDir(), "curves.svg")
	status, stdout, stderr := peerstest.Run(t, Program, append(args, "-landmarks", "8,64", "-plot", curves)...)
	if status != 0 {
		t.Fatalf("status %d, %s", status, stderr)
	}
	peerstest.Has(t, stdout, "20 Newsgroups", "gram -type linear      0.75    75.00%       7.00",
		"gram -landmarks 64", "gram exact", "WebKB, tf-l1-sqrt\n",
		"gram -type sphere-logistic     0.75    75.00%       7.00")
	if f, err := os.Stat(curves); err != nil || f.Size() < 4000 {
		t.Errorf("the plot: %v, %v", f, err)
	}
	peerstest.Has(t, stderr, "left out: sklearn", "left out: MNIST")
}
