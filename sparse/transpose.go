package sparse

import "context"

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
	next := make([][]int64, workers) // by worker and row of the transpose: first how many values there are, then where the next one goes
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
