package asm

// selectGeneric finds the values of a tile that are small enough for their line or for their place
// in it:
//
//	c[i*stride+j] <= max(lines[i], places[j]),  0 <= i < len(lines), 0 <= j < len(places)
//
// It writes i<<16 | j of each to index, in the order of i, then j, and returns how many there are.
// stride >= len(places); there are at most 65,536 lines and as many places, and index has room for
// all values of the tile. NaN is never selected, and no limit may be NaN. A limit of -Inf selects
// nothing finite.
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
