package benchpca

import (
	"math"
	"testing"

	"github.com/gramengine/gram/lab/internal/peers/peerstest"
)

func TestUsage(t *testing.T) { peerstest.Usage(t, Program, "-rounds 0", "-components 0", "-gamma 0") }

// Without Python, gram alone is measured.
func TestRun(t *testing.T) {
	args := peerstest.Fake(t, `{"seconds": 0.5, "isa": "avx2", "rows": [{"eigenvalue": 2}]}`,
		map[string]string{"mnist/t10k-images-idx3-ubyte.gz": ""})
	status, stdout, stderr := peerstest.Run(t, Program, args...)
	if status != 0 {
		t.Fatalf("status %d, %s", status, stderr)
	}
	peerstest.Has(t, stdout, "gram pca, avx2   500 ms")
	peerstest.Has(t, stderr, "left out: sklearn")
}

func TestWorst(t *testing.T) {
	dense := []*way{{}, {values: []float64{4, 2}}}
	if off := worst([]float64{4, 2.5}, dense); off != 0.25 {
		t.Errorf("%v, expected 0.25", off)
	}
	for _, values := range [][]float64{nil, {4}, {4, math.NaN()}} {
		if off := worst(values, dense); !math.IsNaN(off) {
			t.Errorf("%v: %v, expected NaN", values, off)
		}
	}
}
