package sparse

import (
	"math"
	"strings"
	"testing"
)

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
	if _, values := x.Row(0); values[0] != LeastShare || values[1] != 1 {
		t.Errorf("shares %v, expected %v and 1", values, LeastShare)
	}
	if _, values := x.Row(1); values[1] != float32(1e-10) {
		t.Errorf("the share %v, expected 1e-10", values[1])
	}
}

func TestHistogramsRefuse(t *testing.T) {
	m := csrOf([][]float32{{1, 2}, {-1, 2}})
	for _, e := range []Embedding{{TF, NormL1, 0, ChiSquare}, {TFIDF, NormL1, 0, JensenShannon}} {
		_, err := e.Fit(csrOf([][]float32{{1, 2}, {0, 0}, {0, 0}})).Transform(m)
		if err == nil || !strings.Contains(err.Error(), "row 1, term 0: found -1") ||
			!strings.Contains(err.Error(), "histogram") {
			t.Errorf("%v: a value below 0 gives %v", e, err)
		}
		if _, err := e.WithPower(0.5); err == nil || !strings.Contains(err.Error(), "histogram") {
			t.Errorf("%v: a power gives %v", e, err)
		}
		for _, wrong := range []Embedding{{TF, NormNone, 0, e.Pairing}, {TF, NormL1, Root, e.Pairing},
			{TF, NormL1, 0, 9}} {
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
	if v := math.Log2(LeastShare); v > -50 {
		t.Errorf("the least share is 2^%v: what is rounded up to it shows", v)
	}
}
