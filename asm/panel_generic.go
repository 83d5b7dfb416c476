package asm

import (
	"math"

	"github.com/gramengine/gram/asm/internal/coeff"
)

// panelDotGeneric adds the dot products of a block's documents with the R = genericPanel documents
// of a dense panel to out. It processes the documents in the order of their indices p, 0 <= p <
// len(doc):
//
//	s[r] = Σ_k value[k] * panel[offset[k]+r],  start[p] <= k < start[p+1], summed in the order of k
//	out[doc[p]*R+r] += s[r],  0 <= r < R
//
// len(start) = len(doc)+1. out has at least R values per document. offset and value have at least
// start[len(doc)] elements. It isn't checked that the lengths start[p+1]-start[p] are nonnegative
// and ascending, (doc[p]+1)*R <= len(out), and offset[k]+R <= len(panel).
//
// Every sum starts at 0 and is added to out at the end, as a block of a blocked summation. Terms
// missing from the panel's document add an exact zero. If values are in ascending order of terms,
// the result for two documents thus depends only on their common terms, and is bit-identical
// whichever document is in the panel.
//
// Accuracy: each of n common terms has the rounding errors of a product and of a sum, or a single
// rounding error if the instruction set fuses multiply-adds: |error| <= 2n·2⁻²⁴·Σ|value·panel|, and
// about 2⁻²⁴·√(n/3)·s in the root mean square.
func panelDotGeneric(out, panel []float32, start []int64, doc []uint8, offset []uint16, value []float32) {
	for p, d := range doc {
		lo, hi := start[p], start[p+1]
		if lo == hi {
			continue
		}
		row := (*[genericPanel]float32)(out[int(d)*genericPanel:])
		addDots7((*[7]float32)(row[0:]), panel, offset[lo:hi], value[lo:hi])
		addDots7((*[7]float32)(row[7:]), panel[7:], offset[lo:hi], value[lo:hi])
		addDots7((*[7]float32)(row[14:]), panel[14:], offset[lo:hi], value[lo:hi])
		addDots7((*[7]float32)(row[21:]), panel[21:], offset[lo:hi], value[lo:hi])
	}
}

// panelDotLastGeneric is panelDotGeneric for the last segment of a tile. Like finishGeneric, it
// converts sums to c:
//
//	out[doc[p]*R+r] = min(max(1 - (out[doc[p]*R+r] + s[r]), 0), 2)
//
// For each out[i] below limit, it appends i + first to index, in any order. It returns the number
// of these results. index has R elements per document.
func panelDotLastGeneric(
	index []uint32, first int, limit float32,
	out, panel []float32, start []int64, doc []uint8, offset []uint16, value []float32,
) int {
	panelDotGeneric(out, panel, start, doc, offset, value)
	found := 0
	for _, d := range doc {
		row := int(d) * genericPanel
		n := finishGeneric(index[found:], out[row:row+genericPanel], limit)
		for k := range n {
			index[found+k] += uint32(first + row)
		}
		found += n
	}
	return found
}

// panelDotRowsGeneric is panelDotLastGeneric for a tile whose rows are the documents of the block
// and whose columns are the documents of the panel. It adds the tail sums of tailAddGeneric instead
// of the values in out, and then clears the tail sums:
//
//	out[doc[p]*outStride+r] = min(max(1 - (sums[doc[p]*stride+r]/TailOne + s[r]), 0), 2)
//	sums[doc[p]*stride+r] = 0,  0 <= r < R
//
// Results are bit-identical to tailStoreGeneric followed by panelDotLastGeneric. The preconditions
// of both functions apply. doc is a permutation of the integers from 0 to len(doc)-1, and outStride
// and stride are at least R.
func panelDotRowsGeneric(
	index []uint32, first int, limit float32, out []float32, outStride int, sums []int32, stride int,
	panel []float32, start []int64, doc []uint8, offset []uint16, value []float32,
) int {
	found := 0
	for p, d := range doc {
		at := int(d) * outStride
		row := out[at:][:genericPanel]
		tailStoreGeneric(row, 1, sums[int(d)*stride:], genericPanel, 1, genericPanel)
		found += panelDotLastGeneric(index[found:], first+at, limit, row, panel, start[p:p+2], []uint8{0}, offset, value)
	}
	return found
}

// genericPanel is R of the portable kernels: four times the number of sums that the compiler keeps
// in registers.
const genericPanel = 28

// addDots7 adds one document's dot products with seven columns of a panel to out. It is a separate
// function, because the compiler keeps seven sums and products in registers only if few other
// values are live.
func addDots7(out *[7]float32, panel []float32, offset []uint16, value []float32) {
	var s0, s1, s2, s3, s4, s5, s6 float32
	value = value[:len(offset)]
	for k, o := range offset {
		v := value[k]
		p := (*[7]float32)(panel[o:])
		s0 += float32(v * p[0])
		s1 += float32(v * p[1])
		s2 += float32(v * p[2])
		s3 += float32(v * p[3])
		s4 += float32(v * p[4])
		s5 += float32(v * p[5])
		s6 += float32(v * p[6])
	}
	out[0] += s0
	out[1] += s1
	out[2] += s2
	out[3] += s3
	out[4] += s4
	out[5] += s5
	out[6] += s6
}

// Pairing holds the kernels of a histogram similarity that is not a dot product,
//
//	s = Σ f(a[i], b[i]),   f(a, 0) = 0
//
// Only common terms contribute. f(a, b) and f(b, a) are bit-identical. Histogram values are 0 or
// float32 numbers from [MinShare] to 1.
type Pairing struct {
	Cost Cost

	// Panel adds the similarities between a block's documents and a dense panel's documents to out.
	// Arguments and preconditions are as for Kernels.PanelDot; panel and value hold histograms.
	Panel func(out, panel []float32, start []int64, doc []uint8, offset []uint16, value []float32)

	// Terms computes f for a value x and each element of y,
	//
	//	dst[j] = f(x, y[j]),  0 <= j < len(dst)
	//
	// Arguments must meet the preconditions of the map kernels, and x must be positive.
	Terms func(dst, y []float32, x float32)
}

