package asm

import (
	"math"

	"github.com/gramengine/gram/asm/internal/layout"
)

// A piecewise polynomial approximates a function of c in [0, 2] that may have singularities of any
// power at both ends, such as arccos(1-c) or its square root. Its intervals shrink towards 0 and 2.
// With
//
//	u = 2²⁴ c            c <= 1
//	u = 2²⁴ max(2-c, 2⁻²⁴)   c > 1    (2-c is exact)
//
// each power of two of u is divided into 2^bits intervals of equal length. Because of the factor
// 2²⁴, u is a normal number for every float32 c > 0. The row of c is the index of its interval: the
// upper bits of u as an integer, plus PiecewiseFold·2^bits for c > 1.
//
// A row holds six coefficients, lowest first, and two numbers that the kernel ignores. The variable
// of the polynomial is t = m - mid. Here m in [1, 2) is the mantissa of u, and mid is the center of
// the interval. The subtraction is exact, and |t| <= 2^-(bits+1).
const (
	// PiecewiseFold is the offset, in powers of two, from the row of c <= 1 to the row of c > 1
	// with the same u.
	PiecewiseFold = layout.PiecewiseFold
	// PiecewiseOctaves is the number of powers of two with rows. u has float32 exponents 0 to 151
	// for c <= 1 (0 only for c = 0), and 127 to 150 for c > 1. The rows for c > 1 begin at power
	// 152.
	PiecewiseOctaves = 152 + 24

	piecewiseMax = 12 // maximum of bits
)

// PiecewiseRows returns the number of rows of a table with 2^bits intervals per power of two. The
// last row is for NaN and negative c, and must hold NaN. It panics if bits is above 12.
func PiecewiseRows(bits uint) int {
	checkBits("PiecewiseRows", bits)
	return PiecewiseOctaves<<bits + 1
}

// PiecewiseRow returns the row index of c and the variable t of its polynomial. If c is NaN or
// negative, row is the last row. If c > 2, row and t are the same as for c = 2. It panics if bits
// is above 12.
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
// rows has PiecewiseRows(bits) elements, and bits is at most 12. NaN and negative values use the
// last row.
//
// Accuracy: in Horner's rule in float32, the term in tᵏ has a relative rounding error of at most
// 2k·2⁻²⁴. The result is also rounded.
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
