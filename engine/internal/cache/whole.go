package cache

import (
	"context"
	"sync/atomic"

	"github.com/gramengine/gram/engine/device"
	"github.com/gramengine/gram/engine/internal/compute"
	"github.com/gramengine/gram/engine/kernel"
	"github.com/gramengine/gram/internal/run"
	"github.com/gramengine/gram/tiles"
)

// whole stores c of all pairs. c is computed panel by panel. The columns of a panel begin at the
// panel's first document.
type whole struct {
	n    int
	c    []float32 // n×n; nil until first needed
	have []bool    // computed panels

	building     chan struct{} // holds a token, which is taken during a build
	complete     atomic.Bool
	bytes        atomic.Int64 // memory of c, or of a matrix that Ready made instead of c
	hits, misses atomic.Int64
}

// WholeBytes returns the memory of c for n documents in bytes.
func WholeBytes(n int) int64 { return run.AddBytes(compute.MatrixBytes(n, n), int64(n)) }

func newWhole(of *compute.Computer) *whole {
	w := &whole{n: of.Len(), building: make(chan struct{}, 1)}
	w.have = make([]bool, (w.n+of.Kernels.Panel-1)/of.Kernels.Panel)
	w.building <- struct{}{}
	return w
}

// enter waits for the token and takes it. leave puts the token back.
func (w *whole) enter(ctx context.Context) error {
	if err := context.Cause(ctx); err != nil {
		return err
	}
	select {
	case <-w.building:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (w *whole) leave() { w.building <- struct{}{} }

func (w *whole) row(i int) []float32 { return w.c[i*w.n : (i+1)*w.n] }

// Build implements engine.Cached.Build.
func (c *Cache) Build(ctx context.Context) (err error) {
	w := c.whole
	if w == nil || w.complete.Load() {
		return nil
	}
	if err := w.enter(ctx); err != nil {
		return err
	}
	defer w.leave()
	if w.complete.Load() {
		return nil
	}
	if w.c == nil {
		if err := compute.Affordable("the values of c for all pairs", WholeBytes(w.n)); err != nil {
			return err
		}
		if w.c, err = tiles.MakeContext(ctx, w.n*w.n); err != nil {
			return err
		}
		w.bytes.Add(WholeBytes(w.n))
	}
	ctx, report := c.Start(ctx, compute.PairsOf(w.n))
	defer report.Finish(&err)
	for p, have := range w.have {
		if have {
			report.Add(c.panelPairs(p))
		}
	}
	if err := c.computePanels(ctx, report); err != nil {
		return err
	}
	w.complete.Store(true)
	return nil
}

func (c *Cache) panelRange(p int) (first, end int) {
	width := c.Kernels.Panel
	return p * width, min((p+1)*width, c.whole.n)
}

// panelPairs returns the number of pairs of the upper triangle in a panel.
func (c *Cache) panelPairs(p int) int64 {
	first, end := c.panelRange(p)
	return int64(end-first)*int64(c.whole.n-end) + compute.PairsOf(end-first)
}

func (c *Cache) computePanels(ctx context.Context, report *run.Reporter) error {
	w := c.whole
	var docs []int                            // whole panels, except for the last
	left := make([]atomic.Int64, len(w.have)) // missing pairs of each panel
	for p, have := range w.have {
		first, end := c.panelRange(p)
		for i := first; i < end && !have; i++ {
			docs = append(docs, i)
		}
		left[p].Store(c.panelPairs(p))
	}
	return c.Half(ctx, kernel.C(), docs, w.c, report, func(r *device.Request, t *device.Tile) {
		for i := t.First; i < t.First+t.Rows; i++ {
			p := docs[i] / c.Kernels.Panel
			if left[p].Add(-compute.Pairs(r, i, i+1, t.Lo, t.Hi)) == 0 {
				w.have[p] = true
				w.misses.Add(1)
				c.computed.Add(c.panelPairs(p))
			}
		}
	})
}

// Free reports whether a matrix may use the cache's memory. All values must fit, and must not be
// computed yet.
func (c *Cache) Free() bool { return c.whole != nil && !c.whole.complete.Load() }

// Lend reserves the cache's memory for a matrix until [Cache.GiveBack] is called. Free must be
// true. Lend waits for a running Build, and returns false if the memory is already reserved.
func (c *Cache) Lend(ctx context.Context, bytes int64) (bool, error) {
	w := c.whole
	if err := w.enter(ctx); err != nil {
		return false, err
	}
	defer w.leave()
	if w.bytes.Load() > 0 {
		return false, nil
	}
	w.bytes.Add(bytes)
	return true, nil
}

// Made counts a matrix that was computed in lent memory.
func (c *Cache) Made() {
	c.computed.Add(compute.PairsOf(c.Len()))
	c.whole.misses.Add(int64(len(c.whole.have)))
}

// GiveBack releases memory that Lend reserved.
func (c *Cache) GiveBack(bytes int64) { c.whole.bytes.Add(-bytes) }
