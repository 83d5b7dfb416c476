package solver

import (
	"context"
	"fmt"
)

// Matrix is what the learners see of a Gram matrix K of n documents. Values are finite, and those at (i, j) and (j, i) have the same bits.
// Its methods are called from several goroutines at a time.
type Matrix interface {
	// Len returns n.
	Len() int

	// Diagonal returns the n values K[i][i], which the solver leaves unchanged.
	Diagonal() []float32

	// Rows writes parts of rows: with columns {lo₀, hi₀}, {lo₁, hi₁}, … , which are disjoint and increasing,
	//
	//	dst[r] = K[rows[r]][j],  lo₀ <= j < hi₀, then lo₁ <= j < hi₁, …
	//
	// where dst[r] is as long as all ranges together. The rows are different ones, and so many at a time as the working set has new
	// members: computing them together may be cheaper. It returns soon after the end of ctx, with its error.
	Rows(ctx context.Context, rows []int, columns [][2]int, dst [][]float32) error
}

// A readyMatrix has its rows in memory. A problem over a few ranges of documents uses them where they are, others copy what they need.
type readyMatrix interface {
	// Row returns row i, which the solver leaves unchanged.
	Row(i int) []float32
}

// A partialMatrix says whether all of its values are in memory, or some are computed when they are asked for.
type partialMatrix interface{ Whole() bool }

// Dense is a Gram matrix in memory, row by row.
type Dense struct {
	n        int
	data     []float32
	diagonal []float32
}

// NewDense returns the matrix of n documents with the values data[i*n+j], which it keeps without a copy.
func NewDense(n int, data []float32) (*Dense, error) {
	if n < 0 || len(data) != n*n {
		return nil, fmt.Errorf("solver: %d values for a matrix of %d documents, expected %d", len(data), n, n*n)
	}
	d := &Dense{n: n, data: data, diagonal: make([]float32, n)}
	for i := range d.diagonal {
		d.diagonal[i] = data[i*n+i]
	}
	return d, nil
}

// Len returns the number of documents.
func (d *Dense) Len() int { return d.n }

// Diagonal returns the values K[i][i].
func (d *Dense) Diagonal() []float32 { return d.diagonal }

// Row returns row i, which shares the matrix's values.
func (d *Dense) Row(i int) []float32 { return d.data[i*d.n : (i+1)*d.n : (i+1)*d.n] }

// Rows is [Matrix].Rows. It returns no error.
func (d *Dense) Rows(_ context.Context, rows []int, columns [][2]int, dst [][]float32) error {
	for r, i := range rows {
		row, to := d.Row(i), dst[r]
		for _, c := range columns {
			to = to[copy(to, row[c[0]:c[1]]):]
		}
	}
	return nil
}
