package kernel

import (
	"math"
	"testing"

	"github.com/gramengine/gram/asm"
	"github.com/gramengine/gram/engine/internal/arccosine"
)

// Any degree through the parser: norms to the power n, J_n, the factor 1/π; the feature space has
// the diagonal as its norms.
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

// For documents without negative values and norms whose powers are in range, maps are within 8 ulp:
// 16 units of 2⁻²⁴.
func TestArcCosineUlp(t *testing.T) {
	everyISA(t, func(t *testing.T, table *asm.Kernels) {
		for _, spec := range []string{"arccos:n=3", "arccos:n=4", "arccos:n=9", "arccos:n=0.5", "arccos:n=-0.25",
			"arccos:n=2.5", "arccos:n=0.5,layers=3"} {
			k := MustParse(spec)
			var worst float64
			for _, c := range float32Distances(5000) {
				if c > 1 {
					continue
				}
				dst := []float32{float32(math.NaN())}
				k.mapTo(table, dst, []float32{c}, []float32{1.25}, []float32{0.7})
				want := k.Eval(float64(c), 1.25, float64(float32(0.7)))
				worst = max(worst, math.Abs(float64(dst[0])-want)/(unit*want))
				if dst[0] != dst[0] {
					t.Fatalf("%s at c = %v is %v", spec, c, dst[0])
				}
			}
			if !(worst <= 16 && worst > 0.5) {
				t.Errorf("%s: the greatest error is %.3g units", spec, worst)
			}
		}
	})
}

// k_n(x, x) = ‖x‖²ⁿ 2ⁿ Γ(n+½)/√π for any degree, which is ‖x‖²ⁿ (2n-1)!! for a whole one: Cho's
// thesis, eq. A.20. Gamma and the powers carry some 10⁻¹⁵ each, the degree 64 (n+1) half ulp, more
// near -½.
func TestArcCosineDiagonal(t *testing.T) {
	for _, n := range []float64{-0.49, -0.3, 0, 0.5, 1, 1.7, 2, 3, 4.25, 7, 12, 20.5} {
		k := MustParse("arccos:n=" + formatNumber(n))
		for _, x := range []float64{0.3, 1, 2.5} {
			want := math.Pow(x, 2*n) * math.Exp2(n) * math.Gamma(n+0.5) / math.Sqrt(math.Pi)
			if got := k.Eval(0, x, x); !(math.Abs(got-want) <= (1e-14*(n+2)+1e-15/(n+0.5))*want) {
				t.Errorf("%v at the norm %v has the diagonal %v, expected %v", k, x, got, want)
			}
		}
	}
}
