package asm

import (
	"math"

	"github.com/gramengine/gram/asm/internal/coeff"
	"github.com/gramengine/gram/asm/internal/layout"
)

// The maps of this file compute in float64, because subsequent maps amplify relative errors.
// Results in float32 are rounded once. The properties of all maps in maps_generic.go apply. Results
// are symmetric in x and y[j], bit for bit.

// A half-line table approximates a function of v >= 0 by a piecewise polynomial: each power of two
// from 2^HalfLineMinExponent to 2^HalfLineMaxExponent is divided into HalfLineIntervals intervals
// of equal length. For v = m·2^e, 1 <= m < 2, the first 4 bits of m after the leading 1 select one
// of the 16 rows for exponent e.
//
// A row holds six coefficients, lowest first, and two numbers that the kernel ignores. The variable
// of the polynomial is t = m - mid, where mid is the center of the interval. The subtraction is
// exact, and |t| <= 2⁻⁵.
const (
	HalfLineMinExponent = layout.HalfLineMinExponent
	HalfLineMaxExponent = layout.HalfLineMaxExponent
	HalfLineIntervals   = 1 << layout.HalfLineBits
	HalfLineRows        = layout.HalfLineRows // number of rows before the row of NaN
)

// HalfLineRow returns the row index of v and the variable t of its polynomial. If v is out of
// range, row is HalfLineRows.
func HalfLineRow(v float64) (row int, t float64) {
	const (
		one   = 1023 << 52
		shift = 52 - layout.HalfLineBits
	)
	b := math.Float64bits(v)
	mantissa := b&(1<<52-1) | one
	mid := mantissa&^(1<<shift-1) | 1<<(shift-1)
	row = int(min(b>>shift-layout.HalfLineMinBits, HalfLineRows))
	return row, math.Float64frombits(mantissa) - math.Float64frombits(mid)
}

// halfLineGeneric evaluates a half-line table,
//
//	dst[j] = Σ_k rows[row(v[j])][k] t(v[j])ᵏ,  k = 0 … 5,  0 <= j < len(dst)
//	dst[j] = zero if v[j] = 0
//
// rows has HalfLineRows+1 elements. The last row holds NaN. It is used if v[j] is NaN, negative or
// out of range. outside reports whether any result is NaN.
//
// Accuracy: Horner's rule in float64 has an error of at most 11·2⁻⁵³ times the sum of the terms'
// magnitudes. The result is rounded to float32.
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

// decayGeneric computes
//
//	dst[j] = 1 - exp(-v[j]),  v[j] >= 0,  0 <= j < len(dst)
//
// with a relative error of at most 2⁻³⁴ before rounding, even for small v[j].
func decayGeneric(dst []float32, v []float64) {
	v = v[:len(dst)]
	for j, v := range v {
		dst[j] = float32(oneMinusExp64(-v))
	}
}

// tanhGeneric is the hyperbolic tangent,
//
//	dst[j] = tanh(v[j]) = ±e/(2-e),   e = 1 - exp(-2|v[j]|),  0 <= j < len(dst)
//
// with an error of at most 2⁻³³ before rounding. The function is exactly odd.
func tanhGeneric(dst []float32, v []float64) {
	v = v[:len(dst)]
	for j, v := range v {
		e := oneMinusExp64(-2 * math.Abs(v))
		dst[j] = float32(math.Copysign(e/(2-e), v))
	}
}

// oneMinusExp64 is 1-e^x for x <= 0. With n the integer nearest to x/ln 2 and r = x - n ln 2, 1-e^x
// is (1-2^n) - 2^n·(e^r-1). For n = 0 the first term is 0, and r is exact. For n < 0 nothing
// cancels, because the first term is at least twice the magnitude of a negative second term, and
// the error of r is at most 2^-47.
func oneMinusExp64(x float64) float64 {
	if x < coeff.Expm1Min {
		x = coeff.Expm1Min
	}
	k := float64(x*coeff.Log2EFloat64) + coeff.Round64
	r := x - float64((k-coeff.Round64)*coeff.Ln2Float64)
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

// affineGeneric computes an affine function of inner products in float64,
//
//	dst[j] = gamma·(x·y[j]·(1-c[j])) + r,  0 <= j < len(dst)
//
// Each operation is rounded separately, in this order, so results are bit-identical for all
// instruction sets.
func affineGeneric(dst []float64, c, y []float32, x, gamma, r float64) {
	c, y = c[:len(dst)], y[:len(dst)]
	for j, v := range c {
		dst[j] = float64(gamma*float64(float64(x*float64(y[j]))*(1-float64(v)))) + r
	}
}

// add64Generic, sub64Generic, mul64Generic and div64Generic are elementwise float64 operations,
//
//	dst[j] = a[j] + b[j],   a[j] - b[j],   a[j] b[j],   a[j] / b[j],   0 <= j < len(dst)
func add64Generic(dst, a, b []float64) {
	a, b = a[:len(dst)], b[:len(dst)]
	for j := range dst {
		dst[j] = a[j] + b[j]
	}
}

func sub64Generic(dst, a, b []float64) {
	a, b = a[:len(dst)], b[:len(dst)]
	for j := range dst {
		dst[j] = a[j] - b[j]
	}
}

func mul64Generic(dst, a, b []float64) {
	a, b = a[:len(dst)], b[:len(dst)]
	for j := range dst {
		dst[j] = a[j] * b[j]
	}
}

func div64Generic(dst, a, b []float64) {
	a, b = a[:len(dst)], b[:len(dst)]
	for j := range dst {
		dst[j] = a[j] / b[j]
	}
}

// squaresGeneric computes squared distances between vectors with the norms x[j] and y[j] in
// float64,
//
//	dst[j] = (x[j]-y[j])² + 2·(x[j]·y[j])·c[j],  0 <= j < len(dst)
//
// Each operation is rounded separately, so results are bit-identical for all instruction sets.
func squaresGeneric(dst, x, y, c []float64) {
	x, y, c = x[:len(dst)], y[:len(dst)], c[:len(dst)]
	for j := range dst {
		d := x[j] - y[j]
		dst[j] = float64(d*d) + float64(2*float64(x[j]*y[j])*c[j])
	}
}

// narrowGeneric rounds float64 to float32, and widenGeneric converts float32 to float64.
func narrowGeneric(dst []float32, v []float64) {
	v = v[:len(dst)]
	for j := range dst {
		dst[j] = float32(v[j])
	}
}

func widenGeneric(dst []float64, v []float32) {
	v = v[:len(dst)]
	for j := range dst {
		dst[j] = float64(v[j])
	}
}
