package sparse

import (
	"cmp"
	"math"
	"strings"
	"testing"
)

// The definition, straight from counts: weighted, divided by the norm, square root.
func TestVector64(t *testing.T) {
	rows := [][]float32{{1, 2, 0, 4}, {0, 3, 5, 1.1}, {7, 0, 0, 0}, {1, 0, 0, 0}}
	df := []float64{3, 2, 1, 2}
	m := csrOf(rows)
	for _, e := range withPowers() {
		if e.Scales() {
			continue // TestScaledColumns
		}
		x := mustTransform(t, fit(e, m), m)
		for i, r := range rows {
			v, l1, l2 := make([]float64, len(r)), 0.0, 0.0
			for j, c := range r {
				v[j] = float64(c)
				if e.Weighting.Damped() && c > 0 {
					v[j] = 1 + math.Log(v[j])
				}
				if e.Weighting.IDF() {
					v[j] *= math.Log(4 / df[j])
				}
				if e.Supervised() {
					v[j] *= x.Embedder.Weights[j] // see TestSupervised
				}
				l1 += v[j]
				l2 = math.Hypot(l2, v[j])
			}
			terms, _ := x.Row(i)
			for k, got := range x.Vector64(i, nil) {
				want := v[terms[k]] / map[Norm]float64{NormNone: 1, NormL1: l1, NormL2: l2}[e.Norm]
				want = math.Pow(want, cmp.Or(e.Power, 1))
				tol := 1e-14 * want // some 20 roundings
				if !e.Weighting.Damped() && !e.Weighted() && e.Norm == NormNone && !e.general() {
					tol = 0
				}
				if !(math.Abs(got-want) <= tol) {
					t.Errorf("%v: row %d, column %d is %v, expected %v", e, i, terms[k], got, want)
				}
			}
		}
	}
}

// A document without known terms is the zero vector, and a point of its own on the sphere.
func TestVector64OfNothing(t *testing.T) {
	m := csrOf([][]float32{{1, 2}, {}})
	for e, want := range map[Embedding]float64{{}: 0, {TF, NormNone, Root, Dot, 0, 0}: 0, {TF, NormL1, 0, Dot, 0, 0}: 0,
		{TF, NormL2, 0, Dot, 0, 0}: 0, {TF, NormL2, Root, Dot, 0, 0}: 0, Sphere: 1} {
		x := mustTransform(t, e.Fit(m), m)
		if got := x.Vector64(1, nil); len(got) != 1 || got[0] != want {
			t.Errorf("%v: %v, expected %v alone", e, got, want)
		}
	}
}

// Documents with proportional counts are the same histogram to the bit, and one without terms is
// that of the last column.
func TestHistograms(t *testing.T) {
	m := csrOf([][]float32{{1, 3, 0, 7}, {3, 9, 0, 21}, {}})
	for _, p := range []Pairing{ChiSquare, JensenShannon} {
		x := mustTransform(t, Embedding{Norm: NormL1, Pairing: p}.Fit(m), m)
		a, b, c := x.Unit64(0, nil), x.Unit64(1, nil), x.Unit64(2, nil)
		for k, want := range []float64{1. / 11, 3. / 11, 7. / 11} {
			if a[k] != want || b[k] != want {
				t.Errorf("value %d is %v and %v, expected %v", k, a[k], b[k], want)
			}
		}
		if terms, _ := x.Row(2); len(c) != 1 || c[0] != 1 || int(terms[0]) != x.Cols-1 || x.Norms[2] != 1 {
			t.Errorf("nothing is %v in columns %v, norm %v", c, terms, x.Norms[2])
		}
	}
}

// No share is 0 in float32, however small.
func TestLeastShare(t *testing.T) {
	m := csrOf([][]float32{{1e-30, 3e30}, {1, 1e-10}})
	x := mustTransform(t, Embedding{Norm: NormL1, Pairing: ChiSquare}.Fit(m), m)
	if _, values := x.Row(0); values[0] != MinShare || values[1] != 1 {
		t.Errorf("shares %v, expected %v and 1", values, MinShare)
	}
	if _, values := x.Row(1); values[1] != float32(1e-10) {
		t.Errorf("the share %v, expected 1e-10", values[1])
	}
}

func TestHistogramsRefuse(t *testing.T) {
	m := csrOf([][]float32{{1, 2}, {-1, 2}})
	for _, e := range []Embedding{{TF, NormL1, 0, ChiSquare, 0, 0}, {TFIDF, NormL1, 0, JensenShannon, 0, 0}} {
		_, err := e.Fit(csrOf([][]float32{{1, 2}, {0, 0}, {0, 0}})).Transform(m)
		if err == nil || !strings.Contains(err.Error(), "row 1, term 0: found -1") ||
			!strings.Contains(err.Error(), "histogram") {
			t.Errorf("%v: a value below 0 gives %v", e, err)
		}
		if _, err := e.WithPower(0.5); err == nil || !strings.Contains(err.Error(), "histogram") {
			t.Errorf("%v: a power gives %v", e, err)
		}
		for _, wrong := range []Embedding{{TF, NormNone, 0, e.Pairing, 0, 0}, {TF, NormL1, Root, e.Pairing, 0, 0},
			{Norm: NormL1, Pairing: 9}} {
			if _, err := RestoreEmbedder(Embedder{Embedding: wrong}); err == nil {
				t.Errorf("%+v passes", wrong.Pairing)
			}
		}
	}
	for _, wrong := range []string{"tf-chi2", "tf-l2-js", "tf-l1-sqrt-chi2", "tf-l1-chi2-pow2", "tf-l1-js-sqrt"} {
		if e, err := ParseEmbedding(wrong); err == nil {
			t.Errorf("%s is read as %v", wrong, e)
		}
	}
	if v := math.Log2(MinShare); v > -50 {
		t.Errorf("the least share is 2^%v: what is rounded up to it shows", v)
	}
}
