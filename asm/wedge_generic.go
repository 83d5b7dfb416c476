package asm

import (
	"math"

	"github.com/gramengine/gram/asm/internal/coeff"
)

// What the probability of a wedge takes of one of its two sides, a number h from 0 to [WedgeLimit], is [WedgeNumbers] numbers, in this order:
//
//	h,  erfc(h/√2)/2,  exp(h²/2) erf(h/√2),  what is added to the side's part of the result
//	U: [WedgeInner] coefficients, that of s⁰ first, of exp(-h²/2)/π ∫₀¹ exp(-h²Av²/2)/(1+Av²) dv, A = (1+s)/2
//	P: [WedgeOuter] coefficients of                  exp(h²/2)/π ∫₀¹ exp(-h²v²/2)/(1+Qv²) dv,   Q = (1+s)/2
//
// those integrals as polynomials on [-1, 1]. A row has one set; the columns' sets stand in groups of [WedgeGroup] columns: number i of column j is
// cols[(j/WedgeGroup·WedgeNumbers + i)·WedgeGroup + j%WedgeGroup].
const (
	WedgeInner   = 11
	WedgeOuter   = 9
	WedgeNumbers = wedgeP + WedgeOuter
	WedgeGroup   = 8
	WedgeLimit   = 3 // greatest h: above it the polynomials would need more terms

	wedgeHalf  = 1 // places
	wedgeMills = 2
	wedgePlus  = 3
	wedgeU     = 4
	wedgeP     = wedgeU + WedgeInner
)

// Floors that keep quotients of nothing from being NaN; they change no result.
const (
	wedgeFloor     = 0x1p-126
	wedgeRootFloor = 0x1p-63
)

// wedgeGeneric is the probability that two standard normal variables with correlation 1-c exceed h and k[j], twice,
//
//	dst[j] = I(h, a)/π + I(k[j], b)/π,   I(h, a) = ∫ exp(-h²(1+t²)/2)/(1+t²) dt over t from a to infinity,   0 <= j < len(dst)
//	a = (k - h(1-c))/(h s),   b = (h - k(1-c))/(k s),   s = √(c(2-c))
//
// plus what both sides add. a and b are cotangents of angles of a triangle, and h²(1+a²) = k²(1+b²) = m². For |a| <= 1 and, with r = 1/|a|, for a > 1,
//
//	I = (π/2) erfc(h/√2) - a U(a²)
//	I = exp(-m²/2) (r P(r²) - exp(h²/2) erf(h/√2) M(h|a|)),   M(z) = exp(z²/2) Q(z), Q the upper tail of the normal distribution
//
// where U and P are polynomials of a side, see [WedgeNumbers]; for a < -1 it is π erfc(h/√2) less that of -a. The error is below
//
//	2⁻²⁴ (6 e + m² f),   e = Σ exp(-h²/2) or, where a > 1, exp(-h²a²/2);   f = Σ exp(-h²a²/2) where |a| > 1
//
// over both sides, for sets that are exact but for their rounding. h and k of the same bits give the same bits with row and column exchanged, exactly twice the half at c = 0, and no result is below 0.
// row holds the set of h, cols those of the k, whole groups of them with finite numbers; dst may be c.
//
// Source: Owen, Ann. Math. Statist. 27 (1956), for T(h, a) = (arctan a - ∫₀^a …)/(2π) and the identity for a > 1.
func wedgeGeneric(dst, c, row, cols []float32) {
	c = c[:len(dst)]
	row = row[:WedgeNumbers]
	h := row[0]
	var set [WedgeNumbers]float32
	for j, v := range c {
		group := cols[j/WedgeGroup*(WedgeNumbers*WedgeGroup):]
		for i := range set {
			set[i] = group[i*WedgeGroup+j%WedgeGroup]
		}
		k := set[0]
		d := k - h
		square := v * (2 - v)
		root := sqrt32(square)
		hk := float32(h * k)
		far := max(float32(d*d)+float32(float32(hk+hk)*v), wedgeFloor) / max(square, wedgeFloor)
		e := exp32(-0.5 * far)
		root = max(root, wedgeRootFloor)
		first := wedgeSide((*[WedgeNumbers]float32)(row), float32(h*v)+d, root, e)
		second := wedgeSide(&set, float32(k*v)-d, root, e)
		dst[j] = max(first+second, 0)
	}
}

// wedgeSide is one side's part, for p = h a s.
func wedgeSide(set *[WedgeNumbers]float32, p, root, e float32) float32 {
	size, w := float32(math.Abs(float64(p))), set[0]*root
	r := min(size, w) / max(size, w, wedgeFloor)
	s := 2*float32(r*r) - 1
	half := set[wedgeHalf]
	var part float32
	if size > w {
		t := root / (float32(0.25*size) + root) // 1/(1+z/4)
		u := 2*t - 1
		uu := float32(u * u)
		even := float32(coeff.Mills8*uu) + coeff.Mills6
		even = float32(even*uu) + coeff.Mills4
		even = float32(even*uu) + coeff.Mills2
		even = float32(even*uu) + coeff.Mills0
		odd := float32(coeff.Mills9*uu) + coeff.Mills7
		odd = float32(odd*uu) + coeff.Mills5
		odd = float32(odd*uu) + coeff.Mills3
		odd = float32(odd*uu) + coeff.Mills1
		mills := float32(odd*u) + even
		q := wedgePolynomial(set[wedgeP:wedgeP+WedgeOuter], s)
		part = e * (float32(r*q) - float32(float32(set[wedgeMills]*t)*mills))
	} else {
		q := wedgePolynomial(set[wedgeU:wedgeU+WedgeInner], s)
		part = half - float32(r*q)
	}
	if p < 0 {
		part = (half + half) - part
	}
	return part + set[wedgePlus]
}

// wedgePolynomial is the polynomial with an odd number of coefficients, that of s⁰ first, the even and the odd powers by Horner's rule each.
func wedgePolynomial(p []float32, s float32) float32 {
	square := float32(s * s)
	n := len(p)
	even, odd := p[n-1], p[n-2]
	for i := n - 3; i >= 0; i -= 2 {
		even = float32(even*square) + p[i]
	}
	for i := n - 4; i >= 0; i -= 2 {
		odd = float32(odd*square) + p[i]
	}
	return float32(odd*s) + even
}
