package engine

import (
	"context"
	"fmt"
	"math/bits"

	"github.com/gramengine/gram/engine/internal/compute"
	"github.com/gramengine/gram/engine/internal/shape"
	"github.com/gramengine/gram/tiles"
	"gonum.org/v1/gonum/mat"
)

// Dense is a row-major matrix of float32 values; it implements mat.Matrix. A goroutine may write
// one row while others write other rows.
type Dense struct {
	Rows, Cols int
	Data       []float32 // Rows*Cols values
}

// NewDense returns a matrix of zeros. It panics with an error where a number is below 0, and with a
// [MemoryError] where the machine has less than 4·rows·cols bytes left.
func NewDense(rows, cols int) *Dense {
	if rows < 0 || cols < 0 {
		panic(fmt.Errorf("engine: a matrix of %d×%d, expected numbers not below 0", rows, cols))
	}
	err := compute.Affordable(fmt.Sprintf("a matrix of %d×%d", rows, cols), compute.MatrixBytes(rows, cols))
	if err != nil {
		panic(err)
	}
	return &Dense{Rows: rows, Cols: cols, Data: make([]float32, rows*cols)}
}

// hasShape checks that d is there, of so many rows and columns.
func (d *Dense) hasShape(rows, cols int) error {
	if d == nil {
		return fmt.Errorf("engine: a nil destination, expected one of %d×%d", rows, cols)
	}
	if d.Rows != rows || d.Cols != cols || !shape.IsProduct(len(d.Data), rows, cols) {
		return fmt.Errorf("engine: destination of %d×%d with %d values, expected %d×%d",
			d.Rows, d.Cols, len(d.Data), rows, cols)
	}
	return nil
}

// Dims returns the number of rows and columns.
func (d *Dense) Dims() (r, c int) { return d.Rows, d.Cols }

// At returns the value in row i and column j.
func (d *Dense) At(i, j int) float64 { return float64(d.Row(i)[j]) }

// T returns the transpose, which shares d's values.
func (d *Dense) T() mat.Matrix { return mat.Transpose{Matrix: d} }

// Row returns row i, which shares d's values. It panics where there is none.
func (d *Dense) Row(i int) []float32 { return rowOf(d.Data, i, d.Rows, d.Cols) }

// rowOf looks at the length of data, too: a slice expression by itself is content with the
// capacity.
func rowOf(data []float32, i, rows, cols int) []float32 {
	beyond, end := bits.Mul64(uint64(i)+1, uint64(cols)) // a cols below 0 is beyond any length
	if uint(i) >= uint(max(rows, 0)) || beyond > 0 || end > uint64(len(data)) {
		panic(fmt.Errorf("engine: row %d of a matrix of %d×%d with %d values", i, rows, cols, len(data)))
	}
	return data[i*cols : (i+1)*cols : (i+1)*cols]
}

// Symmetric is a symmetric n×n matrix with all n² values stored, row-major; it implements
// mat.Symmetric, so that gonum's Cholesky and eigenvalue routines take it.
type Symmetric struct {
	N    int
	Data []float32 // N*N values; those at (i, j) and (j, i) have the same bits
}

// newSymmetric returns a matrix of zeros, or the error of ctx.
func newSymmetric(ctx context.Context, n int) (*Symmetric, error) {
	data, err := tiles.MakeContext(ctx, n*n)
	return &Symmetric{N: n, Data: data}, err
}

// Dims returns the number of rows and columns.
func (s *Symmetric) Dims() (r, c int) { return s.N, s.N }

// At returns the value in row i and column j.
func (s *Symmetric) At(i, j int) float64 { return float64(s.Row(i)[j]) }

// T returns the transpose, which is s itself.
func (s *Symmetric) T() mat.Matrix { return s }

// SymmetricDim returns the number of rows.
func (s *Symmetric) SymmetricDim() int { return s.N }

// Row returns row i, which shares s's values. It panics where there is none.
func (s *Symmetric) Row(i int) []float32 { return rowOf(s.Data, i, s.N, s.N) }
