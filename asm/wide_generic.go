package asm

import (
	"math"

	"github.com/gramengine/gram/asm/internal/coeff"
	"github.com/gramengine/gram/asm/internal/layout"
)

// The maps of this file compute in float64 and round to float32 once, at the end: their results are
// arguments of other maps, which multiply relative errors. What maps_generic.go says of every map
// is true of them. An element's bits are the same for x and y[j] exchanged.

// A half line is a function of a number v >= 0 as a piecewise polynomial: each power of two from
// 2^HalfLineLow to 2^HalfLineHigh is cut into HalfLineIntervals intervals of equal length. With v =
// m·2^e, 1 <= m < 2, the row of v is that of the first 4 bits of m, behind the rows of smaller e.
//
// A row holds six coefficients, that of t⁰ first, and two numbers that are left to who makes it.
// Its variable is t = m - mid, where mid is the middle of the interval's mantissas: |t| <= 2⁻⁵,
// without a rounding.
const (
	HalfLineLow       = layout.HalfLineLow
	HalfLineHigh      = layout.HalfLineHigh
	HalfLineIntervals = 1 << layout.HalfLineBits
	HalfLineRows      = layout.HalfLineRows // and one more, of NaN
)

// HalfLineRow returns the row of v, or HalfLineRows where v has none, and its variable t there.
func HalfLineRow(v float64) (row int, t float64) {
	const (
		one   = 1023 << 52
		shift = 52 - layout.HalfLineBits
	)
	b := math.Float64bits(v)
	mantissa := b&(1<<52-1) | one
	mid := mantissa&^(1<<shift-1) | 1<<(shift-1)
	row = int(min(b>>shift-layout.HalfLineFirst, HalfLineRows))
	return row, math.Float64frombits(mantissa) - math.Float64frombits(mid)
}

// halfLineGeneric evaluates a half line,
//
//	dst[j] = Σ_k rows[row(v[j])][k] t(v[j])ᵏ,  k = 0 … 5,  0 <= j < len(dst)
//	dst[j] = zero where v[j] = 0
//
// There are HalfLineRows+1 rows. The last one holds NaN, which is what v[j] below 0, outside of the
// rows and NaN give. outside reports whether any result is NaN.
//
// Accuracy: Horner's rule in float64, within 11 units of 2⁻⁵³ of the sum of the terms' sizes, and
// the rounding to float32.
func halfLineGeneric(dst []float32, v []float64, rows [][8]float64, zero float64) (outside bool) {
	v = v[:len(dst)]
	rows = rows[:HalfLineRows+1]
	for j, v := range v {
		w := zero
		if v != 0 {
			row, t := HalfLineRow(v)
			r := &rows[row]
			w = float64(r[5]*t) + r[4]
			w = float64(w*t) + r[3]
			w = float64(w*t) + r[2]
			w = float64(w*t) + r[1]
			w = float64(w*t) + r[0]
		}
		dst[j] = float32(w)
		outside = outside || w != w
	}
	return outside
}

// gaussianDeficitGeneric is what a Gaussian kernel is below 1,
//
//	dst[j] = 1 - exp(-gamma·((x-y[j])² + 2·x·y[j]·c[j])),  0 <= j < len(dst)
//
// which is 1 - cosine in its feature space. x and gamma are at least 0, and gamma·x² and
// gamma·y[j]² far from the ends of float64's range.
//
// Accuracy: full relative accuracy, within 2⁻³⁴ before it is rounded, for x, y[j] and c[j] that are
// exact.
func gaussianDeficitGeneric(dst, c, y []float32, x, gamma float64) {
	c, y = c[:len(dst)], y[:len(dst)]
	for j, v := range c {
		w := float64(y[j])
		d := x - w
		dst[j] = float32(deficit64(-gamma * (float64(d*d) + float64(float64(x*w)*float64(v+v)))))
	}
}

