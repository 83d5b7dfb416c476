package sparse

import (
	"cmp"
	"math"
	"testing"
)

// The definition, straight from counts: weighted, divided by the norm, square root.
func TestVector64(t *testing.T) {
	rows := [][]float32{{1, 2, 0, 4}, {0, 3, 5, 0.1}, {7, 0, 0, 0}, {1, 0, 0, 0}}
	df := []float64{3, 2, 1, 2}
	m := csrOf(rows)
	for _, e := range withPowers() {
		x := mustTransform(t, e.Fit(m), m)
		for i, r := range rows {
			v, l1, l2 := make([]float64, len(r)), 0.0, 0.0
			for j, c := range r {
				v[j] = float64(c)
				if e.Weighting == TFIDF {
					v[j] *= math.Log(4 / df[j])
				}
				l1 += v[j]
				l2 = math.Hypot(l2, v[j])
			}
			terms, _ := x.Row(i)
			for k, got := range x.Vector64(i, nil) {
				want := v[terms[k]] / map[Norm]float64{NormNone: 1, NormL1: l1, NormL2: l2}[e.Norm]
				want = math.Pow(want, cmp.Or(e.Power, 1))
				tol := 1e-14 * want // some 20 roundings
				if e.Weighting == TF && e.Norm == NormNone && !e.general() {
					tol = 0
				}
				if !(math.Abs(got-want) <= tol) {
					t.Errorf("%v: row %d, column %d is %v, expected %v", e, i, terms[k], got, want)
				}
			}
		}
	}
}

// A document without known terms is the null vector where its norm is 0, and a unit vector of its
// own where the norm is always 1.
func TestVector64OfNothing(t *testing.T) {
	m := csrOf([][]float32{{1, 2}, {}})
	for e, want := range map[Embedding]float64{{}: 0, {TF, NormNone, Root, Dot}: 0, {TF, NormL1, 0, Dot}: 0,
		{TF, NormL2, 0, Dot}: 1, Sphere: 1} {
		x := mustTransform(t, e.Fit(m), m)
		if got := x.Vector64(1, nil); len(got) != 1 || got[0] != want {
			t.Errorf("%v: %v, expected %v alone", e, got, want)
		}
	}
}
