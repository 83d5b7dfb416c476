package kernel

import (
	"math"
	"testing"

	"github.com/gramengine/gram/engine/internal/arccosine"
)

// Parsed kernels of any degree have norms to the power n, J_n and the factor 1/π. The norms of the
// feature space are the square roots of the diagonal.
func TestArcCosineDegree(t *testing.T) {
	for _, n := range []float64{-0.4, -0.25, 0.5, 1.5, 3, 3.7, 10, 28} {
		k := MustParse("arccos:n=" + formatNumber(n)).(*kernel)
		j := arccosine.New(n)
		for _, c := range []float64{0, 1e-20, 0.1, 1, 1.9, 2} {
			const x, y = 1.5, 0.25
			want := math.Pow(x, n) * math.Pow(y, n) * j.J(c) / math.Pi
			if got := k.Eval(c, x, y); !(math.Abs(got-want) <= 32*ulp*want) {
				t.Errorf("%v at c = %v is %v, expected %v", k, c, got, want)
			}
			c2, x2, y2 := k.feature(c, x, y)
			if got, dx := x2*y2*(1-c2), k.Eval(0, x, x); !(math.Abs(got-want) <= 256*(n+1)*ulp*x2*y2) ||
				!(math.Abs(x2*x2-dx) <= 32*ulp*dx) {
				t.Errorf("%v: the feature at c = %v is %v, %v, %v: value %v, expected %v", k, c, c2, x2, y2, got, want)
			}
		}
		if v := k.Eval(0.3, 0, 2); v != 0 {
			t.Errorf("%v of an empty document is %v, expected 0", k, v)
		}
	}
	if MustParse("arccos:n=2").(*kernel).direct == nil {
		t.Error("the degree 2 has lost its map")
	}
}
