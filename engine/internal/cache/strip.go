package cache

import (
	"context"

	"github.com/gramengine/gram/engine/device"
	"github.com/gramengine/gram/engine/internal/compute"
	"github.com/gramengine/gram/engine/kernel"
	"github.com/gramengine/gram/internal/run"
	"github.com/gramengine/gram/tiles"
)

// panelsFrom returns the documents of the panels whose first document is from first on and before
// end, of a computer's documents.
func panelsFrom(of *compute.Computer, first, end int) (lo, hi int) {
	width := of.Kernels.Panel
	up := func(i int) int { return min((i+width-1)/width*width, of.Len()) }
	return up(first), up(end)
}

// stepRows is how many of rows Strip computes at a time: two panels for each worker.
func stepRows(of *compute.Computer, rows int) int { return min(rows, 2*of.Workers*of.Kernels.Panel) }

// StripBytes returns what Strip holds, in bytes.
func StripBytes(of *compute.Computer, first, end int) int64 {
	lo, hi := panelsFrom(of, first, end)
	return compute.MatrixBytes(stepRows(of, hi-lo), of.Len()-lo)
}

// Strip computes c of the panels whose first document is from first on and before end, and hands each
// to yield, in sequence, as a store would hold it.
func Strip(
	ctx context.Context, of *compute.Computer, first, end int,
	yield func(p tiles.Piece, row func(i int) []float32) error,
) (err error) {
	n := of.Len()
	lo, hi := panelsFrom(of, first, end)
	ctx, report := of.Start(ctx, compute.PairsOf(n-lo)-compute.PairsOf(n-hi))
	defer report.Finish(&err)
	matrix, err := of.Identity(ctx)
	if err != nil {
		return err
	}
	step := stepRows(of, hi-lo)
	c, err := tiles.MakeContext(ctx, step*(n-lo))
	if err != nil {
		return err
	}
	for ; lo < hi; lo += step {
		end, width := min(lo+step, hi), n-lo
		if err := rowsOf(ctx, of, lo, end, c, report); err != nil {
			return err
		}
		for p := lo; p < end; p += of.Kernels.Panel {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			err := yield(pieceOf(matrix, p, min(p+of.Kernels.Panel, n), n), func(i int) []float32 {
				return c[(p-lo+i)*width+p-lo:][:n-p]
			})
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// rowsOf writes c of the documents lo <= i < hi, whole panels, and lo <= j to rows of dst; before the
// panel of i it has no meaning.
func rowsOf(
	ctx context.Context, of *compute.Computer, lo, hi int, dst []float32, report *run.Reporter,
) error {
	n := of.Len()
	width := n - lo
	r := &device.Request{Docs: make([]int, hi-lo), Hi: n, Half: true, Workers: of.Workers}
	for i := range r.Docs {
		r.Docs[i] = lo + i
	}
	return of.Rows(ctx, kernel.C(), r, report, func(t *device.Tile) error {
		row, column := t.First, t.Lo-lo
		of.Store(dst[row*width+column:], width, t, false)
		if column < hi-lo { // both of (i, j) and (j, i), since a panel's file has both of its own
			above := compute.Part(t, row, row+t.Rows, t.Lo, min(t.Hi, hi))
			of.Store(dst[column*width+row:], width, &above, true)
		}
		return nil
	})
}
