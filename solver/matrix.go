package solver

import (
	"context"
	"math"

	"github.com/gramengine/gram/internal/run"
)

// Matrix is a Gram matrix K of n documents, as the learners see it. Values are finite, and those at
// (i, j) and (j, i) have the same bits. The solver reports values that aren't finite; symmetry is
// the implementation's duty. Methods are called from several goroutines at a time. One that panics
// on a worker ends the computation with a [*PanicError].
//
// A matrix may have two more methods:
//
//	Row(i int) []float32  // row i in memory: n values, which the solver leaves unchanged
//	Whole() bool          // whether all values are in memory, or some are computed when asked for
//
// A problem over a few ranges of documents uses rows in memory where they are. A row of another
// length, such as one of a packed triangle, is an error. Problems that share rows of a matrix that
// isn't whole follow each other.
type Matrix interface {
	// Len returns n.
	Len() int

	// Diagonal returns the n values K[i][i], which the solver leaves unchanged. Another number of
	// them is an error.
	Diagonal() []float32

	// Rows writes parts of rows: with columns {lo₀, hi₀}, {lo₁, hi₁}, … , which are disjoint and
	// increasing,
	//
	//	dst[r] = K[rows[r]][j],  lo₀ <= j < hi₀, then lo₁ <= j < hi₁, …
	//
	// where dst[r] is as long as all ranges together and must not be replaced or kept. The rows are
	// different, as many as the working set has new members: computing them together may be
	// cheaper. It returns soon after the end of ctx, with its error.
	Rows(ctx context.Context, rows []int, columns [][2]int, dst [][]float32) error
}

// A source is a caller's matrix behind the checks of this package.
type source struct {
	Matrix
	rows     interface{ Row(i int) []float32 } // the matrix, where it has its rows in memory
	n        int
	diagonal []float32
	partial  bool // some values are computed when they are asked for
	workers  int  // that share the rows of a call, if above 1
}

// maxDocuments is the greatest size of a matrix: the two variables of each document have 32-bit
// numbers.
const maxDocuments = math.MaxInt32 / 2

// newSource checks what can be checked of a matrix before its rows are there.
func newSource(m Matrix) (*source, error) {
	if m == nil {
		return nil, errUser("no matrix, expected one")
	}
	s := &source{Matrix: m, n: m.Len(), diagonal: m.Diagonal()}
	if s.n < 0 || s.n > maxDocuments {
		return nil, errUser("a matrix of %d documents, expected 0 to %d", s.n, maxDocuments)
	}
	if len(s.diagonal) != s.n {
		return nil, errUser("the diagonal of the matrix has %d values, expected %d", len(s.diagonal), s.n)
	}
	s.rows, _ = m.(interface{ Row(i int) []float32 })
	if p, ok := m.(interface{ Whole() bool }); ok {
		s.partial = !p.Whole()
	}
	return s, nil
}

// Rows is that of the matrix, on several goroutines for many rows.
func (s *source) Rows(ctx context.Context, rows []int, columns [][2]int, dst [][]float32) error {
	read := func(ctx context.Context, rows []int, dst [][]float32) error {
		return run.Guard("solver: Matrix.Rows", func() error { return s.Matrix.Rows(ctx, rows, columns, dst) })
	}
	each := max((len(rows)+s.workers-1)/max(s.workers, 1), minRows)
	if s.workers <= 1 || len(rows) <= each {
		return read(ctx, rows, dst)
	}
	return run.Tasks(ctx, s.workers, (len(rows)+each-1)/each, func(ctx context.Context, _, task int) error {
		from, to := task*each, min((task+1)*each, len(rows))
		return read(ctx, rows[from:to], dst[from:to])
	})
}

// minRows is how many rows of a call a worker takes at least: they are computed a panel at a time.
const minRows = 32

// row returns row i of a matrix in memory.
func (s *source) row(i int) ([]float32, error) {
	defer run.Rethrow("solver: Matrix.Row")
	row := s.rows.Row(i)
	if len(row) != s.n {
		return nil, errUser("row %d of the matrix has %d values, expected %d", i, len(row), s.n)
	}
	return row, nil
}

// Dense is a Gram matrix in memory, row by row.
type Dense struct {
	n        int
	data     []float32
	diagonal []float32
}

// NewDense returns the matrix of n documents with the values data[i*n+j]. It keeps data without a
// copy.
func NewDense(n int, data []float32) (*Dense, error) {
	if n < 0 || len(data) != n*n {
		return nil, errUser("%d values for a matrix of %d documents, expected %d", len(data), n, n*n)
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

// Row returns row i, which shares the matrix's values. It panics if there is no such row.
func (d *Dense) Row(i int) []float32 {
	return d.data[i*d.n : (i+1)*d.n : (i+1)*d.n]
}

// Rows is [Matrix].Rows. It panics if the matrix has no such row or column.
func (d *Dense) Rows(_ context.Context, rows []int, columns [][2]int, dst [][]float32) error {
	for r, i := range rows {
		row, to := d.Row(i), dst[r]
		for _, c := range columns {
			to = to[copy(to, row[c[0]:c[1]]):]
		}
	}
	return nil
}
