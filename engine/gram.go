package engine

import (
	"context"
	"errors"
	"fmt"

	"github.com/gramengine/gram/engine/device"
	"github.com/gramengine/gram/engine/internal/compute"
	"github.com/gramengine/gram/engine/kernel"
	"github.com/gramengine/gram/internal/run"
	"github.com/gramengine/gram/tiles"
)

// Gram returns the n×n matrix k(xᵢ, xⱼ) over all pairs of documents. It writes to dst, or to a new
// matrix if dst is nil. Each value is computed once and stored at (i, j) and (j, i). After an error
// the values of dst are undefined.
//
// A new matrix takes [MatrixBytes]. If this size exceeds Options.MemoryBytes or the free memory,
// Gram fails with a [MemoryError] before it computes anything. Gram returns within a second after
// ctx is done.
func (e *Engine) Gram(ctx context.Context, k kernel.Kernel, dst *Symmetric) (_ *Symmetric, err error) {
	if k, err = e.bind(k); err != nil {
		return nil, err
	}
	n := e.Len()
	if dst == nil {
		if err := e.checkFits(ctx, "the Gram matrix", MatrixBytes(n, n)); err != nil {
			return nil, err
		}
		if dst, err = newSymmetric(ctx, n); err != nil {
			return nil, err
		}
	} else if dst.N != n || len(dst.Data) != n*n {
		return nil, fmt.Errorf("engine: destination has %d rows and %d values, but the Gram matrix is %[3]d×%[3]d",
			dst.N, len(dst.Data), n)
	}
	ctx, report := e.c.StartProgress(ctx, compute.TrianglePairCount(n))
	defer report.Finish(&err)
	return dst, e.c.ComputeUpper(ctx, k, run.Range(0, n), dst.Data, report, nil)
}

// Rows returns the values that q selects, with one matrix row per row of q. The values are from the
// cross matrix if q.TestDocuments is set, otherwise from the Gram matrix. Rows writes to dst, or to
// a new matrix if dst is nil. It fails if q is invalid, if q.OmitSymmetric is set, or for the same
// reasons as [Engine.Gram].
func (e *Engine) Rows(ctx context.Context, k kernel.Kernel, q Request, dst *Dense) (_ *Dense, err error) {
	if k, err = e.resolve(k, &q); err != nil {
		return nil, err
	}
	if q.OmitSymmetric {
		return nil, errors.New("engine: Rows does not support OmitSymmetric")
	}
	rows, cols := len(q.RowIndices), q.ColumnRange[1]-q.ColumnRange[0]
	if dst == nil {
		bytes := MatrixBytes(rows, cols)
		if q.TestDocuments != nil {
			bytes = run.AddBytes(bytes, MaxEngineBytes(rows, q.TestDocuments.Cols, q.TestDocuments.NNZ()))
		}
		if err := e.checkFits(ctx, fmt.Sprintf("a %d×%d matrix", rows, cols), bytes); err != nil {
			return nil, err
		}
		dst = &Dense{Rows: rows, Cols: cols}
		if dst.Data, err = tiles.MakeFloatsContext(ctx, rows*cols); err != nil {
			return nil, err
		}
	} else if err := dst.checkShape(rows, cols); err != nil {
		return nil, err
	}
	ctx, report := e.c.StartProgress(ctx, int64(rows)*int64(cols))
	defer report.Finish(&err)
	return dst, e.computeRows(ctx, k, e.deviceRequest(&q, 0), dst, report)
}

func (e *Engine) computeRows(
	ctx context.Context, k kernel.Kernel, r *device.Request, dst *Dense, report *run.Reporter,
) error {
	return e.c.ComputeRows(ctx, k, r, report, func(t *device.Tile) error {
		e.c.Store(dst.Data[t.FirstRow*dst.Cols+t.Lo-r.Lo:], dst.Cols, t, false)
		return nil
	})
}

// Diagonal returns k(xᵢ, xᵢ) for all documents.
func (e *Engine) Diagonal(k kernel.Kernel) ([]float32, error) {
	k, err := e.bind(k)
	if err != nil {
		return nil, err
	}
	return e.c.Diagonal(k)
}

// MatrixBytes returns the size of a rows×cols matrix of float32 values in bytes.
func MatrixBytes(rows, cols int) int64 { return compute.MatrixBytes(rows, cols) }
