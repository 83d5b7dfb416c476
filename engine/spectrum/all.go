package spectrum

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime/debug"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/gramengine/gram/tiles"
)

// All returns the eigenvalues of a, the largest first. The errors are a few times n·2⁻⁵³ of the largest absolute value.
//
// It takes AllBytes and time in proportion to n³, by LAPACK's tridiagonalisation as gonum has it,
// which can't be interrupted: at the end of ctx All returns at once with its error, but the work
// goes on beside it until it is done, and a must stay unchanged until then. A value of a that isn't
// finite is an error, and so is what a's methods panic with.
func All(ctx context.Context, a mat.Symmetric) ([]float64, error) {
	if a == nil {
		return nil, errors.New("spectrum: no matrix, expected one")
	}
	if err := finite(ctx, a); err != nil {
		return nil, err
	}
	type result struct {
		values []float64
		err    error
	}
	done := make(chan result, 1)
	go func() {
		var r result
		ended := false // not so where the matrix ends the goroutine
		defer func() {
			if !ended {
				r.err = fmt.Errorf("spectrum: the matrix panics: %w", tiles.NewPanicError(nil))
			}
			done <- r
		}()
		r.values, r.err = factorize(a)
		ended = true
	}()
	select {
	case r := <-done:
		return r.values, r.err
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// finite checks that the values on and below the diagonal are finite.
func finite(ctx context.Context, a mat.Symmetric) (err error) {
	defer caught("the matrix", &err)
	for i := range a.SymmetricDim() {
		if err := ctx.Err(); err != nil {
			return context.Cause(ctx)
		}
		for j := range i + 1 {
			if v := a.At(i, j); math.IsNaN(v) || math.IsInf(v, 0) {
				return fmt.Errorf("spectrum: the value in row %d and column %d is %v, expected a finite number", i+1, j+1, v)
			}
		}
	}
	return nil
}

// factorize returns the eigenvalues of a, the largest first.
func factorize(a mat.Symmetric) (values []float64, err error) {
	defer caught("the matrix", &err)
	if a.SymmetricDim() == 0 {
		return nil, nil
	}
	var e mat.EigenSym
	if !e.Factorize(a, false) {
		return nil, errors.New("spectrum: the iteration for the eigenvalues doesn't converge")
	}
	values = e.Values(nil)
	slices.Reverse(values)
	return values, nil
}

// caught turns a panic of what the caller handed over into an error that names it.
func caught(name string, err *error) {
	if v := recover(); v != nil {
		*err = fmt.Errorf("spectrum: %s panics: %w", name, &tiles.PanicError{Value: v, Stack: debug.Stack()})
	}
}

// AllBytes returns the memory that All takes for n rows beside the matrix itself: a copy in
// float64. An n below 0 counts as 0, and a result beyond int64 is the greatest one.
func AllBytes(n int) int64 {
	n = max(n, 0)
	if 8*float64(n)*float64(n) >= math.MaxInt64 {
		return math.MaxInt64
	}
	return 8 * int64(n) * int64(n)
}

// Rounding returns n·2⁻²⁴·largest, where largest is the greatest absolute eigenvalue: an eigenvalue of a float32 matrix that is nearer to 0 may owe its sign to
// rounding. A relative error of 2⁻²⁴ in every value changes no eigenvalue by more than Frobenius(…)·2⁻²⁴ <= √n·2⁻²⁴·largest (Weyl), so this leaves a
// factor of √n for what the values carry beyond their own rounding.
func Rounding(n int, largest float64) float64 { return float64(n) * 0x1p-24 * largest }
