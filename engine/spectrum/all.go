package spectrum

import (
	"context"
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"
)

// All returns the eigenvalues of a, the largest first. The errors are a few times n·2⁻⁵³ of the largest absolute value.
//
// It takes AllBytes and time in proportion to n³, by LAPACK's tridiagonalisation as gonum has it, which can't be interrupted: at the end of ctx All returns
// at once with its error, but the work goes on beside it until it is done, and a must stay unchanged until then. A value of a that isn't finite is an error.
func All(ctx context.Context, a mat.Symmetric) ([]float64, error) {
	n := a.SymmetricDim()
	if n == 0 {
		return nil, nil
	}
	for i := range n {
		if err := ctx.Err(); err != nil {
			return nil, context.Cause(ctx)
		}
		for j := range i + 1 {
			if v := a.At(i, j); math.IsNaN(v) || math.IsInf(v, 0) {
				return nil, fmt.Errorf("spectrum: the value in row %d and column %d is %v, expected a finite number", i+1, j+1, v)
			}
		}
	}
	done := make(chan []float64, 1)
	go func() {
		var e mat.EigenSym
		if !e.Factorize(a, false) {
			done <- nil
			return
		}
		up := e.Values(nil)
		down := make([]float64, n)
		for i, v := range up {
			down[n-1-i] = v
		}
		done <- down
	}()
	select {
	case values := <-done:
		if values == nil {
			return nil, errors.New("spectrum: the iteration for the eigenvalues doesn't converge")
		}
		return values, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// AllBytes returns the memory that All takes for n rows beside the matrix itself: a copy in float64.
func AllBytes(n int) int64 { return 8 * int64(n) * int64(n) }

// Rounding returns n·2⁻²⁴·largest, where largest is the greatest absolute eigenvalue: an eigenvalue of a float32 matrix that is nearer to 0 may owe its sign to
// rounding. A relative error of 2⁻²⁴ in every value changes no eigenvalue by more than Frobenius(…)·2⁻²⁴ <= √n·2⁻²⁴·largest (Weyl), so this leaves a
// factor of √n for what the values carry beyond their own rounding.
func Rounding(n int, largest float64) float64 { return float64(n) * 0x1p-24 * largest }
