package engine

import (
	"context"
	"encoding/binary"
	"math"
	"sync/atomic"

	"github.com/gramengine/gram/engine/device"
	"github.com/gramengine/gram/tiles"
)

// wholeC keeps c of all pairs. It is computed a panel of the symmetric half at a time, which is also what a file of the store holds: the panel's rows from
// its own first document on.
type wholeC struct {
	n    int
	c    []float32 // n×n, nil until it is needed
	have []bool    // panels that are complete

	building     chan struct{} // holds one token, for the one who builds
	looked       bool          // in the store
	complete     atomic.Bool
	bytes        atomic.Int64 // of c, and of a matrix that Ready made in its place
	hits, misses atomic.Int64
}

// wholeBytes is the memory that c of n documents takes, in bytes.
func wholeBytes(n int) int64 { return together(matrixBytes(n, n), int64(n)) }

func newWhole(e *Engine) *wholeC {
	w := &wholeC{n: e.Len(), building: make(chan struct{}, 1)}
	w.have = make([]bool, (w.n+e.kernels.Panel-1)/e.kernels.Panel)
	w.building <- struct{}{}
	return w
}

// row returns c of document i and all others.
func (w *wholeC) row(i int) []float32 { return w.c[i*w.n : (i+1)*w.n] }

// Build computes c of all pairs, each once, if it fits into the bound and isn't there yet; it does
// nothing otherwise. The first Rows does the same. It fails with a [MemoryError] where the machine
// hasn't as much left. It reports progress as [Engine.Gram] does. Of several callers one computes
// and the others wait; when that one's ctx ends, another goes on from there.
func (c *Cached) Build(ctx context.Context) (err error) {
	if err := c.e.open(); err != nil {
		return err
	}
	w := c.whole
	if w == nil || w.complete.Load() {
		return nil
	}
	select {
	case <-w.building:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	defer func() { w.building <- struct{}{} }()
	if w.complete.Load() {
		return nil
	}
	if w.c == nil {
		if err := affordable("c of all pairs", wholeBytes(w.n)); err != nil {
			return err
		}
		w.c = tiles.Make(w.n * w.n)
		w.bytes.Add(wholeBytes(w.n))
	}
	ctx, report := startProgress(ctx, c.e.progress, pairsOf(w.n))
	defer report.finish(&err)
	for p, have := range w.have {
		if have {
			report.done.Add(c.panelPairs(p))
		}
	}
	var matrix [32]byte
	if c.store != nil {
		if matrix, err = c.identity(ctx); err != nil {
			return err
		}
		if !w.looked {
			if err := c.loadPanels(ctx, matrix, report); err != nil {
				return err
			}
			w.looked = true
		}
	}
	if err := c.computePanels(ctx, matrix, report); err != nil {
		return err
	}
	w.complete.Store(true)
	return nil
}

// panelRange returns the documents of a panel.
func (c *Cached) panelRange(p int) (first, end int) {
	width := c.e.kernels.Panel
	return p * width, min((p+1)*width, c.whole.n)
}

// panelPairs counts the pairs of the half that a panel holds.
func (c *Cached) panelPairs(p int) int64 {
	first, end := c.panelRange(p)
	return pairsFrom(first, end-first, first, c.whole.n)
}

// computePanels computes the panels that aren't there, writes them to the store, and mirrors them.
func (c *Cached) computePanels(ctx context.Context, matrix [32]byte, report *progress) error {
	e, w := c.e, c.whole
	n, width := w.n, e.kernels.Panel
	var docs []int // in whole panels, but for the last
	for p, have := range w.have {
		if first, end := c.panelRange(p); !have {
			for i := first; i < end; i++ {
				docs = append(docs, i)
			}
		}
	}
	if e.device != nil {
		return c.devicePanels(ctx, matrix, docs, report)
	}
	return e.panelsOf(ctx, e.own, docs, func(p *panel, _ int) error {
		first, cols := p.docs[0], len(p.docs)
		err := p.run(ctx, half, func(lo, hi int, tile []float32) error {
			for j := lo; j < hi; j++ {
				copy(w.c[j*n+first:j*n+first+cols], tile[(j-lo)*width:])
			}
			p.storeColumns(w.c[first*n+lo:], n, tile)
			p.lap(&p.stats.Store)
			report.done.Add(pairsFrom(first, cols, lo, hi))
			return nil
		})
		if err != nil {
			return err
		}
		c.panelDone(matrix, first/width)
		return nil
	})
}

// panelDone counts a panel that has been computed and keeps it.
func (c *Cached) panelDone(matrix [32]byte, p int) {
	c.whole.have[p] = true
	c.whole.misses.Add(1)
	c.computed.Add(c.panelPairs(p))
	c.savePanel(matrix, p)
}

// piece returns what a panel is called in the store, and its rows there.
func (c *Cached) piece(matrix [32]byte, p int) (tiles.Piece, func(i int) []float32) {
	first, end := c.panelRange(p)
	n := c.whole.n
	return tiles.Piece{Matrix: matrix, Row: first, Rows: end - first, Column: first, Cols: n - first},
		func(i int) []float32 { return c.whole.row(first + i)[first:] }
}

// loadPanels reads the panels that the store has, and mirrors them. A file that is wrong is computed again, and written again.
func (c *Cached) loadPanels(ctx context.Context, matrix [32]byte, report *progress) error {
	e, w := c.e, c.whole
	n := w.n
	return tiles.Run(ctx, e.workers, len(w.have), func(_ context.Context, _, p int) error {
		if w.have[p] {
			return nil
		}
		piece, row := c.piece(matrix, p)
		err := c.store.Load(piece, row)
		c.mu.Lock()
		switch {
		case err == nil:
			c.files.Loaded++
		case !tiles.Missing(err):
			c.files.Damaged++
		}
		c.mu.Unlock()
		if err != nil {
			return nil
		}
		first, end := c.panelRange(p)
		for lo := end; lo < n; lo += blockDocs { // in blocks, so that what is read stays in the cache
			hi := min(lo+blockDocs, n)
			e.kernels.Transpose(w.c[lo*n+first:], n, w.c[first*n+lo:], n, end-first, hi-lo)
		}
		w.have[p] = true
		report.done.Add(c.panelPairs(p))
		return nil
	})
}

// savePanel writes a panel to the store. The first error ends the writing: a full disk needn't be asked again for every panel.
func (c *Cached) savePanel(matrix [32]byte, p int) {
	if c.store == nil {
		return
	}
	c.mu.Lock()
	failed := c.files.StoreErr != nil
	c.mu.Unlock()
	if failed {
		return
	}
	err := c.store.Save(c.piece(matrix, p))
	c.mu.Lock()
	defer c.mu.Unlock()
	if err == nil {
		c.files.Saved++
	} else if c.files.StoreErr == nil {
		c.files.StoreErr = err
	}
}

// identity returns a digest of all that the bits of c depend on: the documents, the instruction set, the way the head is cut, and, since the next
// version of this program may add up in another order, c itself of documents here and there with the first ones.
func (c *Cached) identity(ctx context.Context) ([32]byte, error) {
	e, n := c.e, c.whole.n
	digest := e.own.x.Digest()
	about := append([]byte("c "+e.Backend()+"\n"), digest[:]...)
	for _, b := range e.layout.Bounds {
		about = binary.LittleEndian.AppendUint64(about, uint64(b))
	}
	docs := make([]int, min(e.kernels.Panel, n))
	for i := range docs {
		docs[i] = i * n / len(docs)
	}
	add := func(values []float32) {
		for _, v := range values {
			about = binary.LittleEndian.AppendUint32(about, math.Float32bits(v))
		}
	}
	var err error
	if e.device != nil {
		err = e.deviceC(ctx, docs, 0, min(blockDocs, n), func(b *device.Block) error {
			for r := range b.Rows {
				add(b.Row(r))
			}
			return nil
		})
	} else {
		err = e.panelsOf(ctx, e.own, docs, func(p *panel, _ int) error {
			return p.runColumns(ctx, all, 0, min(blockDocs, n), func(_, _ int, tile []float32) error {
				add(tile)
				return nil
			})
		})
	}
	return tiles.Digest(about), err
}
