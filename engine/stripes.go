package engine

import (
	"context"
	"errors"
	"fmt"

	"github.com/gramengine/gram/engine/internal/compute"
	"github.com/gramengine/gram/engine/kernel"
	"github.com/gramengine/gram/internal/run"
)

// stripeRows is the number of rows in a stripe: two panels a worker, so that no worker waits long
// for the others at its end.
func (e *Engine) stripeRows() int { return stripeRows(e.Len(), e.c.Workers, e.c.Kernels.Panel) }

func stripeRows(documents, workers, panel int) int { return min(2*workers*panel, max(documents, 1)) }

// StripesBytes returns the memory that Stripes allocates, in bytes.
func (e *Engine) StripesBytes() int64 { return stripesBytes(e.stripeRows(), e.Len()) }

func stripesBytes(height, documents int) int64 {
	one := compute.MatrixBytes(height, documents)
	return run.AddBytes(one, one)
}

// StripesBytes returns what the method of that name of an engine with these options says for so
// many documents. It is known before there is one.
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
// comes back as a [PanicError].
//
// It allocates StripesBytes, two stripes, however large the matrix is; in return every pair is
// computed twice, for (i, j) and for (j, i).
func (e *Engine) Stripes(ctx context.Context, k kernel.Kernel, yield func(first int, stripe *Dense) error) (err error) {
	if k, err = e.bind(k); err != nil {
		return err
	}
	if yield == nil {
		return errors.New("engine: a nil function yield, expected one that takes stripes")
	}
	if err := e.fits(ctx, "two stripes of the Gram matrix", e.StripesBytes()); err != nil {
		return err
	}
	n, height := e.Len(), e.stripeRows()
	ctx, report := e.c.Start(ctx, int64(n)*int64(n))
	defer report.Finish(&err)

	buffers := [2][]float32{NewDense(height, n).Data, NewDense(height, n).Data}
	stripe := func(first int) *Dense {
		rows := min(height, n-first)
		return &Dense{Rows: rows, Cols: n, Data: buffers[first/height%2][: rows*n : rows*n]}
	}
	for first := 0; first < n+height; first += height {
		// A yield that ends its goroutine, such as one that calls t.Fatal, is an error of Run.
		err := run.Tasks(ctx, 2, 2, func(ctx context.Context, _, task int) error {
			switch last := first - height; {
			case task == 0 && first < n:
				d := stripe(first)
				rows := run.Numbers(0, first+d.Rows)[first:]
				// A device may panic here, on a goroutine that the caller knows nothing of.
				return run.Guard("engine: Options.Device", func() error { return e.rows(ctx, k, nil, rows, d, report) })
			case task == 1 && last >= 0:
				return run.Guard("engine: yield", func() error { return yield(last, stripe(last)) })
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}
