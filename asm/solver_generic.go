package asm

import (
	"math"

	"github.com/gramengine/gram/asm/internal/coeff"
	"github.com/gramengine/gram/asm/internal/layout"
)

// What the solver needs of scores and of rows of the matrix. Rows are float32; everything that is
// summed or compared is float64. Each function says where it rounds: the portable forms and those
// in assembly give the same bits, so that training is the same on every processor that computes the
// same matrix.
//
// In the dual problem min ½αᵀQα - eᵀα with Q[s][t] = y[s]·y[t]·K[s][t], the score of a variable is
// s[t] = -y[t]·∇f(α)[t]. I_up are the variables that may move along y[t], I_low those that may move
// against it; a mask has a bit for each. Source: Fan, Chen and Lin, JMLR 6 (2005), §2.
//
// The number of scores is a multiple of ScanBlock; where a problem has fewer, no bit admits the
// rest. All slices are as long as g, or longer; a bit is one bit of a mask. Nothing is allocated or
// retained. Calls may run concurrently as long as no destination overlaps what another call reads
// or writes.

// ScanBlock divides the number of scores of Extremes, Step, ArgGain and Beyond.
const ScanBlock = layout.ScanBlock

// extremesGeneric returns the greatest of the scores that may rise and the least of those that may
// fall,
//
//	most  = max g[t] over mask[t] & up != 0
//	least = min g[t] over mask[t] & low != 0,  0 <= t < len(g)
//
// and where they stand, the lowest index of several. It passes over NaN, over -Inf for most and
// over +Inf for least. Where nothing is left the index is -1 and the value -Inf or +Inf.
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

// stepGeneric adds multiples of two rows of the matrix to the scores and returns the greatest of
// the new ones that a bit admits,
//
//	g[t] = fma(b, kj[t], fma(a, ki[t], g[t])),  0 <= t < len(g)
//	most = max g[t] over mask[t] & bit != 0
//
// and where it stands, the lowest index of several; -1 and -Inf as for extremesGeneric. A step of a
// pair of variables i and j, by which i gains λ along its sign, has a = -λ and b = λ. g overlaps
// neither row.
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

// argGainGeneric selects the second variable j of a working set {i, j} by the decrease of the
// objective that a step of the pair promises (twice that decrease, without the bounds on α),
//
//	gain = max (gmax - g[t])² / max(kii + diag[t] - 2·ki[t], 10⁻¹²),  0 <= t < len(g)
//
// over mask[t] & bit != 0 and g[t] < gmax, each operation rounded by itself. g are the scores, gmax
// and kii the score and the diagonal element of i, ki its row of the matrix, diag the diagonal.
//
// at is where the gain stands, the lowest index of several, or -1 (and gain 0) where nothing is
// gained. low is the least score that the mask admits, +Inf where there is none: the solver stops
// on the duality gap gmax - low. NaN is passed over. Source: Fan, Chen and Lin, JMLR 6 (2005),
// §2.2, working set selection 3.
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

// beyondGeneric lists the scores beyond a bound, in index[:n], ascending: those with
//
//	mask[t] & bit != 0 and way·g[t] > above,  0 <= t < len(g)
//
// way is 1 or -1. index has at least len(g) places; what they hold behind the first n is lost.
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

// addRowsGeneric adds multiples of rows of the matrix to the scores of many variables (or kernel
// values times coefficients to decisions),
//
//	sum[t] = fma(by[r], rows[r][from+t], sum[t])  for r = 0, 1, … in turn,  0 <= t < len(sum)
//
// with len(by) >= len(rows), from >= 0 and len(rows[r]) >= from+len(sum). Each product and its sum
// are rounded once, together, to float64. So the bits are the same from every instruction set, and
// don't depend on how columns are divided among calls. sum overlaps no row.
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

// prefetchGeneric asks for elements from to to of rows, which will be read soon, to be brought into
// the second-level cache. Many lines are on their way at a time, where reading scattered elements
// would wait for a few. 0 <= from <= to <= len(rows[r]). It changes nothing; portable Go can't ask.
func prefetchGeneric(rows [][]float32, from, to int) {}

// gatherGeneric picks elements of a row, dst[i] = src[index[i]] for 0 <= i < len(index). It is the
// caller's duty, which isn't checked, that 0 <= index[i] < len(src).
func gatherGeneric(dst, src []float32, index []int32) {
	for i, at := range index {
		dst[i] = src[at]
	}
}

// rowSumsGeneric adds multiples of rows of kernel values, which lie side by side, to as many sums
// as a row is long,
//
//	sum[r] += Σ_s coef[s]·rows[(at[s]-base)·len(sum) + r],  0 <= r < len(sum)
//
// in the order of s, each product and each sum rounded to float64 by itself. These are decision
// values of len(sum) objects: their bits depend neither on how the list is divided among calls nor
// on the other objects. at and coef are equally long.
//
// It is the caller's duty, which isn't checked, that all rows at[s]-base lie inside of rows, none
// below 0, and that sum overlaps nothing else. Nothing is allocated or retained. Calls may run
// concurrently as long as no sum overlaps what another call reads or writes.
func rowSumsGeneric(sum []float64, rows []float32, base int, at []int32, coef []float64) {
	n := len(sum)
	for s, row := range at {
		values := rows[(int(row)-base)*n:][:n]
		for r, v := range values {
			sum[r] += float64(coef[s] * float64(v))
		}
	}
}
