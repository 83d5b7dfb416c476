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

// All returns the eigenvalues of a, the largest first, on so many workers; 0 is GOMAXPROCS. The
// errors are a few times n·2⁻⁵³ of the largest absolute value. They have the same bits from any
// number of workers.
//
// It takes AllBytes and time in proportion to n³: a reduction to a tridiagonal matrix by blocks of
// reflections, which it interrupts at the end of ctx. One goroutine reads the values on and below
// the diagonal, once. One that isn't finite is an error, and so is what a's methods panic with.
func All(ctx context.Context, a mat.Symmetric, workers int) ([]float64, error) {
	if workers == 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	var p *packed
	err := run.Tasks(ctx, 1, 1, func(ctx context.Context, _, _ int) (err error) {
		return run.Guard("spectrum: the matrix", func() error { p, err = pack(ctx, a); return err })
	})
	if err != nil || p.n == 0 {
		return nil, err
	}
	exponent := p.scale()
	values, beside, err := tridiagonalise(ctx, p, workers)
	if err != nil {
		return nil, err
	}
	for _, of := range [][]float64{values, beside} {
		for i, v := range of {
			if math.Abs(v) < least { // Dsterf can't scale blocks that are much smaller
				of[i] = 0
			}
		}
	}
	if !(lapackgonum.Implementation{}).Dsterf(p.n, values, beside) {
		return nil, errors.New("spectrum: the iteration for the eigenvalues doesn't converge")
	}
	slices.Reverse(values)
	for i, v := range values {
		values[i] = math.Ldexp(v, exponent)
	}
	return values, nil
}

// least is far below the rounding of a matrix whose largest value is near 1.
const least = 0x1p-200

// pack copies the values on and below the diagonal, and checks that they are finite.
func pack(ctx context.Context, a mat.Symmetric) (*packed, error) {
	n := a.SymmetricDim()
	p := &packed{n, make([]float64, n*(n+1)/2)}
	for i := range n {
		if err := ctx.Err(); err != nil {
			return nil, context.Cause(ctx)
		}
		row := p.row(i)
		for j := range row {
			v := a.At(i, j)
			if math.IsNaN(v) || math.IsInf(v, 0) {
				return nil, fmt.Errorf("spectrum: the value in row %d and column %d is %v, expected a finite number",
					i+1, j+1, v)
			}
			row[j] = v
		}
	}
	return p, nil
}

// AllBytes returns the memory that All takes for n rows beside the matrix: a copy of half of it in float64, and
// vectors.
func AllBytes(n int) int64 {
	return 4*int64(n)*int64(n+1) + vectors*8*int64(n)
}

// Rounding returns n·2⁻²⁴·largest, where largest is the greatest absolute eigenvalue: an eigenvalue
// of a float32 matrix that is nearer to 0 may owe its sign to rounding. A relative error of 2⁻²⁴ in
// every value changes no eigenvalue by more than Frobenius(…)·2⁻²⁴ <= √n·2⁻²⁴·largest (Weyl), so
// this leaves a factor of √n for what the values carry beyond their own rounding.
func Rounding(n int, largest float64) float64 { return float64(n) * 0x1p-24 * largest }
