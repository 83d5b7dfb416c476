package engine

import (
	"context"
	"errors"
	"fmt"

	"github.com/gramengine/gram/engine/device"
	"github.com/gramengine/gram/engine/internal/compute"
	"github.com/gramengine/gram/engine/kernel"
	"github.com/gramengine/gram/internal/run"
	"github.com/gramengine/gram/sparse"
	"github.com/gramengine/gram/tiles"
)

// Gram returns the n×n matrix k(xᵢ, xⱼ) over all pairs of documents. Each pair is computed once and stored twice.
//
// It allocates GramBytes. If that is more than Options.MemoryBytes or the machine leaves, it fails with a [MemoryError]
// at once. It returns within a second after ctx is done.
func (e *Engine) Gram(ctx context.Context, k kernel.Kernel) (*Symmetric, error) {
	if _, err := e.bind(k); err != nil {
		return nil, err
	}
	if err := e.fits(ctx, "the Gram matrix", e.GramBytes()); err != nil {
		return nil, err
	}
	g, err := newSymmetric(ctx, e.Len())
	if err == nil {
		err = e.GramTo(ctx, k, g)
	}
	if err != nil {
		return nil, err
	}
	return g, nil
}

// GramTo is Gram into an existing matrix of Len rows. After an error its values are undefined.
func (e *Engine) GramTo(ctx context.Context, k kernel.Kernel, g *Symmetric) (err error) {
	if k, err = e.bind(k); err != nil {
		return err
	}
	if g == nil {
		return errors.New("engine: no destination, expected a matrix")
	}
	if n := e.Len(); g.N != n || len(g.Data) != n*n {
		return fmt.Errorf("engine: destination of %d rows with %d values, expected %d rows and columns", g.N, len(g.Data), n)
	}
	ctx, report := e.c.Start(ctx, compute.PairsOf(g.N))
	defer report.Finish(&err)
	return e.c.Half(ctx, k, run.Numbers(0, g.N), g.Data, report, nil)
}

// Rows writes the rows of the Gram matrix of the given documents, in any order: dst has len(rows)
// rows and Len columns.
func (e *Engine) Rows(ctx context.Context, k kernel.Kernel, rows []int, dst *Dense) (err error) {
	if k, err = e.bind(k); err != nil {
		return err
	}
	if err := dst.hasShape(len(rows), e.Len()); err != nil {
		return err
	}
	for _, i := range rows {
		if i < 0 || i >= e.Len() {
			return fmt.Errorf("engine: row %d, expected one from 0 to %d", i, e.Len()-1)
		}
	}
	ctx, report := e.c.Start(ctx, int64(len(rows))*int64(e.Len()))
	defer report.Finish(&err)
	return e.rows(ctx, k, nil, rows, dst, report)
}

// rows is Rows for the documents docs of from, nil for the engine's own.
func (e *Engine) rows(
	ctx context.Context, k kernel.Kernel, from *sparse.Embedded, docs []int, dst *Dense, report *run.Reporter,
) error {
	n := e.Len()
	r := &device.Request{From: from, Docs: docs, Hi: n, Workers: e.c.Workers}
	return e.c.Rows(ctx, k, r, report, func(t *device.Tile) error {
		e.c.Store(dst.Data[t.First*n+t.Lo:], n, t, false)
		return nil
	})
}

// Cross returns the matrix of k between test documents, its rows, and the engine's documents, its columns. Both must
// have been embedded by the same embedder.
func (e *Engine) Cross(ctx context.Context, k kernel.Kernel, test *sparse.Embedded) (*Dense, error) {
	k, err := e.bindCross(k, test)
	if err != nil {
		return nil, err
	}
	n, m := e.Len(), test.Rows()
	err = e.fits(ctx, "the cross matrix", run.AddBytes(compute.MatrixBytes(m, n), NewBytes(m, test.Cols, test.NNZ())))
	if err != nil {
		return nil, err
	}
	dst := &Dense{Rows: m, Cols: n}
	if dst.Data, err = tiles.MakeContext(ctx, m*n); err == nil {
		err = e.crossTo(ctx, k, test, dst)
	}
	if err != nil {
		return nil, err
	}
	return dst, nil
}

// CrossTo is [Engine.Cross] into an existing matrix. After an error its values are undefined.
func (e *Engine) CrossTo(ctx context.Context, k kernel.Kernel, test *sparse.Embedded, dst *Dense) error {
	k, err := e.bindCross(k, test)
	if err == nil {
		err = dst.hasShape(test.Rows(), e.Len())
	}
	if err != nil {
		return err
	}
	return e.crossTo(ctx, k, test, dst)
}

// crossTo is CrossTo with valid arguments.
func (e *Engine) crossTo(ctx context.Context, k kernel.Kernel, test *sparse.Embedded, dst *Dense) (err error) {
	ctx, report := e.c.Start(ctx, int64(dst.Rows)*int64(dst.Cols))
	defer report.Finish(&err)
	return e.rows(ctx, k, e.other(test), run.Numbers(0, dst.Rows), dst, report)
}

// other returns documents that aren't the engine's own, else nil.
func (e *Engine) other(x *sparse.Embedded) *sparse.Embedded {
	if x == e.c.X {
		return nil
	}
	return x
}

// GramBytes returns the memory that Gram allocates, in bytes.
func (e *Engine) GramBytes() int64 { return compute.MatrixBytes(e.Len(), e.Len()) }
