package asm

// selectGeneric finds the values of a tile that are at most the limit of a line i (a row or a
// column) or the limit of an index j in the line:
//
//	c[i*stride+j] <= max(lines[i], places[j]),  0 <= i < len(lines), 0 <= j < len(places)
//
// It writes i<<16 | j for each value to index, ordered by i, then j, and returns the number of
// values. stride >= len(places). There are at most 65,536 lines and 65,536 places, and index has at
// least as many elements as the tile. NaN is never selected, and no limit may be NaN. The limit
// -Inf selects no finite value.
func selectGeneric(index []uint32, c []float32, stride int, lines, places []float32) int {
	n := 0
	for i, most := range lines {
		for j, v := range c[i*stride:][:len(places)] {
			if v <= most || v <= places[j] {
				index[n] = uint32(i<<16 | j)
				n++
			}
		}
	}
	return n
}
