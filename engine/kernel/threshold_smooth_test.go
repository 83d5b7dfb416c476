package kernel

import (
	"math"
	"testing"
)

// The definition as an integral over one coordinate: with u = w·x/‖x‖ and, given that, w·y/‖y‖ = ρu
// + √(1-ρ²) g, the mean of Φ over g is Φ again,
//
//	k = 2 ∫ du φ(u) Φ(u‖x‖/σ) Φ(ρu / √(1-ρ² + σ²/‖y‖²)),   ρ = 1-c
//
// by the trapezoidal rule, whose error for an analytic integrand falls like e^(-2πd/h) in its strip
// of width d: here d >= 1 for what is tested, h = 1/64.
func TestArcCosineSmooth(t *testing.T) {
	phi := func(v float64) float64 { return math.Erfc(-v/math.Sqrt2) / 2 }
	for _, sigma := range []float64{0.5, 1, 3} {
		k := MustParse("arccos:n=0,sigma=" + formatNumber(sigma)).(*kernel)
		for _, x := range []float64{0, 0.3, 1.2} {
			for _, y := range []float64{0.2, 1} {
				for _, c := range []float64{0, 0.1, 0.5, 1, 1.7, 2} {
					rho := 1 - c
					var sum float64
					const h = 1.0 / 64
					for u := -9.0; u <= 9; u += h {
						sum += h / math.Sqrt(2*math.Pi) * math.Exp(-u*u/2) * phi(u*x/sigma) * phi(
							rho*u/math.Sqrt(1-rho*rho+sigma*sigma/(y*y)))
					}
					if got := k.Eval(c, x, y); !(math.Abs(got-2*sum) <= 1e-12) {
						t.Errorf("sigma = %v, c = %v, norms %v and %v: found %v, the integral is %v", sigma, c, x, y,
							got, 2*sum)
					}
					c2, x2, y2 := k.feature(c, x, y)
					if want := k.Eval(c, x, y); !(math.Abs((1-c2)*x2*y2-want) <= 1e-14) ||
						!(math.Abs(x2*x2-k.Eval(0, x, x)) <= 1e-15) {
						t.Errorf("sigma = %v, c = %v, norms %v and %v: the feature is %v, %v, %v", sigma, c, x, y, c2,
							x2, y2)
					}
				}
			}
		}
		// A small c keeps its digits where norms are the same: c2 is proportional to c there.
		at, _, _ := k.feature(1e-9, 1.2, 1.2)
		if near, _, _ := k.feature(1e-30, 1.2, 1.2); !(math.Abs(near/1e-30-at/1e-9) <= 1e-7*at/1e-9) || !(at > 0) {
			t.Errorf("sigma = %v: the feature at c = 1e-30 is %v, at 1e-9 %v", sigma, near, at)
		}
	}
}

// For norms that are close, c2 is a multiple of the square of their difference: with y = x(1+h) and
// c = h², c2/h² is a power series in h, of which the first terms are left for small h. The greatest
// h are held to the definition, which knows c2 to 2⁻⁵¹.
func TestArcCosineSmoothClose(t *testing.T) {
	for _, sigma := range []float64{1e-3, 0.5, 3, 1e4} {
		k := MustParse("arccos:n=0,sigma=" + formatNumber(sigma)).(*kernel)
		for _, x := range []float64{1e-2, 1, 30} {
			for _, far := range []float64{0, 1} {
				at := func(h float64) float64 {
					c2, _, _ := k.feature(far*h*h, x, x*(1+h))
					return c2 / (h * h)
				}
				const large = 0x1p-6
				defined := k.plainDeficit(far*large*large, x, x*(1+large))
				if got := at(large) * large * large; !(math.Abs(got-defined) <= 0x1p-50) {
					t.Errorf("sigma = %v, norm %v: c2 is %v, by definition %v", sigma, x, got, defined)
				}
				// Where angles are small, terms are like powers of hx/σ, and elsewhere of h, up to
				// some factor.
				for h := large; h > 0x1p-26; h /= 4 {
					if a, b := at(h), at(h/4); !(math.Abs(a-b) <= 8*h*(1+x/sigma)*a) || !(a > 0) {
						t.Errorf("sigma = %v, norm %v: c2/h² at h = %v is %v, at h/4 %v", sigma, x, h, a, b)
					}
				}
			}
		}
	}
}
