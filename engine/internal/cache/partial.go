package cache

import (
	"cmp"
	"context"
	"slices"

	"github.com/gramengine/gram/engine/device"
	"github.com/gramengine/gram/engine/internal/compute"
	"github.com/gramengine/gram/engine/kernel"
	"github.com/gramengine/gram/internal/run"
	"github.com/gramengine/gram/tiles"
)

// tileStore stores tiles of c in bounded memory. A tile is part of a single row, because the rows
// that a solver reads are scattered. A panel can compute any set of rows.
type tileStore struct {
	cache *tiles.Cache
	// transposed blocks for concurrent panels; nil until first needed
	scratch      chan []float32
	scratchBytes int64
}

// scratchStride is the stride between documents of a transposed block. If the stride were a power
// of two, the documents would map to few cache sets.
const scratchStride = compute.BlockDocs + 16

// blockBytes returns the size of a transposed block in bytes, rounded up to the runtime's 8 KiB
// pages.
func blockBytes(panel int) int64 { return (4*int64(panel)*scratchStride + 8191) / 8192 * 8192 }

// ScratchBytes returns the total size of the workers' transposed blocks in bytes.
func ScratchBytes(workers, panel int) int64 { return int64(workers) * blockBytes(panel) }

// newTileStore divides limit bytes into scratch space and tiles. If memory is too small for all
// workers, fewer workers compute at the same time.
func newTileStore(of *compute.Computer, width int, limit int64) (*tileStore, error) {
	one := blockBytes(of.Kernels.PanelWidth)
	if limit < one {
		return nil, &run.MemoryError{Computation: "engine: the tile cache", NeedBytes: of.Bytes() + one,
			LimitBytes: of.Bytes() + limit}
	}
	workers := int(min(int64(of.Workers), limit/one))
	p := &tileStore{scratch: make(chan []float32, workers), scratchBytes: int64(workers) * one}
	for range workers {
		p.scratch <- nil
	}
	p.cache = tiles.NewCache(width, limit-p.scratchBytes)
	return p, nil
}

type missingTile struct {
	r    int
	span pieceRange
	tile *tiles.Tile // tile to compute; nil if the cache is full
	done bool
}

// fetch serves missing tiles. It computes all tiles that no other request is computing, then waits
// for the other tiles.
func (q *request) fetch(ctx context.Context, missing []missingTile) error {
	c := q.c
	for len(missing) > 0 {
		slices.SortFunc(missing, func(a, b missingTile) int { return cmp.Or(a.span.block-b.span.block, a.r-b.r) })
		var mine, others []missingTile
		var wait []<-chan struct{}
		for _, m := range missing {
			state, t, done := c.tileStore.cache.Claim(tiles.Key{Row: uint32(q.rows[m.r]), Block: uint32(m.span.block)})
			switch state {
			case tiles.Ready:
				if err := q.serve(m.r, m.span, t); err != nil {
					q.abandon(mine)
					return err
				}
			case tiles.Busy: // computed by another request, or by this request if rows contains a row twice
				others, wait = append(others, m), append(wait, done)
			default:
				m.tile = t
				mine = append(mine, m)
			}
		}
		if err := q.compute(ctx, mine); err != nil {
			return err
		}
		for _, done := range wait {
			select {
			case <-done:
			case <-ctx.Done():
				return context.Cause(ctx)
			}
		}
		missing = others
	}
	return nil
}