// tanhGeneric is the hyperbolic tangent,
//
//	dst[j] = tanh(v[j]) = ±e/(2-e),   e = 1 - exp(-2|v[j]|),  0 <= j < len(dst)
//
// within 2⁻³³ before it is rounded, and with the bits of -tanh(v) for -v.
func tanhGeneric(dst []float32, v []float64) {
	v = v[:len(dst)]
	for j, v := range v {
		e := deficit64(-2 * math.Abs(v))
		dst[j] = float32(math.Copysign(e/(2-e), v))
	}
}

// deficit64 is 1-e^x for x <= 0. With n the integer nearest to x/ln 2 and r = x - n ln 2 it is
// (1-2^n) - 2^n·(e^r-1). The first term is 0, or at least twice the second where that is below 0,
// so nothing cancels: r is good to 2^-47 for n < 0, and relative to itself for n = 0.
func deficit64(x float64) float64 {
	if x < coeff.Expm1Low {
		x = coeff.Expm1Low
	}
	k := float64(x*coeff.LogE64) + coeff.Round64
	r := x - float64((k-coeff.Round64)*coeff.Ln264)
	p := float64(coeff.Expm18*r) + coeff.Expm17
	p = float64(p*r) + coeff.Expm16
	p = float64(p*r) + coeff.Expm15
	p = float64(p*r) + coeff.Expm14
	p = float64(p*r) + coeff.Expm13
	p = float64(p*r) + coeff.Expm12
	p = float64(p*r) + coeff.Expm11
	p = float64(p*r) + coeff.Expm10
	power := math.Float64frombits(math.Float64bits(k)<<52 + 1023<<52)
	return (1 - power) - float64(power*float64(p*r))
}

// joinGeneric gives 1 - cosine of vectors that are put together from parts, and of the tensor power
// of degree n >= 1 of that. The parts number i have the norms p[i] and q[i][j], with Σ p[i]² = 1
// and Σ q[i][j]² = 1 for all j, and 1 - cosine c[i][j]:
//
//	v = ½ Σ_i (p[i]-q[i][j])² + Σ_{i < len(c)} p[i] q[i][j] c[i][j]
//	dst[j] = 1 - (1-v)ⁿ = v Σ_{k < n} (1-v)ᵏ,  0 <= j < len(dst)
//
// since 1 - Σ p[i] q[i][j] is ½ Σ (p[i]-q[i][j])². Parts from len(c) on have c = 0; v is at most 2.
// len(q) >= len(p) >= len(c), and any c[i] may be dst.
//
// Accuracy: where norms are good to a few units of 2⁻⁵³, ε relative to each, a Σ p[i]² that is off
// by as much changes v by ε v + ε². So v is within ε √(Σ (p[i]-q[i][j])²) and some 2⁻⁴⁸ v, and dst
// within n times that.
func joinGeneric(dst []float32, c [][]float32, q [][]float64, p []float64, degree int) {
	for j := range dst {
		var gap, v float64
		for i, a := range p {
			b := q[i][j]
			d := a - b
			gap += float64(d * d)
			if i < len(c) {
				v += float64(float64(a*b) * float64(c[i][j]))
			}
		}
		v += float64(gap * 0.5)
		if v > 2 {
			v = 2
		}
		s, rest := 1.0, 1-v
		for range degree - 1 {
			s = float64(s*rest) + 1
		}
		dst[j] = float32(v * s)
	}
}

// affineGeneric is an affine function of inner products, in float64,
//
//	dst[j] = gamma·(x·y[j]·(1-c[j])) + r,  0 <= j < len(dst)
//
// each operation rounded by itself, in this order: every instruction set gives the same bits.
func affineGeneric(dst []float64, c, y []float32, x, gamma, r float64) {
	c, y = c[:len(dst)], y[:len(dst)]
	for j, v := range c {
		dst[j] = float64(gamma*float64(float64(x*float64(y[j]))*(1-float64(v)))) + r
	}
}

