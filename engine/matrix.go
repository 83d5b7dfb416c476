package engine

import (
	"context"
	"fmt"

	"github.com/gramengine/gram/engine/internal/compute"
	"github.com/gramengine/gram/tiles"
	"gonum.org/v1/gonum/mat"
)

// Dense is a row-major matrix of float32 values. It implements mat.Matrix. Different rows may be
// written concurrently.
type Dense struct {
	Rows, Cols int
	Data       []float32 // Rows*Cols values
}

// NewDense returns a matrix of zeros. It panics with a [MemoryError] if free memory is too small.
func NewDense(rows, cols int) *Dense {
	err := compute.CheckFreeMemory(fmt.Sprintf("a %d×%d matrix", rows, cols), compute.MatrixBytes(rows, cols))
	if err != nil {
		panic(err)
	}
	return &Dense{Rows: rows, Cols: cols, Data: make([]float32, rows*cols)}
}

func (d *Dense) checkShape(rows, cols int) error {
	if d == nil {
		return fmt.Errorf("engine: destination is nil, but must be a %d×%d matrix", rows, cols)
	}
	if d.Rows != rows || d.Cols != cols || len(d.Data) != rows*cols {
		return fmt.Errorf("engine: destination is %d×%d with %d values, but the result is %d×%d",
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

// Row returns row i, which shares d's values.
func (d *Dense) Row(i int) []float32 { return d.Data[i*d.Cols:][:d.Cols:d.Cols] }

// Symmetric is a symmetric n×n matrix. All n² values are stored, in row-major order. It implements
// mat.Symmetric, for gonum's Cholesky and eigenvalue routines.
type Symmetric struct {
	N    int
	Data []float32 // N*N values; the values at (i, j) and (j, i) are bit-identical
}

func newSymmetric(ctx context.Context, n int) (*Symmetric, error) {
	data, err := tiles.MakeFloatsContext(ctx, n*n)
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

// Row returns row i, which shares s's values.
func (s *Symmetric) Row(i int) []float32 { return s.Data[i*s.N:][:s.N:s.N] }