// compute computes and serves the claimed tiles. It computes tiles of the same block together, up
// to a panel of rows at a time. After an error it abandons the remaining tiles.
func (q *request) compute(ctx context.Context, mine []missingTile) error {
	c := q.c
	defer q.abandon(mine)
	tasks := divideTasks(mine, c.Kernels.PanelWidth, cap(c.tileStore.scratch))
	return run.Tasks(ctx, cap(c.tileStore.scratch), len(tasks), func(ctx context.Context, _, t int) error {
		// A goroutine with scratch space never waits for a tile, so there is no deadlock.
		var scratch []float32
		select {
		case scratch = <-c.tileStore.scratch:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
		defer func() { c.tileStore.scratch <- scratch }()
		if scratch == nil {
			scratch = make([]float32, c.Kernels.PanelWidth*scratchStride)
		}
		return q.computeTask(ctx, tasks[t], scratch)
	})
}

func (q *request) abandon(mine []missingTile) {
	for i := range mine {
		if m := &mine[i]; m.tile != nil && !m.done {
			q.c.tileStore.cache.Abandon(m.tile)
		}
	}
}

// divideTasks divides tiles, sorted by block and row, into tasks. A task is a list of groups with
// the same rows in consecutive blocks. A group has at most panel tiles, so each panel is loaded
// once per task.
func divideTasks(mine []missingTile, panel, workers int) (tasks [][][]missingTile) {
	var chains [][][]missingTile
	groups := 0
	for rest := mine; len(rest) > 0; groups++ {
		n := 1
		for n < len(rest) && n < panel && rest[n].span.block == rest[0].span.block {
			n++
		}
		group := rest[:n]
		rest = rest[n:]
		at := slices.IndexFunc(chains, func(chain [][]missingTile) bool {
			last := chain[len(chain)-1]
			return last[0].span.block == group[0].span.block-1 &&
				slices.EqualFunc(last, group, func(a, b missingTile) bool { return a.r == b.r })
		})
		if at < 0 {
			at = len(chains)
			chains = append(chains, nil)
		}
		chains[at] = append(chains[at], group)
	}
	most := groups // maximum number of groups per task
	if workers > 1 {
		most = (groups + 2*workers - 1) / (2 * workers)
	}
	for _, chain := range chains {
		for parts := (len(chain) + most - 1) / most; parts > 0; parts-- {
			n := (len(chain) + parts - 1) / parts
			tasks = append(tasks, chain[:n])
			chain = chain[n:]
		}
	}
	return tasks
}

func (q *request) computeTask(ctx context.Context, task [][]missingTile, scratch []float32) error {
	c := q.c
	r := &device.Request{RowIndices: make([]int, len(task[0]))}
	for i, m := range task[0] {
		r.RowIndices[i] = q.rows[m.r]
	}
	r.Lo, _ = c.blockRange(task[0][0].span.block)
	_, r.Hi = c.blockRange(task[len(task)-1][0].span.block)
	return c.Computer.ComputeRows(ctx, kernel.C(), r, nil, func(t *device.Tile) error {
		c.Store(scratch, scratchStride, t, false)
		for lo := t.Lo; lo < t.Hi; {
			group := task[(lo-r.Lo)/c.tileColumns]
			_, end := c.blockRange(group[0].span.block)
			hi := min(t.Hi, end)
			for i := range t.Rows {
				row := scratch[i*scratchStride+lo-t.Lo:][:hi-lo]
				if err := q.store(&group[t.FirstRow+i], lo, row, hi == end); err != nil {
					return err
				}
			}
			lo = hi
		}
		return nil
	})
}

func (c *Cache) blockRange(block int) (base, end int) {
	return block * c.tileColumns, min((block+1)*c.tileColumns, c.Len())
}

// store copies part of a row of c, from column lo on, to the tile of m. If m has no tile, it writes
// kernel values to the result. After the last part, it completes and serves the tile.
func (q *request) store(m *missingTile, lo int, row []float32, last bool) error {
	c := q.c
	c.computed.Add(int64(len(row)))
	if m.tile == nil {
		return q.apply(m.r, m.span, row, lo)
	}
	base, _ := c.blockRange(m.span.block)
	copy(m.tile.Values[lo-base:], row)
	if !last {
		return nil
	}
	m.done = true
	c.tileStore.cache.Complete(m.tile)
	return q.serve(m.r, m.span, m.tile)
}
