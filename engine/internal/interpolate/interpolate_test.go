package interpolate

import (
	"math"
	"testing"
)

// The polynomial p of degree 5 is recovered from its values at six points. The error of each
// coefficient comes from some 30 operations on numbers up to 10, divided by differences above 0.25.
func TestNewton(t *testing.T) {
	want := []float64{3, -1, 4, 1, -5, 9}
	x := ChebyshevNodes(len(want))
	p := make([]float64, len(x))
	for k, v := range x {
		if k > 0 && !(v < x[k-1]) || math.Abs(math.Cos(6*math.Acos(v))) > 1e-14 {
			t.Errorf("point %d is %v, expected a zero of the Chebyshev polynomial below the one before", k, v)
		}
		for _, c := range []int{5, 4, 3, 2, 1, 0} {
			p[k] = p[k]*v + want[c]
		}
	}
	FitPolynomial(x, p)
	for k, v := range p {
		if !(math.Abs(v-want[k]) <= 1e-12) {
			t.Errorf("coefficient %d is %v, expected %v", k, v, want[k])
		}
	}
}
