package asm

import (
	"math"

	"github.com/gramengine/gram/asm/internal/coeff"
)

// The following holds for every map. The inputs are at least as long as dst. dst may be the same
// slice as an input. Any other overlap is forbidden. A result depends neither on the element's
// index nor on len(dst). c = 1 - cosine must be in [0, 2], as [Kernels.Finish] ensures, or results
// are unspecified. NaN gives NaN. Calls may run concurrently if no destination overlaps memory that
// another call accesses. An ulp is the spacing of float32 numbers at the exact result.

// addGeneric adds two slices,
//
//	dst[j] = a[j] + b[j],  0 <= j < len(dst)
//
// Each sum is rounded once.
func addGeneric(dst, a, b []float32) {
	a = a[:len(dst)]
	b = b[:len(dst)]
	for j := range dst {
		dst[j] = a[j] + b[j]
	}
}

// dotGeneric converts c back to dot products,
//
//	dst[j] = (1-c[j])·(x·y[j]),  0 <= j < len(dst)
//
// where x and y[j] are the norms of the two vectors. It rounds three times, so the error is at most
// 3 ulp for the given c.
func dotGeneric(dst, c, y []float32, x float32) {
	c, y = c[:len(dst)], y[:len(dst)]
	for j, v := range c {
		dst[j] = (1 - v) * float32(x*y[j])
	}
}

// expGeneric is the exponential,
//
//	dst[j] = exp(x[j]),  0 <= j < len(dst)
//
// with an error of at most 4 ulp for every float32, including subnormal results. The result is
// exactly 1 at 0, and NaN at NaN. Overflow gives +Inf. Results that round below the smallest
// subnormal number, and exp(-Inf), are 0.
func expGeneric(dst, x []float32) {
	x = x[:len(dst)]
	for j, v := range x {
		dst[j] = exp32(v)
	}
}

// diffusionGeneric is the multinomial diffusion kernel without its constant factor,
//
//	dst[j] = exp(-invT·arccos²(1-c[j])),  0 <= j < len(dst)
//
// with a finite invT = 1/t >= 0 in inverse squared radians. The absolute error of the exponent
// becomes the relative error of the result, which is below 4 ulp times (1 + invT·arccos²(1-c[j])).
// This bound follows from the bounds of arccos² and exp for c <= 1, and is measured by tests for c
// > 1. The result is exactly 1 at c = 0. Source: Lafferty and Lebanon, JMLR 6 (2005), §3.2.1.
func diffusionGeneric(dst, c []float32, invT float32) {
	c = c[:len(dst)]
	for j, v := range c {
		dst[j] = exp32(float32(-invT * arcCosSq32(v)))
	}
}

// ngdGeneric is the negative geodesic distance,
//
//	dst[j] = shift - 2 arccos(1-c[j]),  0 <= j < len(dst)
//
// in radians, for a finite shift. With shift = π the values are nonnegative for nonnegative
// vectors, such as text. The absolute error is at most 4 ulp of 2 arccos(1-c[j]) plus half an ulp
// of the result. Source: Zhang, Chen and Lee, SIGIR 2005, §3.
func ngdGeneric(dst, c []float32, shift float32) {
	c = c[:len(dst)]
	for j, v := range c {
		dst[j] = shift - 2*arcCos32(v)
	}
}

// ngdExpGeneric is the exponential of the negative geodesic distance,
//
//	dst[j] = exp(-invT·arccos(1-c[j])),  0 <= j < len(dst)
//
// with a finite invT >= 0 in inverse radians. The relative error is below 4 ulp times (1 +
// invT·arccos(1-c[j])). The result is exactly 1 at c = 0. Source: Zhang, Chen and Lee, SIGIR 2005,
// §3.
func ngdExpGeneric(dst, c []float32, invT float32) {
	c = c[:len(dst)]
	for j, v := range c {
		dst[j] = exp32(float32(-invT * arcCos32(v)))
	}
}

// gaussianGeneric is the Gaussian kernel of vectors with the norms x and y[j],
//
//	dst[j] = exp(-gamma·((x-y[j])² + 2·x·y[j]·c[j])),  0 <= j < len(dst)
//
// This is exp(-gamma‖a-b‖²) without the cancellation of ‖a‖² + ‖b‖² - 2⟨a, b⟩, because neither term
// is negative. x, y[j] >= 0 have finite squares; gamma >= 0 is finite. The relative error is at
// most 5·2^-24 for the exponent, hence 5 ulp times (1 + |exponent|) for the result. The result is
// exactly 1 if x = y[j] and c[j] = 0.
func gaussianGeneric(dst, c, y []float32, x, gamma float32) {
	c, y = c[:len(dst)], y[:len(dst)]
	for j, v := range c {
		d := x - y[j]
		w := float32(2*float32(x*y[j])) * v
		dst[j] = exp32(float32(-gamma * (float32(d*d) + float32(w))))
	}
}

