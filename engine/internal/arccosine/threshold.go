package arccosine

import (
	"math"
	"sync"

	"gonum.org/v1/gonum/integrate/quad"
)

// BiasedKernel returns the kernel of degree 0 with the bias b in its step functions,
//
//	k^b = 2 ∫ dw (2π)^(-d/2) e^(-|w|²/2) Θ(w·x-b) Θ(w·y-b)
//
// for c = 1 - cosine in [0, 2] and the norms x and y. In the plane of x and y the region of
// integration is a wedge whose tip is not at the origin. In polar coordinates
//
//	k^b = (1/π) [I(h, ξ) + I(k, η)],   h = b/x, k = b/y >= 0
//	I(h, ξ) = ∫₀^ξ exp(-h²/(2 sin²φ)) dφ
//	cot ξ = (x - y cos θ)/(y sin θ),   cot η = (y - x cos θ)/(x sin θ)
//
// where ξ, η and θ are angles of the triangle 0, x, y. For b < 0, the complements give k^b = k^(-b)
// + erf(|h|/√2) + erf(|k|/√2). b = 0 gives degree 0. The error is below 10⁻¹³ √(k(x,x) k(y,y)).
//
// Source: Cho, PhD thesis, UCSD 2012, ch. 3, eq. 3.3-3.5, where I(r, ξ) has r = 1/h; Owen, Ann.
// Math. Statist. 27 (1956), whose T(h, a) is the same function.
func BiasedKernel(c, x, y, b float64) float64 {
	h, k := math.Abs(b)/x, math.Abs(b)/y
	if b == 0 {
		h, k = 0, 0
	}
	a, d := Cotangents(c, x, y)
	both := (sectorIntegral(h, a) + sectorIntegral(k, d)) / math.Pi
	if b < 0 {
		both += math.Erf(h/math.Sqrt2) + math.Erf(k/math.Sqrt2)
	}
	return both
}

// BiasedSquaredDistance returns k^b(x, x) + k^b(y, y) - 2 k^b(x, y), which is twice the probability
// that exactly one of w·x and w·y exceeds b. If x = y, the result has full relative accuracy even
// for small c.
func BiasedSquaredDistance(c, x, y, b float64) float64 {
	h, k := math.Abs(b)/x, math.Abs(b)/y
	if b == 0 {
		h, k = 0, 0
	}
	a, d := Cotangents(c, x, y)
	return 2 / math.Pi * (complement(h, a) + complement(k, d))
}

// Cotangents returns the cotangents of the angles at x and y in the triangle 0, x, y. They are 0 if
// the vectors x and y are equal, and infinite if x and y are parallel but not equal.
func Cotangents(c, x, y float64) (atX, atY float64) {
	s := math.Sqrt(c * (2 - c))
	if p := (x - y) + float64(y*c); p != 0 {
		atX = p / float64(y*s)
	}
	if p := (y - x) + float64(x*c); p != 0 {
		atY = p / float64(x*s)
	}
	return atX, atY
}

// legendre returns the nodes x and weights w of Gauss-Legendre quadrature on [-1, 1], and e = e^v
// at the nodes v on [0, 1], for [sectorIntegral].
var legendre = sync.OnceValue(func() (g struct{ x, w, e [20]float64 }) {
	quad.Legendre{}.FixedLocations(g.x[:], g.w[:], -1, 1)
	for i, x := range g.x {
		g.e[i] = math.Exp((x + 1) / 2)
	}
	return g
})

// integrate returns ∫ f over [lo, hi], by Gauss-Legendre quadrature with 20 nodes in each of
// several equal panels.
func integrate(f func(t float64) float64, lo, hi float64, panels int) float64 {
	g := legendre()
	half := (hi - lo) / float64(2*panels)
	var sum float64
	for p := range panels {
		mid := lo + half*float64(2*p+1)
		for i, x := range g.x {
			sum += g.w[i] * f(mid+half*x)
		}
	}
	return sum * half
}

// rightAngleIntegral returns I(h, π/2).
func rightAngleIntegral(h float64) float64 { return math.Pi / 2 * math.Erfc(h/math.Sqrt2) }

// scaledComplement returns e^(h²/2) (I(h, π/2) - I(h, ξ)) for a = cot ξ in [0, 1],
//
//	S(h, a) = ∫₀^a exp(-h²t²/2)/(1+t²) dt
//
// where t = cot φ. The integral beyond 9/h is less than 2⁻⁵⁷.
func scaledComplement(h, a float64) float64 {
	top := min(a, 9/h)
	return integrate(func(t float64) float64 { return math.Exp(-h*h*t*t/2) / (1 + t*t) }, 0, top, 1+int(h*top/3))
}

// complement returns I(h, π/2) - I(h, ξ) for a = cot ξ, an odd function of a.
func complement(h, a float64) float64 {
	switch v := math.Abs(a); {
	case h > 40 || v == 0: // a is 0 if x = y
		return 0
	case v <= 1:
		return math.Copysign(math.Exp(-h*h/2)*scaledComplement(h, v), a)
	default:
		return math.Copysign(rightAngleIntegral(h)-sectorIntegral(h, v), a)
	}
}

// sectorIntegral returns I(h, ξ) for a = cot ξ of any sign. If I(h, ξ) is much smaller than I(h,
// π/2), it is integrated directly, with t = cot φ = a e^v:
//
//	I = exp(-h²(1+a²)/2) ∫ exp(-h²a²(e^(2v)-1)/2) a e^v/(1+a²e^(2v)) dv,   v >= 0
//
// in panels of length 1.
func sectorIntegral(h, a float64) float64 {
	switch {
	case h > 40 || math.IsInf(a, 1): // e^-800 underflows to 0
		return 0
	case h == 0:
		return math.Atan2(1, a)
	case a < -1:
		return 2*rightAngleIntegral(h) - sectorIntegral(h, -a)
	case a <= 1 && h*a <= 2:
		return rightAngleIntegral(h) - complement(h, a)
	}
	z := h * a * h * a
	top := min(math.Log1p(82/z)/2, 40) // for larger v, the integrand is at most e^-41 or e^-40/a
	g := legendre()
	var sum float64
	for start := a; start < a*math.Exp(top); start *= math.E {
		for i, e := range g.e {
			t := start * e
			sum += g.w[i] * math.Exp(-h*h*(t-a)*(t+a)/2) / (t + 1/t)
		}
	}
	return math.Exp(-(h*h+z)/2) * sum / 2
}
