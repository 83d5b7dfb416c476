package asm

import "math"

// addRowsGeneric adds multiples of rows of the matrix to the scores of many variables (or kernel values times coefficients to decisions),
//
//	sum[t] = fma(by[r], rows[r][from+t], sum[t])  for r = 0, 1, … in turn,  0 <= t < len(sum)
//
// with len(by) = len(rows) and len(rows[r]) >= from+len(sum), from >= 0. Each value is widened to float64 and each product and sum rounded once, together:
// the bits are the same from every instruction set, and don't depend on how columns are divided among calls. sum overlaps no row.
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

// prefetchGeneric asks for what will be read soon, elements from to to of rows, to be brought into
// the second-level cache meanwhile: many lines at a time are on their way, where reading scattered
// elements would wait for a few. 0 <= from <= to <= len(rows[r]). It changes nothing and reads
// nothing; portable Go can't ask.
func prefetchGeneric(rows [][]float32, from, to int) {}

// gatherGeneric picks elements of a row, dst[i] = src[index[i]] for 0 <= i < len(index). It is the
// caller's duty, which isn't checked, that 0 <= index[i] < len(src).
func gatherGeneric(dst, src []float32, index []int32) {
	for i, at := range index {
		dst[i] = src[at]
	}
}
