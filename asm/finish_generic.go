package asm

// finishGeneric turns cosines into squared Hellinger distances, in place, and finds the small ones:
//
//	c[i] = min(max(1 - c[i], 0), 2)
//
// It writes the places of the results below limit, ascending, to index, which is as long as c, and returns how many there are. What lies behind them in index may be
// overwritten. NaN stays NaN and is not below anything.
//
// Accuracy: half an ulp of the result; what the cosine lost before is lost, an absolute 2⁻²⁵ at least near 1, which is why small
// results are found and recomputed.
func finishGeneric(index []uint32, c []float32, limit float32) int {
	n := 0
	for i, s := range c {
		v := min(max(1-s, 0), 2)
		c[i] = v
		if v < limit {
			index[n] = uint32(i)
			n++
		}
	}
	return n
}
