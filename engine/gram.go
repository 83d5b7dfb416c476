package engine

import (
	"context"
	"fmt"

	"github.com/gramengine/gram/engine/internal/shape"
	"github.com/gramengine/gram/engine/kernel"
	"github.com/gramengine/gram/sparse"
	"github.com/gramengine/gram/tiles"
)

// Gram returns the n×n matrix k(xᵢ, xⱼ) over all pairs of documents. Each pair is computed once and stored twice.
//
// It allocates GramBytes, and fails with a [MemoryError] before that where Options.MemoryBytes, or
// what the machine has left, is less. It returns within a second of the end of ctx, with its error.
func (e *Engine) Gram(ctx context.Context, k Kernel) (*Symmetric, error) {
	k, err := e.bind(k)
	if err != nil {
		return nil, err
	}
	if err := e.fits("the Gram matrix", e.GramBytes()); err != nil {
		return nil, err
	}
	n := e.Len()
	g := &Symmetric{N: n, Data: tiles.Make(n * n)}
	if err := e.GramTo(ctx, k, g); err != nil {
		return nil, err
	}
	return g, nil
}

// GramTo is Gram into a matrix that there is already, of Len rows and columns, whose memory may be that of an earlier result. After an error the
// matrix holds anything.
func (e *Engine) GramTo(ctx context.Context, k Kernel, g *Symmetric) (err error) {
	n, width := e.Len(), e.kernels.Panel
	if k, err = e.bind(k); err != nil {
		return err
	}
	if g == nil {
		return fmt.Errorf("engine: a nil destination, expected one of %d rows", n)
	}
	if g.N != n || !shape.IsProduct(len(g.Data), n, n) {
		return fmt.Errorf("engine: destination of %d rows with %d values, expected %d rows and columns",
			g.N, len(g.Data), n)
	}
	ctx, report := startProgress(ctx, e.progress, pairsOf(n))
	defer report.finish(&err)
	if e.device != nil {
		return e.deviceGram(ctx, k, g.Data, report)
	}
	return e.panels(ctx, e.own, n, func(p *panel, first int) error {
		return p.run(ctx, half, func(lo, hi int, c []float32) error {
			if err := kernel.Map(k, e.kernels, c, c, e.own.norms[lo:hi], p.norms); err != nil {
				return err
			}
			p.lap(&p.stats.Map)
			cols := len(p.docs)
			for j := lo; j < hi; j++ {
				copy(g.Data[j*n+first:j*n+first+cols], c[(j-lo)*width:])
			}
			p.storeColumns(g.Data[first*n+lo:], n, c)
			p.lap(&p.stats.Store)
			report.done.Add(pairsFrom(first, cols, lo, hi))
			return nil
		})
	})
}

// pairsFrom counts the pairs of documents lo <= j < hi with the cols documents of a panel from first on that belong to the half j >= i.
func pairsFrom(first, cols, lo, hi int) int64 {
	var pairs int64
	for i := first; i < first+cols; i++ {
		pairs += int64(max(hi-max(lo, i), 0))
	}
	return pairs
}

// storeColumns writes the columns of a tile that belong to documents as rows of dst.
func (p *panel) storeColumns(dst []float32, stride int, tile []float32) {
	width := p.e.kernels.Panel
	p.e.kernels.Transpose(dst, stride, tile, width, len(tile)/width, len(p.docs))
}

// panels runs work on the documents of from, a panel at a time in their own order, with first the panel's first document.
func (e *Engine) panels(ctx context.Context, from *side, rows int, work func(p *panel, first int) error) error {
	docs := make([]int, rows)
	for i := range docs {
		docs[i] = i
	}
	return e.panelsOf(ctx, from, docs, work)
}

