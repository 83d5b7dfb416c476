package corpus

import (
	"math/bits"
)

// denseRow collects a row whose values arrive in any order.
type denseRow struct {
	values       []float32 // value of each column
	present      []uint64  // bit set of the columns with a value
	nonzeroWords []uint64  // bit set of the nonzero words of present
}

func (r *denseRow) grow(cols int) {
	if len(r.values) < cols {
		words := (cols + 63) / 64
		*r = denseRow{make([]float32, cols), make([]uint64, words), make([]uint64, (words+63)/64)}
	}
}

func (r *denseRow) set(column uint32, value float32) {
	r.values[column] = value
	r.present[column/64] |= 1 << (column % 64)
	r.nonzeroWords[column/4096] |= 1 << (column / 64 % 64)
}

// drain copies the columns with values to terms and values in ascending order, and clears the row.
func (r *denseRow) drain(terms []uint32, values []float32) {
	k := 0
	for i, some := range r.nonzeroWords {
		for ; some != 0; some &= some - 1 {
			word := 64*i + bits.TrailingZeros64(some)
			for set := r.present[word]; set != 0; set &= set - 1 {
				column := 64*word + bits.TrailingZeros64(set)
				terms[k], values[k] = uint32(column), r.values[column]
				k++
			}
			r.present[word] = 0
		}
		r.nonzeroWords[i] = 0
	}
}
