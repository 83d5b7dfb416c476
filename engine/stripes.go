package engine

import (
	"context"
	"errors"
	"fmt"
	"github.com/gramengine/gram/engine/internal/compute"

	"github.com/gramengine/gram/tiles"
)

// stripeRows is the number of rows in a stripe: two panels a worker, so that no worker waits long for the others at its end.
func (e *Engine) stripeRows() int { return stripeRows(e.Len(), e.c.Workers, e.c.Kernels.Panel) }

func stripeRows(documents, workers, panel int) int { return min(2*workers*panel, max(documents, 1)) }

// StripesBytes returns the memory that Stripes allocates, in bytes.
func (e *Engine) StripesBytes() int64 { return stripesBytes(e.stripeRows(), e.Len()) }

func stripesBytes(height, documents int) int64 {
	one := compute.MatrixBytes(height, documents)
	return compute.Together(one, one)
}

// StripesBytes returns what the method of that name of an engine with these options says for so many documents. It is known before there is one.
func (o Options) StripesBytes(documents int) (int64, error) {
	kernels, workers, err := o.resolve()
	if err != nil {
		return 0, err
	}
	if documents < 0 {
		return 0, fmt.Errorf("engine: stripes of %d documents, expected a number not below 0", documents)
	}
	return stripesBytes(stripeRows(documents, workers, kernels.Panel), documents), nil
}

// Stripes computes all rows of the Gram matrix of k in order, a stripe of rows at a time, and hands
// each to yield with the number of its first row; yield must not keep the stripe. The next stripe
// is computed while yield runs. An error of yield ends the computation, as does a panic, which
// comes back as a [tiles.PanicError].
//
// It allocates StripesBytes, two stripes, however large the matrix is; in return every pair is computed twice, for (i, j) and for (j, i).
func (e *Engine) Stripes(ctx context.Context, k Kernel, yield func(first int, stripe *Dense) error) (err error) {
	if k, err = e.bind(k); err != nil {
		return err
	}
	if yield == nil {
		return errors.New("engine: a nil function yield, expected one that takes stripes")
	}
	if err := e.fits("two stripes of the Gram matrix", e.StripesBytes()); err != nil {
		return err
	}
	n, height := e.Len(), e.stripeRows()
	ctx, report := e.c.Start(ctx, int64(n)*int64(n))
	defer report.Finish(&err)

	type stripe struct {
		first, rows int
		data        []float32 // of height rows
	}
	free := make(chan []float32, 2)
	free <- NewDense(height, n).Data
	free <- NewDense(height, n).Data
	ready := make(chan stripe)
	compute := func(ctx context.Context) error {
		defer close(ready)
		for first := 0; first < n; first += height {
			rows := make([]int, min(height, n-first))
			for i := range rows {
				rows[i] = first + i
			}
			select {
			case data := <-free:
				d := &Dense{Rows: len(rows), Cols: n, Data: data[:len(rows)*n]}
				// A device may panic here, on a goroutine that the caller knows nothing of.
				err := guarded("Options.Device", func() error { return e.rows(ctx, k, nil, rows, d, report) })
				if err != nil {
					return err
				}
				select {
				case ready <- stripe{first, len(rows), data}:
				case <-ctx.Done():
					return context.Cause(ctx)
				}
			case <-ctx.Done():
				return context.Cause(ctx)
			}
		}
		return nil
	}
	hand := func() error {
		for s := range ready {
			part := s.data[: s.rows*n : s.rows*n]
			err := guarded("yield", func() error { return yield(s.first, &Dense{Rows: s.rows, Cols: n, Data: part}) })
			if err != nil {
				return err
			}
			free <- s.data
		}
		return nil
	}
	// A yield that ends its goroutine, such as one that calls t.Fatal, is an error of Run.
	return tiles.Run(ctx, 2, 2, func(ctx context.Context, _, task int) error {
		if task == 0 {
			return compute(ctx)
		}
		return hand()
	})
}
