package asm

import (
	"math"

	"github.com/gramengine/gram/asm/internal/coeff"
)

// True of every map: dst and the inputs have the same length, or the inputs are longer. dst may be
// the same slice as an input, but must not overlap one otherwise. Elements are independent of each
// other: an element's bits depend neither on its place nor on the length. c = 1 - cosine lies in
// [0, 2], which [Kernels.Finish] sees to; outside of it results are unspecified. NaN gives NaN.
// Calls may run concurrently as long as no destination overlaps what another call reads or writes.
// An ulp is the distance of the float32 numbers around the exact result.

// addGeneric adds two slices,
//
//	dst[j] = a[j] + b[j],  0 <= j < len(dst)
//
// each sum rounded once.
func addGeneric(dst, a, b []float32) {
	a = a[:len(dst)]
	b = b[:len(dst)]
	for j := range dst {
		dst[j] = a[j] + b[j]
	}
}

// dotGeneric undoes the normalisation,
//
//	dst[j] = (1-c[j])·(x·y[j]),  0 <= j < len(dst)
//
// where x and y[j] are the norms of the two vectors. Three roundings, hence within 3 ulp of what
// this very c stands for.
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
// within 4 ulp for every float32, denormal results included; exactly 1 at 0; +Inf where the result
// rounds to more than the greatest float32, 0 where it rounds to less than the least denormal, at
// -Inf too; NaN at NaN.
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
// with invT = 1/t >= 0 in inverse squared radians, finite. The error of the exponent is the error
// of the result: below 4 ulp times (1 + invT·arccos²(1-c[j])), which the bounds of arccos² and exp
// give for c <= 1 and the tests measure above. Exactly 1 at c = 0. Source: Lafferty and Lebanon,
// JMLR 6 (2005), §3.2.1.
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
// in radians; shift is 0, or π to make it positive for text. The error is absolute: 4 ulp of 2
// arccos(1-c[j]) and half an ulp of the result. Source: Zhang, Chen and Lee, SIGIR 2005, §3.
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
// with invT >= 0 in inverse radians, finite; relative error below 4 ulp times (1 +
// invT·arccos(1-c[j])), exactly 1 at c = 0. Source: Zhang, Chen and Lee, SIGIR 2005, §3.
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
// which is exp(-gamma‖a-b‖²) without the cancellation of ‖a‖² + ‖b‖² - 2⟨a, b⟩: both terms are at
// least 0. x, y[j] >= 0 with squares in range; gamma >= 0, finite. The exponent is good to 5·2^-24,
// hence the result to 5 ulp times (1 + exponent). Exactly 1 where x = y[j] and c[j] = 0.
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
// within 4 ulp: above c = 1 it is (π-θ)/π, taken from 2-c without a difference. Exactly 1 at c = 0
// and 0 at c = 2. Source: Cho, UCSD thesis 2012, §2.2.
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
// with a relative error below 8 ulp down to c = 2, where it goes to 0 like (π-θ)³, as long as
// x·y[j] and the result are normal numbers. Exactly x·y[j] (rounded) at c = 0. Source: Cho, UCSD
// thesis 2012, §2.2.
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
// with a relative error below 12 ulp down to c = 2, where it goes to 0 like (π-θ)⁵, as long as
// (x·y[j])² and the result are normal numbers. Source: Cho, UCSD thesis 2012, §2.2.
func arcCosine2Generic(dst, c, y []float32, x float32) {
	c, y = c[:len(dst)], y[:len(dst)]
	for j, v := range c {
		w := x * y[j]
		dst[j] = w * w * arc232(v)
	}
}

// The maps of one value, in float32. Each product that a sum follows stands in float32(...), which
// forbids the compiler to fuse the two: the bits are the same on every platform. The forms in
// assembly do the same operations in the same order, but fused, and differ in the last bits.
//
// In the derivations u = 2^-24 is the greatest relative error of one rounding; a float32 ulp is
// between u and 2u of its value.

// arcSq32 is arccos²(1-m) = m·P(m) for m in [0, 1], summed as 2m + m²·Q(m), Q in two chains that
// don't wait for each other. The second term is at most 0.19 of the sum and good to 3u, so the
// whole is good to 0.6u + 1u for the last sum + 0.1u for the polynomial: 1.7u.
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
// rounded, lo what is missing.
func supplement32(phi float32) (hi, lo float32) {
	hi = coeff.PiHi - phi
	return hi, (coeff.PiHi - hi) - phi + coeff.PiLo // the first two differences are exact
}

// arcCos32 is θ = arccos(1-c) for c in [0, 2], the angle (half the geodesic distance on the simplex)
// in radians, within 4 ulp; exactly 0 at c = 0. φ = sqrt(m·P(m)) with m = min(c, 2-c) is θ itself for
// c <= 1 and π-θ above, where 2-c is exact. The square root halves the error of its argument: φ is
// good to 1.9u, π-φ to at most 3u (at φ = π/2). Source: Lafferty and Lebanon, JMLR 6 (2005), §3.1.
func arcCos32(c float32) float32 {
	if c > 1 {
		hi, lo := supplement32(sqrt32(arcSq32(2 - c)))
		return hi + lo
	}
	return sqrt32(arcSq32(c))
}

// arcCosSq32 is arccos²(1-c) for c in [0, 2], within 4 ulp, for tiny c too: for c <= 1 it is a
// polynomial in c without a square root. Above 1 it is (hi + lo)², good to 2·1.9u from φ and 2u from
// the product and the sum: 5.8u, 2.5 ulp as measured on every third float32.
func arcCosSq32(c float32) float32 {
	if c > 1 {
		hi, lo := supplement32(sqrt32(arcSq32(2 - c)))
		return float32(hi*hi) + float32(hi*float32(lo+lo))
	}
	return arcSq32(c)
}

// exp32 is e^x. With n the integer nearest to x/ln 2 and r = x - n ln 2 it is 2^n·E(r). n·Ln2Hi and
// the first difference are exact, so that r is good to 0.3u·|n|·10^-3 + u/4 and E to 1.5u. The
// power of two is applied in two halves, so that results below 2^-126 round once and results above
// the greatest float32 are +Inf.
func exp32(x float32) float32 {
	if x < coeff.ExpLow {
		x = coeff.ExpLow
	}
	if x > coeff.ExpHigh {
		x = coeff.ExpHigh
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
	b := math.Float32bits(k) << 23 // n + 254 in the place of the exponent
	b1 := b >> 1 & 0x7f800000      // half of it
	return p * math.Float32frombits(b1) * math.Float32frombits(b-b1)
}

// arc132 is (sin θ + (π-θ) cos θ)/π for θ = arccos(1-c), c in [0, 2]. In m = min(c, 2-c) it is
// m^(3/2)·R(m) plus, for c < 1 only, 1-c: a sum of terms that are never negative, so nothing
// cancels and the error is relative on the whole interval, 5u.
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
// m^(5/2)·S(m), m = min(c, 2-c), it is T for c > 1 and 1 + 2(1-c)² - T below. There T is at most
// half of what it is taken from, so the relative error is at most 3/2·2u + 5u/2·2 = 8u; above c = 1
// it is 5u.
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

// sqrt32 is correctly rounded: the square root of a float32 taken in float64 and rounded again is.
func sqrt32(x float32) float32 { return float32(math.Sqrt(float64(x))) }
