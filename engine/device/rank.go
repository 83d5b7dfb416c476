package device

import (
	"context"
	"slices"

	"github.com/gramengine/gram/internal/run"
	"github.com/gramengine/gram/sparse"
)

// ColumnsByFrequency returns the columns in descending order of document frequency, with ties
// broken by index.
func ColumnsByFrequency(df []int32) []uint32 {
	if len(df) == 0 {
		return nil
	}
	next := make([]uint32, slices.Max(df)+2) // next[f] is the position in order of the next column with frequency f
	for _, f := range df {
		next[f]++
	}
	at := uint32(0)
	for f, n := range slices.Backward(next) {
		next[f], at = at, at+n
	}
	order := make([]uint32, len(df))
	for j, f := range df {
		order[next[f]] = uint32(j)
		next[f]++
	}
	return order
}

// InversePermutation returns the inverse r of a permutation of columns: r[order[i]] = i.
func InversePermutation(order []uint32) []uint32 {
	rank := make([]uint32, len(order))
	for r, j := range order {
		rank[j] = uint32(r)
	}
	return rank
}

const valuesPerCheck = 1 << 20

// minWorkerValues is the minimum number of values per worker in a transposition. A worker also
// needs at least one value per column, because the counts per column take time and memory.
const minWorkerValues = 1 << 16

// TransposeByRank returns the transpose of m with rows in the order of ranks. Row r holds the
// documents that have the column of rank r, in ascending order, and the values. TransposeByRank
// reuses the memory of t, which may be nil and must not share memory with m. rank is a permutation
// of the columns. TransposeByRank fails if ctx is done.
//
// Each worker counts the values of a range of rows, and then stores them.
func TransposeByRank(ctx context.Context, t, m *sparse.CSR, rank []uint32, workers int) (*sparse.CSR, error) {
	if t == nil {
		t = &sparse.CSR{}
	}
	n, nnz := m.Rows(), m.NNZ()
	workers = int(max(1, min(int64(workers), nnz/max(minWorkerValues, int64(m.Cols)))))
	t.Cols, t.Offsets = n, resize(t.Offsets, m.Cols+1)
	t.Terms, t.Values = resize(t.Terms, int(nnz)), resize(t.Values, int(nnz))
	clear(t.Offsets)
	bounds := make([]int, workers+1) // row ranges with about equally many values
	for w := 1; w < workers; w++ {
		bounds[w] = bounds[w-1]
		for bounds[w] < n && m.Offsets[bounds[w]] < nnz*int64(w)/int64(workers) {
			bounds[w]++
		}
	}
	bounds[workers] = n
	// next holds, per worker and row of the transpose, first the number of values, then the index
	// of the next value. At the end, the last worker's indices are the ends of the rows.
	next := make([][]int64, workers)
	for w := range workers - 1 {
		next[w] = make([]int64, m.Cols)
	}
	next[workers-1] = t.Offsets[1:]
	each := func(w int, visit func(i int, terms []uint32, values []float32)) {
		looked := m.Offsets[bounds[w]]
		for i := bounds[w]; i < bounds[w+1]; i++ {
			if m.Offsets[i]-looked > valuesPerCheck {
				if looked = m.Offsets[i]; ctx.Err() != nil {
					return
				}
			}
			terms, values := m.Row(i)
			visit(i, terms, values)
		}
	}
	if n == 0 {
		return t, ctx.Err()
	}
	err := run.Parallel(ctx, workers, workers, func(w int) {
		each(w, func(_ int, terms []uint32, _ []float32) {
			for _, j := range terms {
				next[w][rank[j]]++
			}
		})
	})
	if err != nil {
		return nil, err
	}
	var at int64
	for r := range m.Cols {
		for w := range next {
			next[w][r], at = at, at+next[w][r]
		}
	}
	return t, run.Parallel(ctx, workers, workers, func(w int) {
		own := next[w]
		each(w, func(i int, terms []uint32, values []float32) {
			for k, j := range terms {
				r := rank[j]
				q := own[r]
				own[r]++
				t.Terms[q] = uint32(i)
				t.Values[q] = values[k]
			}
		})
	})
}

func resize[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n)
	}
	return s[:n]
}
