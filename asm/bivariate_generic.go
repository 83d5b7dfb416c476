package asm

import (
	"math"

	"github.com/gramengine/gram/asm/internal/coeff"
	"github.com/gramengine/gram/asm/internal/layout"
)

// BivariateTail sees a side of its integral, a number h from [BivariateLeast] to [BivariateMost],
// as [BivariateNumbers] numbers, in this order:
//
//	h,  erfc(h/√2)/2,  what is added to the side's part of the result,  M,  γ, λ, β,
//	then Q: [BivariateTerms] coefficients, that of t⁰ first
//
// For z >= 0 and w = h/(√(h²+z²) + z), which falls from 1 at z = 0 to 0,
//
//	exp(z²/2)/π ∫ exp(-h²t²/2)/(1+t²) dt over t from z/h to infinity
//	=  y Q(2y + β) - M exp(z²/2) N(z),   y = w/(γ w + λ)
//
// where N is the upper tail of the normal distribution. A row has one such set. The columns' sets
// stand in groups of [BivariateGroup] columns: number i of column j is
// cols[(j/BivariateGroup·BivariateNumbers + i)·BivariateGroup + j%BivariateGroup].
const (
	BivariateTerms   = layout.BivariateTerms
	BivariateNumbers = layout.BivariateNumbers
	BivariateGroup   = layout.BivariateGroup

	// BivariateLeast takes the place of what is less: the result changes by less than the sum of
	// both.
	BivariateLeast = 0x1p-30
	// BivariateMost is where the result is what is added, and nothing else: erfc(h/√2) is below
	// 2⁻¹¹⁶.
	BivariateMost = 12.5
)

// bivariateTailGeneric is the probability that two standard normal variables with correlation 1-c
// exceed h and k[j], twice, plus what both sides add:
//
//	dst[j] = I(h, a)/π + I(k[j], b)/π,  0 <= j < len(dst)
//	I(h, a) = ∫ exp(-h²(1+t²)/2)/(1+t²) dt over t from a to infinity
//	a = (k - h(1-c))/(h s),   b = (h - k(1-c))/(k s),   s = √(c(2-c))
//
// row holds the set of h, cols those of the k, in whole groups with finite numbers; see
// [BivariateNumbers]. dst may be c.
//
// With lengths 1/h and 1/k, a and b are the cotangents of the angles of a triangle, and m² =
// h²(1+a²) = k²(1+b²) of the distance 1/m of its third side. So both sides have the same
// exp(-m²/2), by which I is a smooth function of h and of the tangent w of half the angle, with z =
// h|a|. For a < 0 the part is erfc(h/√2) less that of -a. w is h s/(√(h²+k²-2hk(1-c)) + |h a s|),
// without differences but for k - h.
//
// Accuracy: the error is below
//
//	2⁻²⁴ ((10 + 4m²) exp(-m²/2)/max(m, 1) + 2 Σ erfc(h/√2) over sides with a < 0
//	+ the result) + 2⁻¹¹⁶
//
// for sets that are exact but for their rounding. The bits are the same with row and column
// exchanged. At c = 0 and h = k the result is exactly twice the half. No result is below 0.
//
// Source: Owen, Ann. Math. Statist. 27 (1956), for T(h, a) = I/(2π) and the identity that gives M.
func bivariateTailGeneric(dst, c, row, cols []float32) {
	c = c[:len(dst)]
	row = row[:BivariateNumbers]
	h := row[0]
	var set [BivariateNumbers]float32
	for j, v := range c {
		group := cols[j/BivariateGroup*(BivariateNumbers*BivariateGroup):]
		for i := range set {
			set[i] = group[i*BivariateGroup+j%BivariateGroup]
		}
		v = max(v, layout.BivariateFloor)
		k := set[0]
		d := k - h
		square := max(v*(2-v), layout.BivariateRoot)
		hk := float32(h * k)
		far := float32(d*d) + float32(float32(hk+hk)*v)
		var e float32
		if quotient := far / square; quotient < layout.BivariateNothing {
			e = exp32(-0.5 * quotient)
		}
		side, root := sqrt32(far), sqrt32(square)
		first := bivariateSide((*[BivariateNumbers]float32)(row), float32(h*v)+d, side, root, e)
		second := bivariateSide(&set, float32(k*v)-d, side, root, e)
		dst[j] = max(first+second, 0)
	}
}

// bivariateSide is one side's part, for p = h a s.
func bivariateSide(set *[BivariateNumbers]float32, p, side, root, e float32) float32 {
	size, opposite := float32(math.Abs(float64(p))), set[0]*root
	y := opposite / (float32(set[layout.BivariateW]*opposite) + float32(set[layout.BivariateT]*(side+size)))
	t := (y + y) + set[layout.BivariateShift]
	tt := float32(t * t)
	even, odd := set[layout.BivariateQ+BivariateTerms-2], set[layout.BivariateQ+BivariateTerms-1]
	for i := BivariateTerms - 4; i >= 0; i -= 2 {
		even = float32(even*tt) + set[layout.BivariateQ+i]
		odd = float32(odd*tt) + set[layout.BivariateQ+i+1]
	}
	q := float32(odd*t) + even

	r := root / (float32(0.25*size) + root) // 1/(1+z/4)
	u := (r + r) - 1
	uu := float32(u * u)
	even = float32(coeff.Mills8*uu) + coeff.Mills6
	even = float32(even*uu) + coeff.Mills4
	even = float32(even*uu) + coeff.Mills2
	even = float32(even*uu) + coeff.Mills0
	odd = float32(coeff.Mills9*uu) + coeff.Mills7
	odd = float32(odd*uu) + coeff.Mills5
	odd = float32(odd*uu) + coeff.Mills3
	odd = float32(odd*uu) + coeff.Mills1
	mills := float32(odd*u) + even

	half := set[layout.BivariateHalf]
	part := e * (float32(y*q) - float32(float32(set[layout.BivariateMills]*r)*mills))
	if !(size > layout.BivariateRight*opposite) {
		part = half
	}
	if p < 0 {
		part = (half + half) - part
	}
	return part + set[layout.BivariatePlus]
}
