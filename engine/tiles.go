package engine

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/gramengine/gram/engine/device"
	"github.com/gramengine/gram/engine/internal/compute"
	"github.com/gramengine/gram/engine/kernel"
	"github.com/gramengine/gram/internal/run"
	"github.com/gramengine/gram/sparse"
)

// Tile is a piece of c = 1 - cosine, or of a kernel of it, between some of an engine's documents,
// its rows, and up to Width others, its columns. It belongs to the function that it is handed to
// until that returns.
type Tile struct {
	First  int // first document of the rows
	Rows   int // number of rows: documents First, First+1, …
	Column int // first document of the columns
	Cols   int // number of columns: documents Column, Column+1, …
	Width  int // distance between rows in C, at least Cols
	// C[i*Width+j] is the value for documents First+i and Column+j; finite, but without meaning,
	// for Cols <= j < Width
	C []float32
}

// Tiles computes c for the symmetric half of all pairs and hands it to visit a tile at a time:
// every pair of documents i, j is in exactly one tile, as row i and column j or as row j and column i, and tiles on
// the diagonal hold both of these. visit is called from up to Workers goroutines at the
// same time, tiles come in no order, and an error of visit ends the computation, as does a panic,
// which comes back as a [PanicError]. No memory is needed for results.
func (e *Engine) Tiles(ctx context.Context, visit func(t *Tile) error) (err error) {
	if visit, err = visitor(visit); err != nil {
		return err
	}
	if err := e.open(); err != nil {
		return err
	}
	n := e.Len()
	ctx, report := e.c.Start(ctx, compute.PairsOf(n))
	defer report.Finish(&err)
	r := &device.Request{Docs: run.Numbers(0, n), Hi: n, Half: true, Workers: e.c.Workers}
	return e.c.Rows(ctx, kernel.C{}, r, report, e.either(r, visit))
}

// either hands parts of tiles of the symmetric half to visit, whose rows are those of the request where parts come by
// rows, and the columns of the request where they come by columns.
func (e *Engine) either(r *device.Request, visit func(t *Tile) error) func(t *device.Tile) error {
	columns := e.columns(r, visit)
	return func(t *device.Tile) error {
		if t.ColStride != 1 {
			return columns(t)
		}
		own := Tile{First: r.Docs[t.First], Rows: t.Rows, Column: t.Lo, Cols: t.Cols(), Width: t.RowStride, C: t.Value}
		return visit(&own)
	}
}

// columns hands parts of tiles to visit in the form of a [Tile], whose rows are the columns of the
// request: by columns they are that, others are transposed.
func (e *Engine) columns(r *device.Request, visit func(t *Tile) error) func(t *device.Tile) error {
	width := e.c.Kernels.Panel
	var spare sync.Pool
	return func(t *device.Tile) error {
		own := Tile{First: t.Lo, Rows: t.Cols(), Column: r.Docs[t.First], Cols: t.Rows, Width: t.ColStride, C: t.Value}
		if t.RowStride != 1 {
			c, ok := spare.Get().(*[]float32)
			if !ok {
				c = new([]float32)
				*c = make([]float32, compute.BlockDocs*width)
			}
			defer spare.Put(c)
			own.Width, own.C = width, (*c)[:t.Cols()*width]
			e.c.Store(own.C, width, t, true)
		}
		return visit(&own)
	}
}

// visitor returns visit with a panic as an error.
func visitor(visit func(t *Tile) error) (func(t *Tile) error, error) {
	if visit == nil {
		return nil, errors.New("engine: a nil function visit, expected one that takes tiles")
	}
	return func(t *Tile) error { return run.Guard("engine: visit", func() error { return visit(t) }) }, nil
}

// CrossTiles computes k between the engine's documents, the rows of tiles, and test documents, the
// columns, and hands it to visit a tile at a time: all engine's documents from the first to the
// last for one panel of test documents, then for the next. Values have the same bits as those of
// [Engine.Cross]. An error of visit ends the computation, as does a panic, which comes back as a
// [PanicError]; so does the end of ctx, within a second, with its error.
//
// It works on one goroutine at a time, reports no progress and needs no memory for results: a
// caller with many test documents calls it from several goroutines, each with some of them, as
// [Engine.Batches] says, and takes the results while they are in the cache. It holds
// CrossTilesBytes. Both sides must have been embedded by the same embedder.
func (e *Engine) CrossTiles(
	ctx context.Context, k kernel.Kernel, test *sparse.Embedded, visit func(t *Tile) error,
) error {
	return e.CrossTilesBy(ctx, k, test, 1, visit)
}

// CrossTilesBy is [Engine.CrossTiles] by so many workers. They share the panels of test documents:
// of one panel, the tiles come one after the other.
func (e *Engine) CrossTilesBy(
	ctx context.Context, k kernel.Kernel, test *sparse.Embedded, workers int, visit func(t *Tile) error,
) error {
	k, err := e.bindCross(k, test)
	if err != nil {
		return err
	}
	if visit, err = visitor(visit); err != nil {
		return err
	}
	if workers < 1 || workers > mostWorkers {
		return fmt.Errorf("engine: %d workers, expected from 1 to %d", workers, mostWorkers)
	}
	r := &device.Request{From: e.other(test), Docs: run.Numbers(0, test.Rows()), Hi: e.Len(), Workers: workers}
	return e.c.Rows(ctx, k, r, nil, e.columns(r, visit))
}

// CrossTilesBytes returns what one call of CrossTiles holds beside its test documents, rows of so
// many values in all, and what belongs to the engine. Where a device computes, the documents that
// it had last and transposed tiles are among it.
func (e *Engine) CrossTilesBytes(rows int, values int64) int64 {
	embedded := sparse.EmbeddedBytes(rows, values)
	bytes := NewBytes(rows, e.c.X.Cols, values) - embedded
	if _, ok := e.c.Backend.(device.Accelerator); ok {
		bytes += embedded + 4*int64(e.c.Workers)*compute.BlockDocs*int64(e.Panel())
	}
	return bytes
}

// checkCross checks that test documents fit.
func (e *Engine) checkCross(test *sparse.Embedded) error {
	if test == nil {
		return errors.New("engine: no test documents, expected some")
	}
	if test.Embedder != e.c.X.Embedder {
		return errors.New("engine: test documents were embedded by another embedder, " +
			"expected the one fitted on the training documents")
	}
	if test == e.c.X {
		return nil
	}
	if err := test.ValidateRows(); err != nil { // the embedder is that of the engine's documents
		return fmt.Errorf("engine: test documents: %w", err)
	}
	return nil
}

// bindCross checks that a kernel and test documents fit.
func (e *Engine) bindCross(k kernel.Kernel, test *sparse.Embedded) (kernel.Kernel, error) {
	k, err := e.bind(k)
	if err != nil {
		return nil, err
	}
	if err := e.checkCross(test); err != nil {
		return nil, err
	}
	if test != e.c.X && kernel.UsesNorms(k) {
		if err := checkNorms(test); err != nil {
			return nil, fmt.Errorf("engine: kernel %s is a function of the test documents' norms: %w", k, err)
		}
	}
	return k, nil
}
