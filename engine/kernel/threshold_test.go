package kernel

import (
	"math"
	"testing"
)

// Smoothed and biased thresholds agree with the definition as an integral over one coordinate. With
// u = w·x/‖x‖ and the conditional w·y/‖y‖ = ρu + √(1-ρ²) g, the mean of Φ over g is Φ again,
//
//	k = 2 ∫ du φ(u) Φ((u‖x‖-b)/σ) Φ((ρu - b/‖y‖) / √(1-ρ² + σ²/‖y‖²)),   ρ = 1-c
//
// by the trapezoidal rule, whose error for an integrand that is analytic in a strip of width d
// decreases like e^(-2πd/h). Here d >= 1 and h = 1/64.
func TestArcCosineThresholds(t *testing.T) {
	phi := func(v float64) float64 { return math.Erfc(-v/math.Sqrt2) / 2 }
	for _, b := range []float64{0, -0.7, 0.4, 1.5} {
		for _, sigma := range []float64{0.5, 1, 3} {
			k := MustParse("arccos:n=0,bias=" + formatNumber(b) + ",sigma=" + formatNumber(sigma)).(*kernel)
			for _, x := range []float64{0, 0.3, 1.2} {
				for _, y := range []float64{0.2, 1} {
					for _, c := range []float64{0, 0.1, 0.5, 1, 1.7, 2} {
						rho := 1 - c
						var sum float64
						const h = 1.0 / 64
						for u := -9.0; u <= 9; u += h {
							sum += h / math.Sqrt(2*math.Pi) * math.Exp(-u*u/2) * phi((u*x-b)/sigma) *
								phi((rho*u-b/y)/math.Sqrt(1-rho*rho+sigma*sigma/(y*y)))
						}
						if got := k.Eval(c, x, y); !(math.Abs(got-2*sum) <= 1e-12) {
							t.Errorf("%v at c = %v, norms %v and %v: found %v, the integral is %v", k, c, x, y, got,
								2*sum)
						}
					}
				}
			}
		}
	}
}

// In the feature space, norms are square roots of the diagonal, c2 gives the kernel, and for equal
// norms and steps c2 is as accurate as θ.
func TestArcCosineBiasFeature(t *testing.T) {
	for _, spec := range []string{"arccos:n=0,bias=0.3", "arccos:n=0,bias=-0.3", "arccos:n=0,bias=0.3,sigma=1",
		"arccos:n=0,sigma=0.5", "arccos:n=0,sigma=3"} {
		k := MustParse(spec).(*kernel)
		for _, c := range []float64{0, 1e-9, 0.1, 1, 2} {
			for _, x := range []float64{0.1, 0.5, 1} {
				c2, x2, y2 := k.feature(c, x, 1)
				if want := k.Eval(c, x, 1); !(math.Abs((1-c2)*x2*y2-want) <= 1e-12*x2*y2) ||
					!(math.Abs(x2*x2-k.Eval(0, x, x)) <= 8*ulp*x2*x2) {
					t.Errorf("%s: the feature at c = %v, norm %v is %v, %v, %v, the value %v", spec, c, x, c2, x2, y2,
						want)
				}
			}
		}
	}
	// With a sigma c2 is proportional to a small c.
	for _, spec := range []string{"arccos:n=0,sigma=0.5", "arccos:n=0,sigma=3"} {
		k := MustParse(spec).(*kernel)
		at, _, _ := k.feature(1e-9, 1.2, 1.2)
		if near, _, _ := k.feature(1e-30, 1.2, 1.2); !(math.Abs(near/1e-30-at/1e-9) <= 1e-7*at/1e-9) || !(at > 0) {
			t.Errorf("%s: the feature at c = 1e-30 is %v, at 1e-9 %v", spec, near, at)
		}
	}
	k := MustParse("arccos:n=0,bias=0.3").(*kernel)
	at, _, _ := k.feature(1e-9, 2, 2)
	if near, _, _ := k.feature(1e-31, 2, 2); !(math.Abs(near/at-1e-11) <= 1e-8*1e-11) || !(at > 0) {
		t.Errorf("the feature at c = 1e-31 is %v, at 1e-9 %v", near, at)
	}
	// These norms are much smaller than the bias, or directions are opposite.
	for spec, want := range map[string]float64{"normalise(power(arccos:n=0,bias=1):p=0.5)": 0,
		"compose(power(arccos:n=0,bias=1):p=0.5,arccos:n=0)": 0.5} {
		if v := MustParse(spec).Eval(1.5, 0.01, 2); !(math.Abs(v-want) <= 1e-15) {
			t.Errorf("%s is %v, expected %v", spec, v, want)
		}
	}
}

// For close norms, c2 is a multiple of their squared difference: with y = x(1+h) and c = h², c2/h²
// is a power series in h, whose first terms dominate for small h. The largest h are compared with
// the definition, which is accurate to 2⁻⁵¹.
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
				// For small angles, terms are like powers of hx/σ, otherwise of h, up to a factor.
				for h := large; h > 0x1p-26; h /= 4 {
					if a, b := at(h), at(h/4); !(math.Abs(a-b) <= 8*h*(1+x/sigma)*a) || !(a > 0) {
						t.Errorf("sigma = %v, norm %v: c2/h² at h = %v is %v, at h/4 %v", sigma, x, h, a, b)
					}
				}
			}
		}
	}
}
