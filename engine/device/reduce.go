package device

import (
	"context"
	"math"
)

// Reducer is a [Backend] that reduces rows itself, so that few numbers of a row are copied. It ignores Workers. The
// result of a row doesn't depend on the other rows. If its memory doesn't hold the results, the error is ErrMemory.
type Reducer interface {
	Backend

	// Min finds the k smallest values of each row in ascending order, ties broken by column:
	// those of row r are value[r*k:], and column[r*k:] the numbers of their columns, or -1 if the row
	// has fewer values that aren't NaN. Half must not be set.
	Min(ctx context.Context, r *Request, k int, column []int32, value []float32) error

	// Multiply multiplies rows with vectors, sum[r*vectors+v] = Σ_j value(r, j) by[(j-Lo)*vectors+v],
	// in float64 and in an order that depends on the number of columns alone. The request isn't for
	// half of the matrix.
	Multiply(ctx context.Context, r *Request, by []float64, vectors int, sum []float64) error

	// Digest adds up [Mix] of the values that r asks for modulo 2^64, of half of the matrix those
	// from each row's own column on.
	Digest(ctx context.Context, r *Request) (uint64, error)
}

// Mix is what a value adds to the digest of a matrix: of a row's document, a column's and the bits.
// Each step can be undone, so that no change of one of them alone is lost.
func Mix(row, column int, value float32) uint64 {
	const odd = 0x9e3779b97f4a7c15 // 2^64 by the golden ratio
	h := (uint64(row)<<32 | uint64(uint32(column))) * odd
	h = (h ^ h>>32 ^ uint64(math.Float32bits(value))) * odd
	return h ^ h>>32
}
