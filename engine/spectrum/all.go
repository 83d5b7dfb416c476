package spectrum

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"

	lapackgonum "gonum.org/v1/gonum/lapack/gonum"
	"gonum.org/v1/gonum/mat"

	"github.com/gramengine/gram/internal/run"
)

// Eigenvalues returns the eigenvalues of a in descending order. workers is the number of
// goroutines; 0 means GOMAXPROCS. The error is a small multiple of n·2⁻⁵³ times the largest
// absolute eigenvalue. Results are bit-identical for any number of workers.
//
// Eigenvalues reduces a copy of the matrix to tridiagonal form by blocks of reflections. It takes
// EigenvaluesBytes of memory, and time proportional to n³. A single goroutine reads the values on
// and below the diagonal once. It returns an error if ctx is done, if a value isn't finite, if a
// method of a panics, or if the QR algorithm doesn't converge.
func Eigenvalues(ctx context.Context, a mat.Symmetric, workers int) ([]float64, error) {
	if workers == 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	var p *packedMatrix
	err := run.Tasks(ctx, 1, 1, func(ctx context.Context, _, _ int) (err error) {
		return run.CatchPanic("spectrum: the matrix", func() error { p, err = pack(ctx, a); return err })
	})
	if err != nil || p.n == 0 {
		return nil, err
	}
	exponent := p.scale()
	values, off, err := tridiagonalise(ctx, p, workers)
	if err != nil {
		return nil, err
	}
	for _, of := range [][]float64{values, off} {
		for i, v := range of {
			if math.Abs(v) < flushThreshold { // Dsterf can't scale blocks that are much smaller
				of[i] = 0
			}
		}
	}
	if !(lapackgonum.Implementation{}).Dsterf(p.n, values, off) {
		return nil, errors.New("spectrum: the QR algorithm for the eigenvalues did not converge")
	}
	slices.Reverse(values)
	for i, v := range values {
		values[i] = math.Ldexp(v, exponent)
	}
	return values, nil
}

// flushThreshold is far below the rounding error for values near 1. Smaller values become 0.
const flushThreshold = 0x1p-200

func pack(ctx context.Context, a mat.Symmetric) (*packedMatrix, error) {
	n := a.SymmetricDim()
	p := &packedMatrix{n, make([]float64, n*(n+1)/2)}
	for i := range n {
		if err := ctx.Err(); err != nil {
			return nil, context.Cause(ctx)
		}
		row := p.row(i)
		for j := range row {
			v := a.At(i, j)
			if math.IsNaN(v) || math.IsInf(v, 0) {
				return nil, fmt.Errorf("spectrum: the value in row %d and column %d must be finite, got %v", i+1, j+1, v)
			}
			row[j] = v
		}
	}
	return p, nil
}

// EigenvaluesBytes returns the memory that Eigenvalues takes for n rows in bytes, excluding the
// matrix. The memory holds a float64 copy of one triangle of the matrix, and vectors.
func EigenvaluesBytes(n int) int64 {
	return 4*int64(n)*int64(n+1) + valuesPerRow*8*int64(n)
}

// RoundingBound returns n·2⁻²⁴·largest, where largest is the largest absolute eigenvalue. If an
// eigenvalue of a float32 matrix is smaller in magnitude, its sign may be due to rounding. By
// Weyl's inequality, a relative error of 2⁻²⁴ in each value changes no eigenvalue by more than
// ‖a‖_F·2⁻²⁴ <= √n·2⁻²⁴·largest. The remaining factor √n covers other errors of the values.
func RoundingBound(n int, largest float64) float64 { return float64(n) * 0x1p-24 * largest }
