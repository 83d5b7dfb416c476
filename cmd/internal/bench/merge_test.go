package bench

import (
	"math"
	"testing"

	"github.com/gramengine/gram/engine/kernel"
	"github.com/gramengine/gram/internal/musttest"
	"github.com/gramengine/gram/sparse"
)

// The baselines of histograms compute what the kernels are defined by: half the χ² distance Σ
// (a-b)²/(a+b), and the Jensen-Shannon divergence in units of ln 2.
func TestMergeOfHistograms(t *testing.T) {
	m := &sparse.CSR{
		Cols:    6,
		Terms:   []uint32{0, 2, 5, 1, 2, 3, 5, 0, 1, 2, 4},
		Values:  []float32{3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5},
		Offsets: []int64{0, 3, 7, 11},
	}
	xlogx := func(v float64) float64 {
		if v == 0 {
			return 0
		}
		return v * math.Log(v)
	}
	for spec, term := range map[string]func(a, b float64) float64{
		"chi2": func(a, b float64) float64 {
			if a+b == 0 {
				return 0
			}
			return (a - b) * (a - b) / (a + b) / 2
		},
		"js": func(a, b float64) float64 { return (xlogx(a)/2 + xlogx(b)/2 - xlogx((a+b)/2)) / math.Ln2 },
	} {
		x := musttest.Get(kernel.MustParse(spec).Embedding().Fit(m).Transform(m))(t)
		dense := make([][6]float64, x.Rows())
		for i := range dense {
			terms, values := x.Row(i)
			for k, v := range values {
				dense[i][terms[k]] = float64(v)
			}
		}
		_, merge := mergeRows(x)
		for i := range dense {
			for j := range dense {
				want := 0.0
				for k := range dense[i] {
					want += term(dense[i][k], dense[j][k])
				}
				// Six values of up to 1 are rounded to float32, by 2⁻²⁵, so that a histogram's sum,
				// of which c takes half for each document, is off 1 by so much a term; the two v ln
				// v of a term, up to 1/e each, are rounded by 2⁻²⁶ and divided by 2 ln 2: together
				// below 6·2⁻²⁴.
				if got, tol := merge(i, j, j+1), 6*0x1p-24; !(math.Abs(got-want) <= tol) {
					t.Errorf("%s of documents %d and %d: %v, expected %v", spec, i, j, got, want)
				}
			}
		}
		got, want := merge(0, 0, 3), merge(0, 0, 1)+merge(0, 1, 2)+merge(0, 2, 3)
		if !(math.Abs(got-want) <= 4*0x1p-52) {
			t.Errorf("%s of a run of documents: %v, expected %v", spec, got, want)
		}
	}
}

func TestMergeDot(t *testing.T) {
	a, b := []uint32{1, 4, 5, 9}, []uint32{0, 4, 9, 12}
	av, bv := []float32{1, 2, 3, 4}, []float32{5, 6, 7, 8}
	if got := mergeDot(a, av, nil, b, bv, nil); got != 2*6+4*7 {
		t.Errorf("mergeDot is %v, expected 40", got)
	}
	if got := mergeDot(nil, nil, nil, b, bv, nil); got != 0 {
		t.Errorf("mergeDot with an empty list is %v", got)
	}
}