// MinShare is the smallest positive value allowed in a histogram. It ensures that products and
// quotients of values are normal numbers. Smaller values matter less than rounding errors.
const MinShare = 0x1p-60

// chiSquare32 computes the term of the χ² similarity,
//
//	f(a, b) = 2ab/(a+b)
//
// which is the harmonic mean. 2ab, a+b and the quotient are rounded once each, so the relative
// error is at most 3u. The term is exactly 0 for b = 0.
func chiSquare32(a, b float32) float32 { return float32((a+a)*b) / (a + b) }

// jensenShannon32 computes the term of the Jensen-Shannon similarity,
//
//	f(a, b) = ½ ((a+b) log₂(a+b) - a log₂ a - b log₂ b)
//
// With m = min(a, b), M = max(a, b) and r = m/M, it is
//
//	f = m·h,   h = ½ ((1+r) log₂(1+r)/r - log₂ r) >= 1
//
// without cancellation. With r = 2ᵉ(1+z), 1+z in [√½, √2], h is W(r) - e/2 - z·L(z), where W and L
// are the polynomials in package coeff.
//
// Accuracy: the relative error is below 7u. The rounding of r changes h by at most 1.1u, the
// polynomials have errors of 0.5u and 0.8u, each of the last four sums and products is rounded, and
// the error of z·L(z) is below u/4. For b = 0, a finite number replaces log₂ 0, so f is exactly 0.
func jensenShannon32(a, b float32) float32 {
	m, most := min(a, b), max(a, b)
	r := m / most
	e := (int32(math.Float32bits(r)) - coeff.RootHalfBits) >> 23
	z := math.Float32frombits(uint32(int32(math.Float32bits(r))-e<<23)) - 1
	w := evalPolynomial7(r, coeff.Entropy7, coeff.Entropy6, coeff.Entropy5, coeff.Entropy4,
		coeff.Entropy3, coeff.Entropy2, coeff.Entropy1, coeff.Entropy0)
	l := evalPolynomial7(z, coeff.Log7, coeff.Log6, coeff.Log5, coeff.Log4, coeff.Log3, coeff.Log2, coeff.Log1, coeff.Log0)
	w -= float32(float32(e) * 0.5)
	w -= float32(z * l)
	return m * w
}

// evalPolynomial7 returns c7·x⁷ + … + c0. Odd and even powers form two independent chains.
func evalPolynomial7(x, c7, c6, c5, c4, c3, c2, c1, c0 float32) float32 {
	s := float32(x * x)
	odd, even := float32(c7*s)+c5, float32(c6*s)+c4
	odd, even = float32(odd*s)+c3, float32(even*s)+c2
	odd, even = float32(odd*s)+c1, float32(even*s)+c0
	return float32(odd*x) + even
}

// chiSquareTermsGeneric is [Pairing].Terms for chiSquare32.
func chiSquareTermsGeneric(dst, y []float32, x float32) {
	y = y[:len(dst)]
	for j, v := range y {
		dst[j] = chiSquare32(x, v)
	}
}

// jensenShannonTermsGeneric is [Pairing].Terms for jensenShannon32.
func jensenShannonTermsGeneric(dst, y []float32, x float32) {
	y = y[:len(dst)]
	for j, v := range y {
		dst[j] = jensenShannon32(x, v)
	}
}

// panelChiSquareGeneric adds the χ² similarities of a block's documents with the R = genericPanel
// documents of a dense panel to out. It processes the documents in the order of their indices p, 0
// <= p < len(doc):
//
//	s[r] = Σ_k chiSquare32(value[k], panel[offset[k]+r]),  start[p] <= k < start[p+1]
//	out[doc[p]*R+r] += s[r],  0 <= r < R
//
// Terms are summed in the order of k. The preconditions of panelDotGeneric hold, and value[k] > 0.
//
// Accuracy: each of the n positive terms has the error of chiSquare32, and each addition rounds
// once. Terms missing from the panel's document add an exact zero, so the result is
// bit-identical whichever of the two documents is in the panel.
func panelChiSquareGeneric(out, panel []float32, start []int64, doc []uint8, offset []uint16, value []float32) {
	var s [genericPanel]float32
	for p, d := range doc {
		lo, hi := start[p], start[p+1]
		clear(s[:])
		for k := lo; k < hi; k++ {
			v := value[k]
			for r, b := range (*[genericPanel]float32)(panel[offset[k]:]) {
				s[r] += chiSquare32(v, b)
			}
		}
		addPanelRow(out, int(d), &s)
	}
}

// panelJensenShannonGeneric is panelChiSquareGeneric with the terms of jensenShannon32.
func panelJensenShannonGeneric(out, panel []float32, start []int64, doc []uint8, offset []uint16, value []float32) {
	var s [genericPanel]float32
	for p, d := range doc {
		lo, hi := start[p], start[p+1]
		clear(s[:])
		for k := lo; k < hi; k++ {
			v := value[k]
			for r, b := range (*[genericPanel]float32)(panel[offset[k]:]) {
				if b != 0 { // computing a term takes longer than a mispredicted branch
					s[r] += jensenShannon32(v, b)
				}
			}
		}
		addPanelRow(out, int(d), &s)
	}
}

func addPanelRow(out []float32, d int, s *[genericPanel]float32) {
	row := (*[genericPanel]float32)(out[d*genericPanel:])
	for r, v := range s {
		row[r] += v
	}
}
