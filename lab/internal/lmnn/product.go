package lmnn

import (
	"context"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"
)

// blasBlock is the number of rows and columns of a block in gonum's products. Products with fewer
// than four blocks aren't divided. Products with L can take minutes. They are computed in pieces to
// check ctx. Pieces are chosen so that sums are bit-identical to sums of the whole product.
const blasBlock = 64

// forEachPiece divides n documents of d columns at multiples of blasBlock, and calls f with the
// range of each piece. It checks ctx before each call of f.
func forEachPiece(ctx context.Context, n, d int, f func(lo, hi int)) error {
	size := blasBlock
	if d <= 3*blasBlock {
		size = 4 * blasBlock
	}
	for lo := 0; lo < n; {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		hi := lo + size
		if hi+size > n { // the last piece has at least size documents
			hi = n
		}
		f(lo, hi)
		lo = hi
	}
	return nil
}

// applyTransform returns x lᵀ.
func applyTransform(ctx context.Context, x, l *mat.Dense) (*mat.Dense, error) {
	n, d := x.Dims()
	z := mat.NewDense(n, d, nil)
	err := forEachPiece(ctx, n, d, func(lo, hi int) {
		z.Slice(lo, hi, 0, d).(*mat.Dense).Mul(x.Slice(lo, hi, 0, d), l.T())
	})
	return z, err
}

// multiplyTransposed sets g to aᵀ x, in row-major order.
func multiplyTransposed(ctx context.Context, g []float64, a, x *mat.Dense) error {
	n, d := x.Dims()
	to := blas64.General{Rows: d, Cols: d, Stride: d, Data: g}
	clear(g)
	return forEachPiece(ctx, n, d, func(lo, hi int) {
		blas64.Gemm(blas.Trans, blas.NoTrans, 1, a.Slice(lo, hi, 0, d).(*mat.Dense).RawMatrix(),
			x.Slice(lo, hi, 0, d).(*mat.Dense).RawMatrix(), 1, to)
	})
}
