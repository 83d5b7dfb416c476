package asm

import (
	"math"

	"github.com/gramengine/gram/asm/internal/coeff"
	"github.com/gramengine/gram/asm/internal/layout"
)

// The solver's kernels work on scores and matrix rows. Rows are float32; sums and comparisons are
// float64. Each function documents its rounding. Generic and assembly versions give bit-identical
// results. So training on the same matrix gives the same model on every CPU.
//
// In the dual problem min ½αᵀQα - eᵀα with Q[s][t] = y[s]·y[t]·K[s][t], the score of a variable is
// s[t] = -y[t]·∇f(α)[t]. I_up is the set of variables for which y[t]·α[t] may increase, and I_low
// the set for which it may decrease. A mask has a bit for each set. Source: Fan, Chen and Lin, JMLR
// 6 (2005), §2.
//
// In kernels with scores g, other slices are at least as long as g. Masks are 0 in the padding, and
// bit is a single bit of a mask. Nothing is allocated or retained. Calls may run concurrently if no
// destination overlaps memory that another call accesses.

// ScanBlock is the unit of len(g) in Extremes, Step, ArgGain and Beyond: len(g) must be a multiple.
const ScanBlock = layout.ScanBlock

// extremesGeneric returns the maximum score of I_up and the minimum score of I_low,
//
//	most  = max g[t] over mask[t] & up != 0
//	least = min g[t] over mask[t] & low != 0,  0 <= t < len(g)
//
// and the indices of both, with ties broken by index. It skips NaN, and it skips -Inf in the
// maximum and +Inf in the minimum. If no score is left, the index is -1, and the value is -Inf or
// +Inf.
func extremesGeneric(g []float64, mask []byte, up, low byte) (maxAt int, most float64, minAt int, least float64) {
	maxAt, most, minAt, least = -1, math.Inf(-1), -1, math.Inf(1)
	mask = mask[:len(g)]
	for t, v := range g {
		if mask[t]&up != 0 && v > most {
			maxAt, most = t, v
		}
		if mask[t]&low != 0 && v < least {
			minAt, least = t, v
		}
	}
	return maxAt, most, minAt, least
}

// stepGeneric adds multiples of two rows of the matrix to the scores and returns the maximum of the
// new scores whose mask has the bit,
//
//	g[t] = fma(b, kj[t], fma(a, ki[t], g[t])),  0 <= t < len(g)
//	most = max g[t] over mask[t] & bit != 0
//
// and its index. Ties and missing scores are treated as by extremesGeneric. A step that adds λ to
// y[i]·α[i] and subtracts λ from y[j]·α[j] has a = -λ and b = λ. g overlaps neither row.
func stepGeneric(g []float64, ki, kj []float32, a, b float64, mask []byte, bit byte) (at int, most float64) {
	at, most = -1, math.Inf(-1)
	ki, kj, mask = ki[:len(g)], kj[:len(g)], mask[:len(g)]
	for t, v := range g {
		v = math.FMA(b, float64(kj[t]), math.FMA(a, float64(ki[t]), v))
		g[t] = v
		if mask[t]&bit != 0 && v > most {
			at, most = t, v
		}
	}
	return at, most
}

