package sparse

import (
	"context"
	"fmt"
	"slices"
)

// Block is the number of documents whose sums are taken together: what ranges of columns begin at a
// multiple of.
const Block = 128

// permutation checks that a list holds every number below its length once.
func permutation(list []uint32) error {
	seen := make([]bool, len(list))
	for k, j := range list {
		switch {
		case int64(j) >= int64(len(list)):
			return fmt.Errorf("sparse: place %d of a permutation has %d, expected 0 to %d", k, j, len(list)-1)
		case seen[j]:
			return fmt.Errorf("sparse: place %d of a permutation has %d a second time", k, j)
		}
		seen[j] = true
	}
	return nil
}

// Order returns the columns in the order of falling document frequency, equal ones in their own
// order.
func Order(df []int32) []uint32 {
	order := make([]uint32, len(df))
	for j := range order {
		order[j] = uint32(j)
	}
	slices.SortStableFunc(order, func(a, b uint32) int { return int(df[b]) - int(df[a]) })
	return order
}

// Ranks inverts an order of columns: the result r has r[order[i]] = i. It panics where order isn't
// a permutation.
func Ranks(order []uint32) []uint32 {
	if err := permutation(order); err != nil {
		panic(err.Error())
	}
	rank := make([]uint32, len(order))
	for r, j := range order {
		rank[j] = uint32(r)
	}
	return rank
}

// ByRank returns the transpose of a matrix with its rows in the order of ranks: row r holds the
// documents, ascending, that have the column of rank r, and their values. It works on a number of
// goroutines, 0 standing for one a processor.
//
// Errors: a matrix that [CSR.Validate] refuses, more rows than terms can number, ranks that aren't
// a permutation of the columns, the end of ctx.
func ByRank(ctx context.Context, m *CSR, rank []uint32, workers int) (*CSR, error) {
	if err := given(ctx); err != nil {
		return nil, err
	}
	if err := m.Validate(); err != nil {
		return nil, err
	}
	if n := m.Rows(); int64(n) > mostCols {
		return nil, fmt.Errorf("sparse: a matrix of %d rows, expected at most %d to be columns", n, int64(mostCols))
	}
	if len(rank) != m.Cols {
		return nil, fmt.Errorf("sparse: %d ranks, expected %d, one for each column", len(rank), m.Cols)
	}
	if err := permutation(rank); err != nil {
		return nil, err
	}
	workers, err := goroutines(workers)
	if err != nil {
		return nil, err
	}
	return transpose(ctx, m, rank, workers)
}

// stopValues is how many values pass between looks at a context.
const stopValues = 1 << 20

// leastShare is how many values each worker should have of a transposition, at least, and for each
// column: its counts of columns cost time and memory.
const leastShare = 1 << 16

// transpose returns the transpose of m, its row rank[j] being column j of m; rows are ascending.
// Each worker counts, and then places, the values of its own range of rows. It ends early with ctx.
func transpose(ctx context.Context, m *CSR, rank []uint32, workers int) (*CSR, error) {
	n, nnz := m.Rows(), m.NNZ()
	workers = int(max(1, min(int64(workers), nnz/max(leastShare, int64(m.Cols)))))
	t := &CSR{Cols: n, Offsets: make([]int64, m.Cols+1), Terms: make([]uint32, nnz), Values: make([]float32, nnz)}
	bounds := make([]int, workers+1) // of the ranges, of about equally many values
	for w := 1; w < workers; w++ {
		bounds[w] = bounds[w-1]
		for bounds[w] < n && m.Offsets[bounds[w]] < nnz*int64(w)/int64(workers) {
			bounds[w]++
		}
	}
	bounds[workers] = n
	// by worker and row of the transpose: first how many values there are, then where the next one
	// goes
	next := make([][]int64, workers)
	each := func(w int, visit func(i int, terms []uint32, values []float32)) {
		looked := m.Offsets[bounds[w]]
		for i := bounds[w]; i < bounds[w+1]; i++ {
			if m.Offsets[i]-looked > stopValues {
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
	err := parallel(ctx, workers, workers, func(w int) {
		next[w] = make([]int64, m.Cols)
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
		t.Offsets[r+1] = at
	}
	err = parallel(ctx, workers, workers, func(w int) {
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
	if err != nil {
		return nil, err
	}
	return t, nil
}