// squaresGeneric is the squared distance of vectors with the norms x and y[j], in float64,
//
//	dst[j] = (x-y[j])² + 2·(x·y[j])·c[j],  0 <= j < len(dst)
//
// each operation rounded by itself: every instruction set gives the same bits.
func squaresGeneric(dst []float64, c, y []float32, x float64) {
	c, y = c[:len(dst)], y[:len(dst)]
	for j, v := range c {
		w := float64(y[j])
		d := x - w
		dst[j] = float64(d*d) + float64(2*float64(x*w)*float64(v))
	}
}

// HalfAngleNumbers is how many numbers of a document [Kernels.HalfAngle] takes: its norm x; with
// its angle θ_x the numbers √(cos θ_x), sin(θ_x/2) and cos(θ_x/2); and a t such that cos θ_y - cos
// θ_x = 2 t_x t_y (y²-x²).
const HalfAngleNumbers = layout.HalfAngleNumbers

// halfAngleGeneric returns how much wider the angle θ of two vectors is than the mean m of two
// other angles, as
//
//	dst[j] = tan((θ-m)/2),  0 <= j < len(dst)
//
// Each vector has one of these angles, θ_x and θ_y from 0 to π/2, and cos θ = √(cos θ_x cos θ_y)
// (1-c). row holds the HalfAngleNumbers numbers of one vector, cols those of the others, a slice
// each. With g = √(cos θ_x cos θ_y), d = (θ_x-θ_y)/2 and n = cos² m - cos² θ
//
//	sin m = sin(θ_x/2) cos(θ_y/2) + cos(θ_x/2) sin(θ_y/2),   sin d = t_x t_y (x²-y²) / sin m
//	cos² m = g² + sin² d,   n = sin² d + g² c(2-c),   sin² θ = sin² m + n
//	sin(θ-m) = n / (sin θ cos m + cos θ sin m) = sin θ cos m - cos θ sin m
//
// the latter for c > 1: nothing cancels. The result is 0 where n is 0 and c at most 1, and +Inf may
// stand for an angle θ-m near π. That of (x, y) has the bits of that of (y, x).
//
// Accuracy: within some 2⁻⁴⁸ relative to the result.
func halfAngleGeneric(dst []float64, c []float32, row []float64, cols [][]float64) {
	own := (*[HalfAngleNumbers]float64)(row)
	var other [HalfAngleNumbers]float64
	for j := range dst {
		for i := range other {
			other[i] = cols[i][j]
		}
		dst[j] = HalfAngle(float64(c[j]), own, &other)
	}
}

// HalfAngle is [Kernels.HalfAngle] of two vectors, given the numbers of both.
func HalfAngle(c float64, row, other *[HalfAngleNumbers]float64) float64 {
	x, y := row[layout.HalfAngleNorm], other[layout.HalfAngleNorm]
	sin, cos := row[layout.HalfAngleSine], row[layout.HalfAngleCosine]
	sinM := float64(sin*other[layout.HalfAngleCosine]) + float64(cos*other[layout.HalfAngleSine])
	d := float64((x-y)*(x+y)) * float64(row[layout.HalfAngleScale]*other[layout.HalfAngleScale]) / sinM
	g := row[layout.HalfAngleRoot] * other[layout.HalfAngleRoot]
	gg, dd := float64(g*g), float64(d*d)
	n := dd + float64(gg*float64(c*(2-c)))
	cosM, sinT, cosT := math.Sqrt(gg+dd), math.Sqrt(float64(sinM*sinM)+n), g*(1-c)
	turned := float64(cosT*cosM) + float64(sinT*sinM)
	over, under := n, (float64(sinT*cosM)+float64(cosT*sinM))*(1+turned)
	if c > 1 {
		sin := float64(sinT*cosM) - float64(cosT*sinM)
		if over, under = sin, 1+turned; turned < 0 {
			over, under = 1-turned, sin
		}
	}
	if over == 0 {
		return 0
	}
	return over / under
}
