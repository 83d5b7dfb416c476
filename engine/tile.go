package engine

import (
	"context"
	"errors"
)

// Tile is a piece of c = 1 - cosine, or of a kernel of it, between some of an engine's documents, its rows, and up to Width others, its columns. It belongs to
// the function that it is handed to until that returns.
type Tile struct {
	First  int       // first document of the rows
	Rows   int       // number of rows: documents First, First+1, …
	Column int       // first document of the columns
	Cols   int       // number of columns: documents Column, Column+1, …
	Width  int       // distance between rows in C, at least Cols
	C      []float32 // C[i*Width+j] is the value for documents First+i and Column+j; finite, but without meaning, for Cols <= j < Width
}

// Tiles computes c for the symmetric half of all pairs and hands it to visit a tile at a time:
// every pair of documents i, j with i <= j is in exactly one tile as row j and column i; tiles on
// the diagonal hold both of (i, j) and (j, i). visit is called from up to Workers goroutines at the
// same time, tiles come in no order, and an error of visit ends the computation, as does a panic,
// which comes back as a [tiles.PanicError]. No memory is needed for results.
func (e *Engine) Tiles(ctx context.Context, visit func(t *Tile) error) (err error) {
	if visit, err = visitor(visit); err != nil {
		return err
	}
	if err := e.open(); err != nil {
		return err
	}
	n := e.Len()
	ctx, report := startProgress(ctx, e.progress, pairsOf(n))
	defer report.finish(&err)
	if e.device != nil {
		return e.deviceTiles(ctx, visit, report)
	}
	return e.panels(ctx, e.own, n, func(p *panel, first int) error {
		var t Tile
		return p.run(ctx, half, func(lo, hi int, c []float32) error {
			t = Tile{First: lo, Rows: hi - lo, Column: first, Cols: len(p.docs), Width: e.kernels.Panel, C: c}
			err := visit(&t)
			p.lap(&p.stats.Store)
			report.done.Add(pairsFrom(first, len(p.docs), lo, hi))
			return err
		})
	})
}

// visitor returns visit with a panic as an error.
func visitor(visit func(t *Tile) error) (func(t *Tile) error, error) {
	if visit == nil {
		return nil, errors.New("engine: a nil function visit, expected one that takes tiles")
	}
	return func(t *Tile) error { return guarded("visit", func() error { return visit(t) }) }, nil
}

// pairsOf counts the pairs i <= j of n documents.
func pairsOf(n int) int64 {
	if n%2 == 0 {
		return int64(n/2) * int64(n+1) // n(n+1) by itself may be beyond int64
	}
	return int64(n) * int64(n/2+1)
}
