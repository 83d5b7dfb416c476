package engine

import (
	"context"
	"fmt"

	"github.com/gramengine/gram/engine/device"
	"github.com/gramengine/gram/engine/internal/compute"
	"github.com/gramengine/gram/engine/internal/shape"
	"github.com/gramengine/gram/engine/kernel"
	"github.com/gramengine/gram/internal/run"
	"github.com/gramengine/gram/sparse"
	"github.com/gramengine/gram/tiles"
)

// Gram returns the n×n matrix k(xᵢ, xⱼ) over all pairs of documents. Each pair is computed once and
// stored twice.
//
// It allocates GramBytes, and fails with a [MemoryError] before that where Options.MemoryBytes, or
// what the machine has left, is less. It returns within a second of the end of ctx, with its error.
func (e *Engine) Gram(ctx context.Context, k kernel.Kernel) (*Symmetric, error) {
	k, err := e.bind(k)
	if err != nil {
		return nil, err
	}
	if err := e.fits(ctx, "the Gram matrix", e.GramBytes()); err != nil {
		return nil, err
	}
	g, err := newSymmetric(ctx, e.Len())
	if err != nil {
		return nil, err
	}
	if err := e.gramTo(ctx, k, g); err != nil {
		return nil, err
	}
	return g, nil
}

// GramTo is Gram into a matrix that there is already, of Len rows and columns, whose memory may be
// that of an earlier result. After an error the matrix holds anything.
func (e *Engine) GramTo(ctx context.Context, k kernel.Kernel, g *Symmetric) error {
	n := e.Len()
	k, err := e.bind(k)
	if err != nil {
		return err
	}
	if g == nil {
		return fmt.Errorf("engine: a nil destination, expected one of %d rows", n)
	}
	if g.N != n || !shape.IsProduct(len(g.Data), n, n) {
		return fmt.Errorf("engine: destination of %d rows with %d values, expected %d rows and columns",
			g.N, len(g.Data), n)
	}
	return e.gramTo(ctx, k, g)
}

// gramTo is GramTo for a kernel that is bound and a matrix that fits.
func (e *Engine) gramTo(ctx context.Context, k kernel.Kernel, g *Symmetric) (err error) {
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

// Cross returns the matrix of k between test documents, its rows, and the engine's documents, its
// columns. Both must have been embedded by the same embedder.
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
	if dst.Data, err = tiles.MakeContext(ctx, m*n); err != nil {
		return nil, err
	}
	if err := e.crossTo(ctx, k, test, dst); err != nil {
		return nil, err
	}
	return dst, nil
}

// CrossTo is [Engine.Cross] into a matrix that there is already, of as many rows as test has and
// Len columns, whose memory may be that of an earlier result. After an error the matrix holds
// anything.
func (e *Engine) CrossTo(ctx context.Context, k kernel.Kernel, test *sparse.Embedded, dst *Dense) error {
	k, err := e.bindCross(k, test)
	if err != nil {
		return err
	}
	if err := dst.hasShape(test.Rows(), e.Len()); err != nil {
		return err
	}
	return e.crossTo(ctx, k, test, dst)
}

// crossTo is CrossTo for a kernel that is bound and a matrix that fits.
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
