package sparse

import (
	"encoding/binary"
	"math/bits"
)

// recentTerms remembers, by a hash of its bytes, the term that was met last with that hash: words
// come by Zipf's law, so nearly all of them are found here, by one comparison, without the map of
// all terms, whose places lie all over memory (measured on 84 MB of program text: two words in five
// of the time of reading).
type recentTerms [1 << recentBits]uint32 // number of the term, from 1

const recentBits = 14

// slot returns the place of a term.
func (r *recentTerms) slot(term []byte) *uint32 { return &r[termHash(term)>>(64-recentBits)] }

// termHash mixes the first and the last eight bytes of a term, and its length: terms that agree in
// them share a place, which costs time and nothing else.
func termHash(term []byte) uint64 {
	var a, b uint64
	switch n := len(term); {
	case n >= 8:
		a, b = binary.LittleEndian.Uint64(term), binary.LittleEndian.Uint64(term[n-8:])
	case n >= 4:
		a, b = uint64(binary.LittleEndian.Uint32(term)), uint64(binary.LittleEndian.Uint32(term[n-4:]))
	default:
		for _, c := range term {
			a = a<<8 | uint64(c)
		}
	}
	// Odd constants near 2⁶⁴ divided by the golden ratio and by the square root of 2; high bits of
	// products depend on all bits below.
	high, low := bits.Mul64(a^0x9e3779b97f4a7c15, b^uint64(len(term))^0xb504f333f9de6485)
	return (high ^ low) * 0x9e3779b97f4a7c15
}
