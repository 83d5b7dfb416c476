package solver

import (
	"context"
	"math"

	"github.com/gramengine/gram/internal/run"
)

// Matrix is a Gram matrix K of n documents. Values must be finite, and K[i][j] and K[j][i] must be
// bit-identical. Training fails if a value isn't finite. Symmetry isn't checked. Methods are called
// concurrently. If a method panics on a worker, the computation ends with a [*PanicError].
//
// A matrix may have two optional methods:
//
//	Row(i int) []float32  // row i in memory: n values, which the solver leaves unchanged
//	Whole() bool          // returns true if no value is computed on demand
//
// Rows in memory are used in place if a problem's documents form few contiguous ranges of the
// matrix. Training fails if a row in memory doesn't have n values. If Whole returns false, problems
// are solved in an order in which successive problems share rows, and steps are over-relaxed.
type Matrix interface {
	// Len returns n.
	Len() int

	// Diagonal returns the values K[i][i], which the solver leaves unchanged. Training fails if the
	// number of values isn't n.
	Diagonal() []float32

	// Rows copies column ranges of rows to dst. The ranges {lo₀, hi₀}, {lo₁, hi₁}, … are disjoint
	// and in increasing order:
	//
	//	dst[r] = K[rows[r]][j],  lo₀ <= j < hi₀, then lo₁ <= j < hi₁, …
	//
	// The length of dst[r] is the total length of all ranges. Rows must not replace or retain
	// dst[r]. The rows are distinct; computing several rows together may be faster. Rows should
	// return ctx.Err() soon after ctx is done.
	Rows(ctx context.Context, rows []int, columns [][2]int, dst [][]float32) error
}

// checkedMatrix wraps the caller's matrix and checks its results.
type checkedMatrix struct {
	Matrix
	inMemory interface{ Row(i int) []float32 } // the matrix if it has a method Row, else nil
	n        int
	diagonal []float32
	onDemand bool // true if Whole returns false
	workers  int  // number of workers that share a call of Rows; 0 = 1
}

// maxDocuments is limited because variable indices have 32 bits. A document has up to 2 variables.
const maxDocuments = math.MaxInt32 / 2

func newCheckedMatrix(m Matrix) (*checkedMatrix, error) {
	if m == nil {
		return nil, userError("the matrix is nil")
	}
	s := &checkedMatrix{Matrix: m, n: m.Len(), diagonal: m.Diagonal()}
	if s.n < 0 || s.n > maxDocuments {
		return nil, userError("number of documents of the matrix must be between 0 and %d, got %d", maxDocuments, s.n)
	}
	if len(s.diagonal) != s.n {
		return nil, userError("the diagonal of the matrix has %d values, but there are %d documents", len(s.diagonal), s.n)
	}
	s.inMemory, _ = m.(interface{ Row(i int) []float32 })
	if p, ok := m.(interface{ Whole() bool }); ok {
		s.onDemand = !p.Whole()
	}
	return s, nil
}

// Rows calls [Matrix].Rows, from several goroutines if there are many rows.
func (s *checkedMatrix) Rows(ctx context.Context, rows []int, columns [][2]int, dst [][]float32) error {
	read := func(ctx context.Context, rows []int, dst [][]float32) error {
		return run.CatchPanic("solver: Matrix.Rows", func() error { return s.Matrix.Rows(ctx, rows, columns, dst) })
	}
	each := max((len(rows)+s.workers-1)/max(s.workers, 1), minRowsPerWorker)
	if s.workers <= 1 || len(rows) <= each {
		return read(ctx, rows, dst)
	}
	return run.Tasks(ctx, s.workers, (len(rows)+each-1)/each, func(ctx context.Context, _, task int) error {
		from, to := task*each, min((task+1)*each, len(rows))
		return read(ctx, rows[from:to], dst[from:to])
	})
}

// minRowsPerWorker is the minimum number of rows per call of [Matrix].Rows, because computing a few
// rows takes as long as computing a panel of rows.
const minRowsPerWorker = 32

func (s *checkedMatrix) row(i int) ([]float32, error) {
	defer run.Rethrow("solver: Matrix.Row")
	row := s.inMemory.Row(i)
	if len(row) != s.n {
		return nil, userError("row %d of the matrix has %d values, but there are %d documents", i, len(row), s.n)
	}
	return row, nil
}

// Dense is a Gram matrix in memory, in row-major order.
type Dense struct {
	n        int
	data     []float32
	diagonal []float32
}

// NewDense returns the matrix of n documents with the values K[i][j] = data[i*n+j]. It retains
// data.
func NewDense(n int, data []float32) (*Dense, error) {
	if n < 0 || len(data) != n*n {
		return nil, userError("%d values do not match a %d×%d matrix", len(data), n, n)
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

// Row returns row i without copying its values. It panics if i is out of range.
func (d *Dense) Row(i int) []float32 {
	return d.data[i*d.n : (i+1)*d.n : (i+1)*d.n]
}

// Rows implements [Matrix]. It panics if a row or column is out of range.
func (d *Dense) Rows(_ context.Context, rows []int, columns [][2]int, dst [][]float32) error {
	for r, i := range rows {
		row, to := d.Row(i), dst[r]
		for _, c := range columns {
			to = to[copy(to, row[c[0]:c[1]]):]
		}
	}
	return nil
}