// arcCosine0Generic is the arc-cosine kernel of degree 0,
//
//	dst[j] = 1 - θ/π, θ = arccos(1-c[j]),  0 <= j < len(dst)
//
// within 4 ulp. For c > 1 it is (π-θ)/π, computed from 2-c without cancellation. The result is
// exactly 1 at c = 0 and 0 at c = 2. Source: Cho, UCSD thesis 2012, §2.2.
func arcCosine0Generic(dst, c []float32) {
	c = c[:len(dst)]
	for j, v := range c {
		if v > 1 {
			dst[j] = coeff.InvPi * sqrt32(arcSq32(2-v))
		} else {
			dst[j] = 1 - float32(coeff.InvPi*sqrt32(arcSq32(v)))
		}
	}
}

// arcCosine1Generic is the arc-cosine kernel of degree 1 of vectors with the norms x and y[j],
//
//	dst[j] = x·y[j]·(sin θ + (π-θ) cos θ)/π, θ = arccos(1-c[j]),  0 <= j < len(dst)
//
// with a relative error below 8 ulp if x·y[j] and the result are normal numbers. This also holds
// near c = 2, where the result goes to 0 like (π-θ)³. At c = 0 it is x·y[j], rounded. Source: Cho,
// UCSD thesis 2012, §2.2.
func arcCosine1Generic(dst, c, y []float32, x float32) {
	c, y = c[:len(dst)], y[:len(dst)]
	for j, v := range c {
		dst[j] = x * y[j] * arc132(v)
	}
}

// arcCosine2Generic is the arc-cosine kernel of degree 2 of vectors with the norms x and y[j],
//
//	dst[j] = (x·y[j])²·(3 sin θ cos θ + (π-θ)(1 + 2cos²θ))/π, θ = arccos(1-c[j]),  0 <= j < len(dst)
//
// with a relative error below 12 ulp if (x·y[j])² and the result are normal numbers. This also
// holds near c = 2, where the result goes to 0 like (π-θ)⁵. Source: Cho, UCSD thesis 2012, §2.2.
func arcCosine2Generic(dst, c, y []float32, x float32) {
	c, y = c[:len(dst)], y[:len(dst)]
	for j, v := range c {
		w := x * y[j]
		dst[j] = w * w * arc232(v)
	}
}

// The functions below map a single float32 value. Each product in a sum is wrapped in float32(...),
// which prevents fusing, so results are bit-identical on every platform. The assembly computes in
// the same order with fused multiply-adds, so its results may differ in the last bits.
//
// In the derivations, u = 2^-24 is the maximum relative error of one rounding; a float32 ulp is
// between u and 2u of its value. Package coeff defines the polynomials P, E, R and S.

// arcSq32 is arccos²(1-m) = m·P(m) for m in [0, 1], summed as 2m + m²·Q(m), with Q in two
// independent chains. The second term is at most 0.19 of the sum and has the error 3u. The total
// error is at most 0.6u, plus 1u for the last sum, plus 0.1u for the polynomial: 1.7u.
func arcSq32(m float32) float32 {
	s := float32(m * m)
	even := float32(coeff.ArcCosSq7*s) + coeff.ArcCosSq5
	even = float32(even*s) + coeff.ArcCosSq3
	even = float32(even*s) + coeff.ArcCosSq1
	odd := float32(coeff.ArcCosSq8*s) + coeff.ArcCosSq6
	odd = float32(odd*s) + coeff.ArcCosSq4
	odd = float32(odd*s) + coeff.ArcCosSq2
	p := float32(odd*m) + even
	return float32(p*s) + (m + m)
}

// supplement32 is π-φ for φ in [0, π/2] as an unevaluated sum of two float32 numbers: hi is π-φ
// rounded, and lo is the remainder.
func supplement32(phi float32) (hi, lo float32) {
	hi = coeff.PiHi - phi
	return hi, (coeff.PiHi - hi) - phi + coeff.PiLo // the first two differences are exact
}

