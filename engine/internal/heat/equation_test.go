package heat

import (
	"math"
	"testing"
)

// residual returns (∂K/∂t - ΔK)/K₀ of the full parametrix K at distance d, where K₀ is its Gaussian
// times ψ₀ and Δ = ∂²/∂d² + (n-1)/2 cot(d/2) ∂/∂d. With f = ln K, ∂K/∂t = K f_t and ΔK = K (f″ +
// f′² + (n-1)/2 cot(d/2) f′), by differences of order 8 of f, which unlike K varies on the scale of
// the sphere, in d, and of t itself.
func residual(s *Sphere, form Form, t, d float64) float64 {
	f := func(t, d float64) float64 {
		l, sign := (&Kernel{Sphere: s, T: t, Form: form, LogFactor: LogConstant(s.n, t)}).Log(half(d / 2))
		if sign <= 0 {
			return math.NaN()
		}
		return l
	}
	first := []float64{0, 4. / 5, -1. / 5, 4. / 105, -1. / 280}
	second := []float64{-205. / 72, 8. / 5, -1. / 5, 8. / 315, -1. / 560}
	const h, ht = 0.03, 0.01
	var inT, inD, inDD float64
	inDD = second[0] * f(t, d)
	for i := 1; i <= 4; i++ {
		step := float64(i) * h
		inT += first[i] * (f(t*(1+float64(i)*ht), d) - f(t*(1-float64(i)*ht), d))
		inD += first[i] * (f(t, d+step) - f(t, d-step))
		inDD += second[i] * (f(t, d+step) + f(t, d-step))
	}
	inT, inD, inDD = inT/(ht*t), inD/h, inDD/(h*h)
	sum, _ := s.LogSum(form, t, half(d/2))
	return math.Exp(sum-s.LogPsi0(form, half(d/2))) * (inT - inDD - inD*inD - float64(s.n-1)/2/math.Tan(d/2)*inD)
}

// The residual of the heat equation is that of the last function alone, -t^m Δψ_m/ψ₀: its order,
// measured over two halvings of t, is m.
func TestHeatEquation(t *testing.T) {
	for _, n := range []int{2, 3, 4, 7, 20} {
		for m := range 4 {
			s := sphere(t, n, m)
			for _, d := range []float64{0.3, 0.6, 1, 1.5} {
				from := 4 / float64(n*n+4)
				order := math.Log2(residual(s, Derived, from, d)/residual(s, Derived, from/4, d)) / 2
				if !(math.Abs(order-float64(m)) <= 0.02) {
					t.Errorf("n = %d, m = %d, d = %v: the residual is of order %.4f in t", n, m, d, order)
				}
			}
		}
	}
}

// exact is the heat kernel of the n-sphere of radius 1 by its spectrum,
//
//	K(τ, x) = 1/vol Σ (2l+n-1)/(n-1) C_l(cos x) exp(-l(l+n-1)τ)
//
// with the Gegenbauer polynomials of index (n-1)/2, n > 1. The sum loses what K(τ, x) is smaller
// than K(τ, 0).
func exact(n int, tau, x float64) float64 {
	a := float64(n-1) / 2
	before, at := 0.0, 1.0
	var sum float64
	for l := range 400 {
		v := float64(l)
		sum += (v + a) / a * at * math.Exp(-v*(v+2*a)*tau)
		before, at = at, (2*(v+a)*math.Cos(x)*at-(v+2*a-1)*before)/(v+1)
	}
	return sum * math.Gamma(a+1) / (2 * math.Pow(math.Pi, a+1))
}

// The parametrix, constant and all, tends to the heat kernel like t^(m+1).
func TestHeatKernel(t *testing.T) {
	for _, n := range []int{2, 3, 4, 6} {
		for m := range 4 {
			s := sphere(t, n, m)
			for _, x := range []float64{0, 0.3, 0.6} {
				err := func(tau float64) float64 {
					k := Kernel{Sphere: s, T: 4 * tau, LogFactor: LogConstant(n, 4*tau)}
					return k.Eval(half(x))*math.Pow(2, float64(n))/exact(n, tau, x) - 1
				}
				coarse, fine := err(0.1), err(0.05)
				order := math.Log2(coarse / fine)
				if !(math.Abs(order-float64(m+1)) <= 0.6) ||
					!(math.Abs(fine) <= math.Pow(0.05*float64(n*n)/4, float64(m+1))) {
					t.Errorf("n = %d, m = %d, x = %v: errors %.3g and %.3g, of order %.3f", n, m, x, coarse, fine,
						order)
				}
			}
		}
	}
}
