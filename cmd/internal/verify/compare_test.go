package verify

import (
	"math"
	"testing"

	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/engine"
	"github.com/gramengine/gram/engine/kernel"
	"github.com/gramengine/gram/internal/musttest"
	"github.com/gramengine/gram/internal/source"
)

// The shortcuts of the comparison give the same verdicts as kernel.Tolerance alone, in any order,
// for values that differ from the reference's by fractions of the tolerance and of a rounding
// error.
func TestCompareRowKeepsTheTolerance(t *testing.T) {
	docs := musttest.Get(corpus.Read(t.Context(), "synthetic:docs=60,terms=80,length=30,seed=3", corpus.Options{}))(t)
	for _, spec := range []string{
		"c", "diffusion:t=0.1", "ngd", "bhattacharyya", "rbf:gamma=0.01", "polynomial:gamma=0.1,r=1,degree=3",
		"arccos:n=1,layers=3", "c:embed=tf-l1-js", "chi2:gamma=4",
	} {
		k := kernel.MustParse(spec)
		x := musttest.Get(source.Embed(t.Context(), docs, k.Embedding(), 1))(t)
		ref, n := engine.NewReference(x), x.Rows()
		s := &sample{n: n, rows: []sampleRow{{document: 7, c: make([]float64, n)}}}
		s.findIdentical(x)
		musttest.NoError(t, ref.Row(t.Context(), 7, s.rows[0].c))
		var want expectedRow
		want.fill(k, x, &s.rows[0])
		got := make([]float32, n)
		outside := 0
		for _, by := range []float64{0, 0.3, -0.7, 0.95, -0.99, 1.01, -1.05, 1.5, -3, 100, 0.5, math.NaN()} {
			var failures int64
			for j, v := range want {
				c, a, b := s.rows[0].c[j], x.Norms[7], x.Norms[j]
				tolerance := kernel.Tolerance(k, c, a, b)
				got[j] = float32(v + by*tolerance)
				if !(math.Abs(float64(got[j])-v) <= tolerance) {
					failures++
				}
			}
			if res := s.compareRow(x, k, 0, got, want); res.numFailures != failures {
				t.Errorf("%s, off by %v of the tolerance: %d values are out of tolerance, expected %d", spec, by,
					res.numFailures, failures)
			}
			if failures > 0 {
				outside++
			}
		}
		if outside < 5 {
			t.Errorf("%s: just %d of the displacements are out of tolerance", spec, outside)
		}
	}
}

func TestExtremeKeepsNaN(t *testing.T) {
	e := noError
	e.update(0, 1, 1, 0, 0)
	if e.row != 1 {
		t.Error("an error of 0 doesn't replace nowhere")
	}
	e.update(2, 2, 2, 0, 0)
	e.update(1, 3, 3, 0, 0)
	e.update(math.NaN(), 4, 4, 0, 0)
	e.update(9, 5, 5, 0, 0)
	if e.row != 4 {
		t.Errorf("the greatest of 0, 2, 1, NaN, 9 is taken from row %d, expected NaN's", e.row)
	}
}

func TestULP32(t *testing.T) {
	for v, want := range map[float64]float64{
		1: 0x1p-23, 1.999: 0x1p-23, -2: 0x1p-22, 0: 0x1p-149, 1e-45: 0x1p-149,
		0x1p-126: 0x1p-149, 0x1p-125: 0x1p-148,
	} {
		if got := ulp32(v); got != want {
			t.Errorf("ulp32(%v) = %v, expected %v", v, got, want)
		}
	}
}