// argGainGeneric selects the second variable j of a working set {i, j}. It maximises twice the
// decrease of the objective by a step along the pair, ignoring the bounds on α,
//
//	gain = max (gmax - g[t])² / max(kii + diag[t] - 2·ki[t], 10⁻¹²),  0 <= t < len(g)
//
// over mask[t] & bit != 0 and g[t] < gmax. Each operation is rounded separately. gmax is the score
// of i, kii its diagonal element, ki its matrix row, and diag the diagonal.
//
// at is the smallest index of the maximum, or -1 (and gain 0) if there is no gain. low is the
// minimum score whose mask has the bit, or +Inf. The solver stops on the duality gap gmax - low.
// NaN is skipped. Source: Fan, Chen and Lin, JMLR 6 (2005), §2.2, working set selection 3.
func argGainGeneric(
	g []float64, ki, diag []float32, mask []byte, bit byte, gmax, kii float64,
) (at int, gain, low float64) {
	at, low = -1, math.Inf(1)
	ki, diag, mask = ki[:len(g)], diag[:len(g)], mask[:len(g)]
	for t, v := range g {
		if mask[t]&bit == 0 {
			continue
		}
		if v < low {
			low = v
		}
		if v < gmax {
			d := gmax - v
			k := float64(ki[t])
			a := kii + float64(diag[t]) - (k + k)
			if !(a > coeff.CurvatureFloor) {
				a = coeff.CurvatureFloor
			}
			if q := float64(d*d) / a; q > gain {
				at, gain = t, q
			}
		}
	}
	return at, gain, low
}

// beyondGeneric writes the indices of scores beyond a bound to index[:n], in ascending order. These
// are the t with
//
//	mask[t] & bit != 0 and way·g[t] > above,  0 <= t < len(g)
//
// way is 1 or -1. index has at least len(g) elements; elements from n on may be overwritten.
func beyondGeneric(index []int32, g []float64, mask []byte, bit byte, way, above float64) (n int) {
	mask = mask[:len(g)]
	for t, v := range g {
		if way*v > above && mask[t]&bit != 0 {
			index[n] = int32(t)
			n++
		}
	}
	return n
}

// addRowsGeneric adds multiples of matrix rows to scores, or kernel values times coefficients to
// decision values,
//
//	sum[t] = fma(by[r], rows[r][from+t], sum[t])  for r = 0, 1, … in turn,  0 <= t < len(sum)
//
// with len(by) >= len(rows), from >= 0 and len(rows[r]) >= from+len(sum). Multiply-adds are fused
// and rounded once to float64. So results are bit-identical for all instruction sets and all
// divisions of columns among calls. sum overlaps no row.
//
// Accuracy: for m rows |error| <= m·2⁻⁵³·max over r of |sum[t] after row r|.
func addRowsGeneric(sum []float64, rows [][]float32, from int, by []float64) {
	for r, b := range by[:len(rows)] {
		row := rows[r][from : from+len(sum)]
		for t, v := range row {
			sum[t] = math.FMA(b, float64(v), sum[t])
		}
	}
}

// prefetchGeneric prefetches elements [from, to) of each row into the L2 cache. Many cache lines
// are loaded concurrently, whereas reading scattered elements would wait for each cache line. 0 <=
// from <= to <= len(rows[r]). Portable Go can't prefetch, so the generic version does nothing.
func prefetchGeneric(rows [][]float32, from, to int) {}

// gatherGeneric gathers elements of a row: dst[i] = src[index[i]] for 0 <= i < len(index). It isn't
// checked that 0 <= index[i] < len(src).
func gatherGeneric(dst, src []float32, index []int32) {
	for i, at := range index {
		dst[i] = src[at]
	}
}

// rowSumsGeneric adds multiples of contiguous rows of kernel values to sums,
//
//	sum[r] += Σ_s coef[s]·rows[(at[s]-base)·len(sum) + r],  0 <= r < len(sum)
//
// in the order of s. Each product and each sum is rounded to float64. The sums are decision values
// of len(sum) objects. A sum is bit-identical for any division of the rows among calls, and doesn't
// depend on the other objects. at and coef have the same length.
//
// It isn't checked that all rows at[s]-base are within rows and that sum overlaps no other slice.
// Nothing is allocated or retained. Calls may run concurrently if no sum overlaps memory that
// another call accesses.
func rowSumsGeneric(sum []float64, rows []float32, base int, at []int32, coef []float64) {
	n := len(sum)
	for s, row := range at {
		values := rows[(int(row)-base)*n:][:n]
		for r, v := range values {
			sum[r] += float64(coef[s] * float64(v))
		}
	}
}
