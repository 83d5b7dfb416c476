package engine

import (
	"context"

	"github.com/gramengine/gram/engine/internal/compute"
	"github.com/gramengine/gram/engine/kernel"
	"github.com/gramengine/gram/internal/run"
)

// stripeRows is the number of rows in a stripe: two panels a worker, so that no worker waits long at its end.
func stripeRows(documents, workers, panel int) int { return min(2*workers*panel, max(documents, 1)) }

// StripesBytes returns the memory that Stripes allocates, in bytes.
func (e *Engine) StripesBytes() int64 { return stripesBytes(e.Len(), e.c.Workers, e.c.Kernels.Panel) }

func stripesBytes(documents, workers, panel int) int64 {
	return 2 * compute.MatrixBytes(stripeRows(documents, workers, panel), documents)
}

// StripesBytes returns [Engine.StripesBytes] of an engine with these options.
func (o Options) StripesBytes(documents int) (int64, error) {
	kernels, workers, err := o.resolve()
	if err != nil {
		return 0, err
	}
	return stripesBytes(documents, workers, kernels.Panel), nil
}

// Stripes computes all rows of the Gram matrix of k in order and calls yield with each stripe of rows and the number of
// its first row; yield must not keep the stripe. The next stripe is computed meanwhile. An error or panic of yield
// stops the computation. It allocates two stripes, StripesBytes; in return every pair is computed twice.
func (e *Engine) Stripes(ctx context.Context, k kernel.Kernel, yield func(first int, stripe *Dense) error) (err error) {
	if k, err = e.bind(k); err != nil {
		return err
	}
	if err := e.fits(ctx, "two stripes of the Gram matrix", e.StripesBytes()); err != nil {
		return err
	}
	n, height := e.Len(), stripeRows(e.Len(), e.c.Workers, e.c.Kernels.Panel)
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
