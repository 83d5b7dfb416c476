package main

import (
	"context"
	"runtime"
	"sync"

	"github.com/gramengine/gram/engine"
)

// gramOperator is a Gram matrix by its products: with the matrix m where there is one, otherwise with its rows as they are computed, a stripe at a time.
// Each value of a product is added up by one goroutine in the order of the columns, so that products have the same bits either way and from any number of workers.
type gramOperator struct {
	eng     *engine.Engine
	k       engine.Kernel
	m       *engine.Symmetric
	workers int
}

func (o *gramOperator) Len() int {
	if o.m != nil {
		return o.m.N
	}
	return o.eng.Len()
}

// Apply is spectrum.Operator's.
func (o *gramOperator) Apply(ctx context.Context, dst, src []float64) error {
	return o.rows(ctx, func(i int, row []float32) { dst[i] = dotFloat32(row, src) })
}

// rows calls visit for every row, from several goroutines.
func (o *gramOperator) rows(ctx context.Context, visit func(i int, row []float32)) error {
	if o.m != nil {
		return o.share(ctx, 0, o.m.N, o.m.Row, visit)
	}
	return o.eng.Stripes(ctx, o.k, func(first int, stripe *engine.Dense) error {
		return o.share(ctx, first, stripe.Rows, stripe.Row, visit)
	})
}

// share gives each worker a range of rows.
func (o *gramOperator) share(ctx context.Context, first, rows int, row func(int) []float32, visit func(int, []float32)) error {
	workers := o.workers
	if workers == 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	workers = min(workers, rows)
	var group sync.WaitGroup
	for w := range workers {
		group.Go(func() {
			for i := w * rows / workers; i < (w+1)*rows/workers && ctx.Err() == nil; i++ {
				visit(first+i, row(i))
			}
		})
	}
	group.Wait()
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return nil
}

// dotFloat32 returns Σ a[i] b[i] in float64, in four sums: one alone waits for itself at every addition.
func dotFloat32(a []float32, b []float64) float64 {
	var s0, s1, s2, s3 float64
	b = b[:len(a)]
	i := 0
	for ; i+4 <= len(a); i += 4 {
		s0 += float64(a[i]) * b[i]
		s1 += float64(a[i+1]) * b[i+1]
		s2 += float64(a[i+2]) * b[i+2]
		s3 += float64(a[i+3]) * b[i+3]
	}
	for ; i < len(a); i++ {
		s0 += float64(a[i]) * b[i]
	}
	return (s0 + s1) + (s2 + s3)
}

// traces returns the trace, and the sum of all squared values, which is that of the squared eigenvalues: of the centred matrix P K P, if asked,
//
//	tr PKP = tr K - n m,   ‖PKP‖² = ‖K‖² - 2n Σ mᵢ² + n² m²,   mᵢ the mean of row i, m that of all
func (o *gramOperator) traces(ctx context.Context, centre bool) (trace, squares float64, err error) {
	n := o.Len()
	diagonal, square, mean := make([]float64, n), make([]float64, n), make([]float64, n)
	err = o.rows(ctx, func(i int, row []float32) {
		diagonal[i] = float64(row[i])
		for _, v := range row {
			square[i] += float64(v) * float64(v)
			mean[i] += float64(v)
		}
		mean[i] /= float64(n)
	})
	if err != nil {
		return 0, 0, err
	}
	all, meanSquares := 0.0, 0.0
	for i := range n {
		trace += diagonal[i]
		squares += square[i]
		all += mean[i] / float64(n)
		meanSquares += mean[i] * mean[i]
	}
	if centre {
		trace -= float64(n) * all
		squares -= 2*float64(n)*meanSquares - float64(n)*float64(n)*all*all
	}
	return trace, max(squares, 0), nil
}
