package solver

import (
	"math"
	"testing"
)

// A search that begins at a solution for nearly the same documents has a feasible start, and what was at its bound
// stays there where the others can make up for what is missing.
func TestBeginAt(t *testing.T) {
	for _, q := range []struct {
		name        string
		coef, upper []float64 // positive and negative in turns
		want        []float64
	}{
		{"balanced", []float64{1, -1, 0.5, -0.5}, []float64{1, 1, 1, 1}, []float64{1, 1, 0.5, 0.5}},
		{"free ones make up", []float64{1, -0.75, 0.5, -0.5}, []float64{1, 1, 1, 1}, []float64{1, 0.75, 0.25, 0.5}},
		{"all make up", []float64{1, -0.5, 0.25, 0}, []float64{1, 1, 1, 1}, []float64{0.4, 0.5, 0.1, 0}},
		{"lesser C", []float64{2, -1, 0.25, -1.25}, []float64{0.5, 1, 0.5, 0.5}, []float64{0.5, 0.5, 0.25, 0.25}},
		{"other sign", []float64{-1, -1, 0.5, -0.5}, []float64{1, 1, 1, 1}, []float64{0, 1. / 3, 0.5, 0.5 / 3}},
		{"one class", []float64{1, 0, 1, 0}, []float64{1, 1, 1, 1}, []float64{0, 0, 0, 0}},
		{"a rounding", []float64{1, -1, 1, -(1 - 1e-15)}, []float64{1, 1, 1, 1 - 1e-15}, []float64{1, 1, 1, 1 - 1e-15}},
	} {
		d := emptyDual([]int{0, 1, 2, 3}, 1)
		copy(d.upper, q.upper)
		copy(d.sign, []int8{1, -1, 1, -1})
		d.beginAt(startFrom(&Machine{Support: d.docs, Coef: q.coef}))
		var sum float64
		for i, a := range d.alpha {
			sum += float64(d.sign[i]) * a
			if !(math.Abs(a-q.want[i]) <= 1e-12) {
				t.Errorf("%s: α = %v, expected %v", q.name, d.alpha, q.want)
				break
			}
		}
		if !(math.Abs(sum) <= 1e-12) {
			t.Errorf("%s: Σ yα = %v, expected 0", q.name, sum)
		}
	}
}
