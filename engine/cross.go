package engine

import (
	"context"
	"errors"
	"fmt"

	"github.com/gramengine/gram/engine/kernel"
	"github.com/gramengine/gram/sparse"
)

// CrossTiles computes k between the engine's documents, the rows of tiles, and test documents, the
// columns, and hands it to visit a tile at a time: all engine's documents from the first to the
// last for one panel of test documents, then for the next. Values have the same bits as those of
// [Engine.Cross]. An error of visit ends the computation, as does a panic, which comes back as a
// [tiles.PanicError]; so does the end of ctx, within a second, with its error.
//
// It runs on the caller's goroutine, reports no progress and needs no memory for results: a caller with many test documents calls it from several goroutines,
// each with some of them, and takes the results while they are in the cache. It holds CrossTilesBytes. Both sides must have been embedded by the same embedder.
func (e *Engine) CrossTiles(ctx context.Context, k Kernel, test *sparse.Embedded, visit func(t *Tile) error) error {
	k, err := e.bindCross(k, test)
	if err != nil {
		return err
	}
	if visit, err = visitor(visit); err != nil {
		return err
	}
	if e.device != nil {
		return e.deviceCrossTiles(ctx, k, test, visit)
	}
	from, err := e.testSide(ctx, test, 1)
	if err != nil {
		return err
	}
	p := e.borrow() // given back unless a panic leaves it as it is
	width := e.kernels.Panel
	docs := make([]int, 0, width)
	for first := 0; first < test.Rows(); first += width {
		docs = docs[:0]
		for i := first; i < min(first+width, test.Rows()); i++ {
			docs = append(docs, i)
		}
		var t Tile
		p.load(from, docs)
		err := p.run(ctx, all, func(lo, hi int, c []float32) error {
			if err := kernel.Map(k, e.kernels, c, c, e.own.norms[lo:hi], p.norms); err != nil {
				return err
			}
			p.lap(&p.stats.Map)
			t = Tile{First: lo, Rows: hi - lo, Column: first, Cols: len(docs), Width: width, C: c}
			err := visit(&t)
			p.lap(&p.stats.Store)
			return err
		})
		p.unload()
		if err != nil {
			e.giveBack(p)
			return err
		}
	}
	e.giveBack(p)
	return nil
}

// CrossTilesBytes returns what one call of CrossTiles holds beside its test documents, rows of so many values in all, and the scratch space that belongs to the engine.
func (e *Engine) CrossTilesBytes(rows int, values int64) int64 {
	return NewBytes(rows, e.own.x.Cols, values) - sparse.EmbeddedBytes(rows, values)
}

// bindCross checks that a kernel and test documents fit.
func (e *Engine) bindCross(k Kernel, test *sparse.Embedded) (Kernel, error) {
	if test == nil {
		return nil, errors.New("engine: no test documents, expected some")
	}
	if test.Embedder != e.own.x.Embedder {
		return nil, errors.New("engine: test documents were embedded by another embedder, " +
			"expected the one fitted on the training documents")
	}
	k, err := e.bind(k)
	if err != nil || test == e.own.x {
		return k, err
	}
	if err := test.Validate(); err != nil {
		return nil, fmt.Errorf("engine: test documents: %w", err)
	}
	if kernel.UsesNorms(k) {
		if err := checkNorms(test); err != nil {
			return nil, fmt.Errorf("engine: kernel %s is a function of the test documents' norms: %w", k, err)
		}
	}
	return k, nil
}
