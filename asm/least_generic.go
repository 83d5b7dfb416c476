package asm

import "math"

// leastGeneric takes the least value of each group of lines of a tile, at each place,
//
//	m = min c[i*stride+j],  g*group <= i < min((g+1)*group, lines), 0 <= j < places
//
// and enters it into the least ones so far, which ascend, and of which the greatest is dropped:
//
//	least[q*places+j],  0 <= q < levels
//
// Where least begins as +Inf, its last level ends as a number that at least so many values of the
// place aren't above. NaN is never a least value, and least has none. levels >= 1, group >= 1,
// stride >= places.
func leastGeneric(least []float32, levels int, c []float32, stride, lines, places, group int) {
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
