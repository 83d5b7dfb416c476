package asm

// belowGeneric finds the elements of c below a limit: it writes their places, ascending, to index, which is as long as c, and returns how many there are.
// What lies behind them in index may be overwritten. NaN is not below anything.
func belowGeneric(index []uint32, c []float32, limit float32) int {
	n := 0
	for i, v := range c {
		if v < limit {
			index[n] = uint32(i)
			n++
		}
	}
	return n
}
