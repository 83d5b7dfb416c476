package device

import (
	"context"
	"math"
)

// Reducer is a [Backend] that reduces rows on the device, so that less data is copied to the host.
// The result for a row doesn't depend on other rows. Methods ignore Request.Workers, and return
// ErrMemory if the results don't fit in the device's memory.
type Reducer interface {
	Backend

	// FindSmallest finds the k smallest values of each row in ascending order, with ties broken by
	// column. value[r*k:] receives the values of row r, and column[r*k:] their columns. Missing
	// columns are -1 if the row has fewer than k values that aren't NaN. UpperOnly must not be set.
	FindSmallest(ctx context.Context, r *Request, k int, column []int32, value []float32) error

	// Multiply multiplies rows with vectors, sum[r*vectors+v] = Σ_j value(r, j)
	// by[(j-Lo)*vectors+v], in float64. The order of summation depends only on the number of
	// columns. UpperOnly must not be set.
	Multiply(ctx context.Context, r *Request, by []float64, vectors int, sum []float64) error

	// Digest returns the sum of the requested values' hashes ([HashValue]) modulo 2^64. If
	// UpperOnly is set, each row starts at the diagonal.
	Digest(ctx context.Context, r *Request) (uint64, error)
}

// HashValue returns a hash of a value, its row and its column, for the digest of a matrix. Each
// step is invertible, so a change of a single argument always changes the hash.
func HashValue(row, column int, value float32) uint64 {
	const odd = 0x9e3779b97f4a7c15 // 2^64 divided by the golden ratio
	h := (uint64(row)<<32 | uint64(uint32(column))) * odd
	h = (h ^ h>>32 ^ uint64(math.Float32bits(value))) * odd
	return h ^ h>>32
}