// arcCos32 is θ = arccos(1-c) for c in [0, 2], within 4 ulp. 2θ is the geodesic distance on the
// simplex in radians. θ is exactly 0 at c = 0. With m = min(c, 2-c), φ = sqrt(m·P(m)) is θ for c <=
// 1, and π-θ for c > 1, where 2-c is exact. The square root halves the relative error of its
// argument, so the error of φ is at most 1.9u. The error of π-φ is at most 3u, at φ = π/2. Source:
// Lafferty and Lebanon, JMLR 6 (2005), §3.1.
func arcCos32(c float32) float32 {
	if c > 1 {
		hi, lo := supplement32(sqrt32(arcSq32(2 - c)))
		return hi + lo
	}
	return sqrt32(arcSq32(c))
}

// arcCosSq32 is arccos²(1-c) for c in [0, 2], within 4 ulp even for tiny c. For c <= 1 it is a
// polynomial in c without a square root. For c > 1 it is (hi + lo)², with hi and lo from
// supplement32. For c > 1 the error is at most 5.8u: 2·1.9u from φ, and 2u from the product and the
// sum. The largest error measured, over every third float32, is 2.5 ulp.
func arcCosSq32(c float32) float32 {
	if c > 1 {
		hi, lo := supplement32(sqrt32(arcSq32(2 - c)))
		return float32(hi*hi) + float32(hi*float32(lo+lo))
	}
	return arcSq32(c)
}

// exp32 is e^x. With n the integer nearest to x/ln 2 and r = x - n ln 2, e^x is 2^n·E(r). n·Ln2Hi
// and the first difference are exact, so the error of r is at most 0.3u·|n|·10^-3 + u/4. The error
// of E is at most 1.5u. The power of two is applied in two halves, so that results below 2^-126 are
// rounded once, and results above the largest float32 are +Inf.
func exp32(x float32) float32 {
	if x < coeff.ExpMin {
		x = coeff.ExpMin
	}
	if x > coeff.ExpMax {
		x = coeff.ExpMax
	}
	k := float32(x*coeff.Log2E) + coeff.Round
	n := k - coeff.Round
	r := x - float32(n*coeff.Ln2Hi)
	r -= float32(n * coeff.Ln2Lo)
	p := float32(coeff.Exp6*r) + coeff.Exp5
	p = float32(p*r) + coeff.Exp4
	p = float32(p*r) + coeff.Exp3
	p = float32(p*r) + coeff.Exp2
	p = float32(p*r) + coeff.Exp1
	p = float32(p*r) + coeff.Exp0
	b := math.Float32bits(k) << 23 // n + 254 in the exponent bits
	b1 := b >> 1 & 0x7f800000      // about half of the exponent
	return p * math.Float32frombits(b1) * math.Float32frombits(b-b1)
}

// arc132 is (sin θ + (π-θ) cos θ)/π for θ = arccos(1-c), c in [0, 2]. With m = min(c, 2-c) it is
// m^(3/2)·R(m), plus 1-c if c < 1. No term is negative, so nothing cancels, and the relative error
// is at most 5u on the whole interval.
func arc132(c float32) float32 {
	m, u := c, 1-c
	if c > 1 {
		m, u = 2-c, 0
	}
	p := float32(coeff.Arc16*m) + coeff.Arc15
	p = float32(p*m) + coeff.Arc14
	p = float32(p*m) + coeff.Arc13
	p = float32(p*m) + coeff.Arc12
	p = float32(p*m) + coeff.Arc11
	p = float32(p*m) + coeff.Arc10
	return float32(p*float32(m*sqrt32(m))) + u
}

// arc232 is (3 sin θ cos θ + (π-θ)(1 + 2cos²θ))/π for θ = arccos(1-c), c in [0, 2]. With T =
// m^(5/2)·S(m), m = min(c, 2-c), it is T for c > 1, and 1 + 2(1-c)² - T for c <= 1. In the second
// case, T is at most half of the minuend, so the relative error is at most 3/2·2u + 5u/2·2 = 8u.
// For c > 1 it is 5u.
func arc232(c float32) float32 {
	m := c
	if c > 1 {
		m = 2 - c
	}
	p := float32(coeff.Arc26*m) + coeff.Arc25
	p = float32(p*m) + coeff.Arc24
	p = float32(p*m) + coeff.Arc23
	p = float32(p*m) + coeff.Arc22
	p = float32(p*m) + coeff.Arc21
	p = float32(p*m) + coeff.Arc20
	t := float32(p * float32(float32(m*m)*sqrt32(m)))
	if c > 1 {
		return t
	}
	u := 1 - c
	return float32(2*u*u) + 1 - t
}

// sqrt32 returns the correctly rounded square root. Rounding twice does no harm, because float64
// has more than twice as many digits as float32.
func sqrt32(x float32) float32 { return float32(math.Sqrt(float64(x))) }