// panelsOf is panels for any documents; first is the number, in docs, of the panel's first.
func (e *Engine) panelsOf(ctx context.Context, from *side, docs []int, work func(p *panel, first int) error) error {
	width := e.kernels.Panel
	held := make([]*panel, min(e.workers, len(docs)/width+1))
	defer func() {
		for _, p := range held {
			if p != nil {
				e.giveBack(p)
			}
		}
	}()
	return tiles.Run(ctx, e.workers, (len(docs)+width-1)/width, func(ctx context.Context, w, task int) error {
		if held[w] == nil {
			held[w] = e.borrow()
		}
		p := held[w]
		held[w] = nil // what panics leaves scratch space that nobody may use again
		first := task * width
		p.load(from, docs[first:min(first+width, len(docs))])
		err := work(p, first)
		p.unload()
		held[w] = p
		return err
	})
}

// Rows writes the rows of the Gram matrix of the given documents, in any order: dst has len(rows) rows and Len columns.
func (e *Engine) Rows(ctx context.Context, k Kernel, rows []int, dst *Dense) (err error) {
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
	ctx, report := startProgress(ctx, e.progress, int64(len(rows))*int64(e.Len()))
	defer report.finish(&err)
	return e.rows(ctx, k, e.own, rows, dst, report)
}

// rows is Rows for the documents docs of any side.
func (e *Engine) rows(ctx context.Context, k Kernel, from *side, docs []int, dst *Dense, report *progress) error {
	n := e.Len()
	if e.device != nil {
		return e.deviceRows(ctx, k, from.x, docs, dst, report)
	}
	return e.panelsOf(ctx, from, docs, func(p *panel, first int) error {
		return p.run(ctx, all, func(lo, hi int, c []float32) error {
			if err := kernel.Map(k, e.kernels, c, c, e.own.norms[lo:hi], p.norms); err != nil {
				return err
			}
			p.lap(&p.stats.Map)
			p.storeColumns(dst.Data[first*n+lo:], n, c)
			p.lap(&p.stats.Store)
			report.done.Add(int64(hi-lo) * int64(len(p.docs)))
			return nil
		})
	})
}

// Cross returns the matrix of k between test documents, its rows, and the engine's documents, its columns. Both must have been embedded
// by the same embedder.
func (e *Engine) Cross(ctx context.Context, k Kernel, test *sparse.Embedded) (*Dense, error) {
	k, err := e.bindCross(k, test)
	if err != nil {
		return nil, err
	}
	n, m := e.Len(), test.Rows()
	if err := e.fits("the cross matrix", together(matrixBytes(m, n), NewBytes(m, test.Cols, test.NNZ()))); err != nil {
		return nil, err
	}
	dst := NewDense(m, n)
	if err := e.crossTo(ctx, k, test, dst); err != nil {
		return nil, err
	}
	return dst, nil
}

// CrossTo is [Engine.Cross] into a matrix that there is already, of as many rows as test has and Len columns, whose memory may be that of an earlier result. After an
// error the matrix holds anything.
func (e *Engine) CrossTo(ctx context.Context, k Kernel, test *sparse.Embedded, dst *Dense) error {
	k, err := e.bindCross(k, test)
	if err != nil {
		return err
	}
	if err := dst.hasShape(test.Rows(), e.Len()); err != nil {
		return err
	}
	return e.crossTo(ctx, k, test, dst)
}

// crossTo is CrossTo for a kernel that is bound and a matrix that fits. A device takes test documents as they are; panels take them in head/tail form.
func (e *Engine) crossTo(ctx context.Context, k Kernel, test *sparse.Embedded, dst *Dense) (err error) {
	ctx, report := startProgress(ctx, e.progress, int64(dst.Rows)*int64(dst.Cols))
	defer report.finish(&err)
	if e.device != nil {
		return e.deviceRows(ctx, k, test, sequence(dst.Rows), dst, report)
	}
	from, err := e.testSide(ctx, test, e.workers)
	if err != nil {
		return err
	}
	return e.rows(ctx, k, from, sequence(dst.Rows), dst, report)
}

// GramBytes returns the memory that Gram allocates, in bytes.
func (e *Engine) GramBytes() int64 { return matrixBytes(e.Len(), e.Len()) }
