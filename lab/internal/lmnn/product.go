package lmnn

import (
	"context"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"
)

// gonum doesn't know of ctx, and products of documents with L take minutes where there are many. So
// they are made piece by piece. Its sums go in blocks of blasBlock, whatever the pieces, and it goes
// over to plain sums below four blocks of results: pieces keep to both, so that bits are those of one
// product.
const blasBlock = 64

// pieces divides n documents of d columns, by multiples of blasBlock, and calls f for each. It looks at
// ctx before each.
func pieces(ctx context.Context, n, d int, f func(lo, hi int)) error {
	size := blasBlock
	if d <= 3*blasBlock {
		size = 4 * blasBlock
	}
	for lo := 0; lo < n; {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		hi := lo + size
		if hi+size > n { // the last is no smaller
			hi = n
		}
		f(lo, hi)
		lo = hi
	}
	return nil
}

// under returns documents x under L: x Lᵀ.
func under(ctx context.Context, x, l *mat.Dense) (*mat.Dense, error) {
	n, d := x.Dims()
	z := mat.NewDense(n, d, nil)
	err := pieces(ctx, n, d, func(lo, hi int) {
		z.Slice(lo, hi, 0, d).(*mat.Dense).Mul(x.Slice(lo, hi, 0, d), l.T())
	})
	return z, err
}

// gather writes aᵀ x to g, row by row.
func gather(ctx context.Context, g []float64, a, x *mat.Dense) error {
	n, d := x.Dims()
	to := blas64.General{Rows: d, Cols: d, Stride: d, Data: g}
	clear(g)
	return pieces(ctx, n, d, func(lo, hi int) {
		blas64.Gemm(blas.Trans, blas.NoTrans, 1, a.Slice(lo, hi, 0, d).(*mat.Dense).RawMatrix(),
			x.Slice(lo, hi, 0, d).(*mat.Dense).RawMatrix(), 1, to)
	})
}
