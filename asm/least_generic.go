package asm

import "math"

// minGeneric updates, for each index j in a line, the smallest minima of groups of lines. Each
// group has up to group consecutive lines of a tile. The minimum of group g is
//
//	m = min c[i*stride+j],  g*group <= i < min((g+1)*group, lines), 0 <= j < places
//
// For each j, least[q*places+j], 0 <= q < levels, lists the smallest minima so far in ascending
// order. minGeneric inserts m into this list and drops the largest value. NaN is never inserted.
//
// If least is initially +Inf, a finite least[(levels-1)*places+j] is an upper bound on at least
// levels values with index j. levels >= 1, group >= 1, stride >= places.
func minGeneric(least []float32, levels int, c []float32, stride, lines, places, group int) {
	var groups [64]float32
	for lo := 0; lo < places; lo += len(groups) {
		m := groups[:min(len(groups), places-lo)]
		for line := 0; line < lines; line += group {
			for j := range m {
				m[j] = float32(math.Inf(1))
			}
			for i := line; i < min(line+group, lines); i++ {
				for j, v := range c[i*stride+lo:][:len(m)] {
					if v < m[j] {
						m[j] = v
					}
				}
			}
			for j, v := range m {
				first := lo + j
				at := first + (levels-1)*places
				if !(v < least[at]) {
					continue
				}
				for ; at > first && v < least[at-places]; at -= places {
					least[at] = least[at-places]
				}
				least[at] = v
			}
		}
	}
}
