package sparse

import (
	"testing"
)

// A document without known terms is the zero vector, or a separate point on the sphere.
func TestVector64OfNothing(t *testing.T) {
	m := csrOf([][]float32{{1, 2}, {}})
	for e, want := range map[Embedding]float64{{}: 0, {TF, NormNone, SquareRoot, Cosine, 0, 0}: 0,
		{TF, NormL1, 0, Cosine, 0, 0}: 0,
		{TF, NormL2, 0, Cosine, 0, 0}: 0, {TF, NormL2, SquareRoot, Cosine, 0, 0}: 0, SphereEmbedding: 1} {
		x := mustTransform(t, e.Fit(m), m)
		if got := x.Vector64(1, nil); len(got) != 1 || got[0] != want {
			t.Errorf("%v: %v, expected %v alone", e, got, want)
		}
	}
}

// Documents with proportional counts have the same histogram bit for bit. A document without terms
// has the histogram of the last column.
func TestHistograms(t *testing.T) {
	m := csrOf([][]float32{{1, 3, 0, 7}, {3, 9, 0, 21}, {}})
	for _, p := range []Pairing{ChiSquare, JensenShannon} {
		x := mustTransform(t, Embedding{Norm: NormL1, Pairing: p}.Fit(m), m)
		a, b, c := x.UnitVector64(0, nil), x.UnitVector64(1, nil), x.UnitVector64(2, nil)
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

// Shares of any size are nonzero in float32.
func TestLeastShare(t *testing.T) {
	m := csrOf([][]float32{{1e-30, 3e30}, {1, 1e-10}})
	x := mustTransform(t, Embedding{Norm: NormL1, Pairing: ChiSquare}.Fit(m), m)
	if _, values := x.Row(0); values[0] != MinHistogramValue || values[1] != 1 {
		t.Errorf("shares %v, expected %v and 1", values, MinHistogramValue)
	}
	if _, values := x.Row(1); values[1] != float32(1e-10) {
		t.Errorf("the share %v, expected 1e-10", values[1])
	}
}
