package kernel

import (
	"math"
	"testing"

	"github.com/gramengine/gram/engine/kernel/internal/syntax"
)

// k_n(x, x) = ‖x‖²ⁿ 2ⁿ Γ(n+½)/√π for any degree, which is ‖x‖²ⁿ (2n-1)!! for a whole one: Cho's thesis, eq. A.20. Gamma and the powers carry some 10⁻¹⁵ each, the
// degree 64 (n+1) half ulp, more near -½.
func TestArcCosineDiagonal(t *testing.T) {
	for _, n := range []float64{-0.49, -0.3, 0, 0.5, 1, 1.7, 2, 3, 4.25, 7, 12, 20.5} {
		k := MustParse("arccos:n=" + syntax.FormatNumber(n))
		for _, x := range []float64{0.3, 1, 2.5} {
			want := math.Pow(x, 2*n) * math.Exp2(n) * math.Gamma(n+0.5) / math.Sqrt(math.Pi)
			if got := k.Eval(0, x, x); !(math.Abs(got-want) <= (1e-14*(n+2)+1e-15/(n+0.5))*want) {
				t.Errorf("%v at the norm %v has the diagonal %v, expected %v", k, x, got, want)
			}
		}
	}
}

// From both sides fractional degrees tend to the whole ones, norms and all, in proportion to the difference of the degrees.
func TestArcCosineDegreesTend(t *testing.T) {
	for _, n := range []float64{0, 1, 2, 3, 5} {
		k := MustParse("arccos:n=" + syntax.FormatNumber(n))
		for _, c := range []float64{0, 1e-9, 0.2, 1, 1.6} {
			const x, y = 0.4, 3.0
			want := k.Eval(c, x, y)
			var far float64
			for _, e := range []float64{1e-2, 1e-4, 1e-6} {
				// ∂ ln k/∂n is ln ‖x‖‖y‖ + ∂ ln J/∂n, for these c below 2 ln(n+2) + 3.
				bound := e*(2*math.Log(n+2)+3) + 1e-13
				for _, near := range []float64{n - e, n + e} {
					got := MustParse("arccos:n="+syntax.FormatNumber(near)).Eval(c, x, y) / want
					if !(math.Abs(got-1) <= bound) {
						t.Errorf("the degree %v at c = %v is off that of %v by the factor %v, bound %v", near, c, n, got, bound)
					}
					far = max(far, math.Abs(got-1))
				}
			}
			if !(far > 1e-6) {
				t.Errorf("degrees around %v don't differ at c = %v", n, c)
			}
		}
	}
}

// b → 0 gives the degree 0: a threshold's neighbourhood of width b/‖x‖ has the mass b/(‖x‖√(2π)) on either side, and k counts it twice for each document. With
// b → 0 and smoothed thresholds the smoothed ones are left.
func TestArcCosineBiasTends(t *testing.T) {
	const x, y = 0.7, 3.0
	for spec, limit := range map[string]string{"arccos:n=0": "arccos:n=0", "arccos:n=0,sigma=0.5": "arccos:n=0,sigma=0.5"} {
		k := MustParse(limit)
		for _, b := range []float64{0.1, 1e-3, 1e-8, -1e-8, -1e-3, -0.1} {
			biased := MustParse(spec + ",bias=" + syntax.FormatNumber(b))
			moved := 0.0
			for _, c := range distances() {
				got, want := biased.Eval(c, x, y), k.Eval(c, x, y)
				if !(math.Abs(got-want) <= 2*math.Abs(b)*(1/x+1/y)/math.Sqrt(2*math.Pi)+16*ulp) {
					t.Errorf("%v at c = %v is %v, %v is %v", biased, c, got, k, want)
				}
				moved = max(moved, math.Abs(got-want))
			}
			if !(moved > math.Abs(b)/100) {
				t.Errorf("%v is %v everywhere", biased, k)
			}
		}
	}
}
