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

// fullMatrix stores c of all pairs. c is computed panel by panel. The columns of a panel begin at
// the panel's first document.
type fullMatrix struct {
	n        int
	c        []float32 // n×n; nil until first needed
	computed []bool    // per panel: true if c of the panel has been computed

	building     chan struct{} // holds a token, which is taken during a build
	complete     atomic.Bool
	bytes        atomic.Int64 // size of c, or of the matrix for which Reserve was called
	hits, misses atomic.Int64
}

// FullMatrixBytes returns the size in bytes of the matrix of c for n documents.
func FullMatrixBytes(n int) int64 { return run.AddBytes(compute.MatrixBytes(n, n), int64(n)) }

func newFullMatrix(of *compute.Computer) *fullMatrix {
	w := &fullMatrix{n: of.Len(), building: make(chan struct{}, 1)}
	w.computed = make([]bool, (w.n+of.Kernels.PanelWidth-1)/of.Kernels.PanelWidth)
	w.building <- struct{}{}
	return w
}

func (w *fullMatrix) acquire(ctx context.Context) error {
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

func (w *fullMatrix) release() { w.building <- struct{}{} }

func (w *fullMatrix) row(i int) []float32 { return w.c[i*w.n : (i+1)*w.n] }

// Build implements engine.Cache.Build.
func (c *Cache) Build(ctx context.Context) (err error) {
	w := c.full
	if w == nil || w.complete.Load() {
		return nil
	}
	if err := w.acquire(ctx); err != nil {
		return err
	}
	defer w.release()
	if w.complete.Load() {
		return nil
	}
	if w.c == nil {
		if err := compute.CheckFreeMemory("the values of c for all pairs", FullMatrixBytes(w.n)); err != nil {
			return err
		}
		if w.c, err = tiles.MakeFloatsContext(ctx, w.n*w.n); err != nil {
			return err
		}
		w.bytes.Add(FullMatrixBytes(w.n))
	}
	ctx, report := c.StartProgress(ctx, compute.TrianglePairCount(w.n))
	defer report.Finish(&err)
	for p, have := range w.computed {
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
	width := c.Kernels.PanelWidth
	return p * width, min((p+1)*width, c.full.n)
}

func (c *Cache) panelPairs(p int) int64 {
	first, end := c.panelRange(p)
	return int64(end-first)*int64(c.full.n-end) + compute.TrianglePairCount(end-first)
}

func (c *Cache) computePanels(ctx context.Context, report *run.Reporter) error {
	w := c.full
	var docs []int                                // documents of the panels to compute
	left := make([]atomic.Int64, len(w.computed)) // per panel: number of pairs still to be computed
	for p, have := range w.computed {
		first, end := c.panelRange(p)
		for i := first; i < end && !have; i++ {
			docs = append(docs, i)
		}
		left[p].Store(c.panelPairs(p))
	}
	return c.ComputeUpper(ctx, kernel.C(), docs, w.c, report, func(r *device.Request, t *device.Tile) {
		for i := t.FirstRow; i < t.FirstRow+t.Rows; i++ {
			p := docs[i] / c.Kernels.PanelWidth
			if left[p].Add(-compute.RequestPairCount(r, i, i+1, t.Lo, t.Hi)) == 0 {
				w.computed[p] = true
				w.misses.Add(1)
				c.computed.Add(c.panelPairs(p))
			}
		}
	})
}

// CanReserve reports whether a matrix may use the cache's memory: c of all pairs must fit into the
// memory limit and not be computed yet.
func (c *Cache) CanReserve() bool { return c.full != nil && !c.full.complete.Load() }

// Reserve reserves the cache's memory for a matrix until [Cache.Release] is called. CanReserve must
// be true. Reserve waits for a running Build. It returns false if c or a matrix uses the memory.
func (c *Cache) Reserve(ctx context.Context, bytes int64) (bool, error) {
	w := c.full
	if err := w.acquire(ctx); err != nil {
		return false, err
	}
	defer w.release()
	if w.bytes.Load() > 0 {
		return false, nil
	}
	w.bytes.Add(bytes)
	return true, nil
}

// CountMatrix counts a matrix that was computed in reserved memory.
func (c *Cache) CountMatrix() {
	c.computed.Add(compute.TrianglePairCount(c.Len()))
	c.full.misses.Add(int64(len(c.full.computed)))
}

// Release releases memory that Reserve reserved.
func (c *Cache) Release(bytes int64) { c.full.bytes.Add(-bytes) }
