package lmnn

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/gramengine/gram/internal/musttest"
)

func normal(n, d int, seed uint64) *mat.Dense {
	r := rand.New(rand.NewPCG(seed, 3))
	out := mat.NewDense(n, d, nil)
	for i := range n {
		for c := range d {
			out.Set(i, c, r.NormFloat64())
		}
	}
	return out
}

// Products computed in pieces have the same bits as a single product.
func TestPieces(t *testing.T) {
	for _, d := range []int{1, 3, 63, 64, 65, 130, 192, 193, 260} {
		for _, n := range []int{1, 63, 65, 130, 255, 256, 511, 512, 515, 900} {
			x, l, a := normal(n, d, 1), normal(d, d, 2), normal(n, d, 3)
			var want, slope mat.Dense
			want.Mul(x, l.T())
			slope.Mul(a.T(), x)
			z, err := applyTransform(t.Context(), x, l)
			g := make([]float64, d*d)
			g[0] = 7 // previous values are overwritten
			musttest.NoError(t, errors.Join(err, multiplyTransposed(t.Context(), g, a, x)))
			if !mat.Equal(z, &want) || !slices.Equal(g, slope.RawMatrix().Data) {
				t.Errorf("%d documents of %d columns: other bits", n, d)
			}
		}
	}
}

// soon is a context that is done after a number of calls of Err.
type soon struct {
	context.Context
	left int
}

func (c *soon) Err() error {
	if c.left--; c.left < 0 {
		return context.Canceled
	}
	return nil
}

// Products check their context at least every 2·256·192² or 2·64·d² operations, about half a
// billion for the maximum number of columns d.
func TestProductsEnd(t *testing.T) {
	for _, c := range []struct{ n, d, looks int }{{2600, 3, 10}, {2600, 192, 10}, {2600, 193, 40}} {
		x, l := mat.NewDense(c.n, c.d, nil), mat.NewDense(c.d, c.d, nil)
		for name, product := range map[string]func(ctx context.Context) error{
			"under":  func(ctx context.Context) error { _, err := applyTransform(ctx, x, l); return err },
			"gather": func(ctx context.Context) error { return multiplyTransposed(ctx, l.RawMatrix().Data, x, x) },
		} {
			musttest.WantError(product(&soon{t.Context(), c.looks - 1}))(t,
				fmt.Sprintf("%s, %d columns", name, c.d), context.Canceled)
			if err := product(&soon{t.Context(), c.looks}); err != nil {
				t.Errorf("%s, %d columns: %v after %d looks", name, c.d, err, c.looks)
			}
		}
	}
}
