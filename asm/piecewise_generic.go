package asm

import (
	"math"

	"github.com/gramengine/gram/asm/internal/layout"
)

// A piecewise polynomial stands for a function of c in [0, 2] that may have any power as its
// singularity at both ends, such as arccos(1-c) or its root: its intervals shrink towards 0 and
// towards 2. With
//
//	u = 2²⁴ c            c <= 1
//	u = 2²⁴ max(2-c, 2⁻²⁴)   c > 1    (2-c is exact)
//
// each power of two of u is cut into 2^bits intervals of equal length. Scaling makes every float32
// a normal number. The number of c's interval is its row: the upper bits of u as an integer, and
// for c > 1 PiecewiseFold·2^bits more.
//
// A row holds six coefficients, that of t⁰ first, and two numbers that are left to who makes it.
// Its variable is t = m - mid, where m in [1, 2) is the mantissa of u and mid the middle of the
// interval's mantissas: |t| <= 2^-(bits+1), without a rounding.
const (
	// PiecewiseFold is the distance of the rows of c > 1 from those of the same u below 1, in
	// powers of two.
	PiecewiseFold = layout.PiecewiseFold
	// PiecewiseOctaves is how many powers of two have rows. Of the exponents of u as float32 stores
	// them, 0 is that of c = 0, those up to 151 are of c <= 1, and 127 to 150 of c > 1, whose rows
	// follow from 152 on.
	PiecewiseOctaves = 152 + 24

	piecewiseMax = 12 // bits
)

// PiecewiseRows returns the number of rows of a table of 2^bits intervals for each power of two.
// The last row is that of what is no c, and holds NaN. It panics where bits is above 12.
func PiecewiseRows(bits uint) int {
	checkBits("PiecewiseRows", bits)
	return PiecewiseOctaves<<bits + 1
}

// PiecewiseRow returns the row of c, the last one for NaN and what is outside of [0, 2], and its
// variable t there. It panics where bits is above 12.
func PiecewiseRow(c float32, bits uint) (row int, t float32) {
	checkBits("PiecewiseRow", bits)
	var fold uint32
	u := c * layout.PiecewiseScale
	if c > 1 {
		u = max(2-c, 1.0/layout.PiecewiseScale) * layout.PiecewiseScale
		fold = PiecewiseFold << bits
	}
	b := math.Float32bits(u)
	row = int(min(b>>(23-bits)+fold, PiecewiseOctaves<<bits))
	return row, piecewiseT(b, bits)
}

// piecewiseT returns t, given the bits of u.
func piecewiseT(b uint32, bits uint) float32 {
	const one = 127 << 23
	mantissa := b&(1<<23-1) | one
	mid := mantissa&^(1<<(23-bits)-1) | 1<<(22-bits)
	return math.Float32frombits(mantissa) - math.Float32frombits(mid)
}

// piecewiseGeneric evaluates a piecewise polynomial,
//
//	dst[j] = Σ_k rows[row(c[j])][k] t(c[j])ᵏ,  k = 0 … 5,  0 <= j < len(dst)
//
// There are PiecewiseRows(bits) rows, bits from 0 to 12. c outside of [0, 2] and NaN give the last
// row.
//
// Accuracy: Horner's rule in float32; beside the rounding of the result, that of the term in tᵏ is
// at most 2k units of 2⁻²⁴ times its size.
func piecewiseGeneric(dst, c []float32, rows [][8]float32, bits uint) {
	c = c[:len(dst)]
	last := uint32(len(rows) - 1)
	for j, v := range c {
		var fold uint32
		u := v * layout.PiecewiseScale
		if v > 1 {
			u = max(2-v, 1.0/layout.PiecewiseScale) * layout.PiecewiseScale
			fold = PiecewiseFold << bits
		}
		b := math.Float32bits(u)
		r := &rows[min(b>>(23-bits)+fold, last)]
		t := piecewiseT(b, bits)
		p := float32(r[5]*t) + r[4]
		p = float32(p*t) + r[3]
		p = float32(p*t) + r[2]
		p = float32(p*t) + r[1]
		dst[j] = float32(p*t) + r[0]
	}
}
