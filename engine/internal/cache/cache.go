// Package cache keeps tiles of c, which all kernels on the same documents share, within a bound: c
// of all pairs where that fits, otherwise pieces of rows, of which the least recently used make
// room. A kernel is applied when a row is read.
package cache

import (
	"context"
	"sync/atomic"

	"github.com/gramengine/gram/engine/internal/compute"
	"github.com/gramengine/gram/engine/kernel"
	"github.com/gramengine/gram/sparse"
	"github.com/gramengine/gram/tiles"
)

// Cache serves rows of Gram matrices from tiles of c. It may be used concurrently.
type Cache struct {
	*compute.Computer
	limit int64
	width int // columns of a block

	whole *whole   // where everything fits, else nil
	part  *partial // where it does not

	served, computed atomic.Int64
}

// Stats counts what a cache has done since it was made.
type Stats struct {
	tiles.CacheStats       // tiles; where all of c is kept, rows that were read and panels that were computed
	Whole            bool  // all of c fits into the bound and is kept
	Served           int64 // kernel values handed out
	Computed         int64 // pairs whose c was computed for them
}

// BlockCols is the default number of columns of a tile: few enough to compute little that isn't needed and to share a
// panel among workers, enough that finding a tile costs little beside mapping it.
const BlockCols = 4096

// New returns a cache of up to limit bytes, with tiles of about so many columns where c of all
// pairs doesn't fit, 0 for [BlockCols]. Error: less than one worker needs.
func New(of *compute.Computer, limit int64, columns int) (*Cache, error) {
	n := of.Len()
	c := &Cache{Computer: of, limit: limit}
	if WholeBytes(n) <= limit {
		c.whole, c.width = newWhole(of), n
		return c, nil
	}
	columns = (min(columns, n) + compute.BlockDocs - 1) / compute.BlockDocs * compute.BlockDocs
	if columns == 0 {
		columns = BlockCols
	}
	blocks := (n + columns - 1) / columns
	c.width = ((n+blocks-1)/blocks + sparse.Block - 1) / sparse.Block * sparse.Block
	var err error
	c.part, err = newPartial(of, c.width, limit)
	return c, err
}

// Width returns the number of columns of a tile.
func (c *Cache) Width() int { return c.width }

// Whole reports whether all of c fits into the bound.
func (c *Cache) Whole() bool { return c.whole != nil }

// Counts returns the counts up to now.
func (c *Cache) Counts() Stats {
	s := Stats{Whole: c.Whole(), Served: c.served.Load(), Computed: c.computed.Load()}
	if c.whole != nil {
		w := c.whole
		s.CacheStats = tiles.CacheStats{Hits: w.hits.Load(), Misses: w.misses.Load(), Bytes: w.bytes.Load(), Limit: c.limit}
	} else {
		s.CacheStats = c.part.cache.Stats()
		s.Bytes += c.part.scratchBytes
		s.Limit = c.limit
	}
	return s
}

// Rows writes rows of the matrix of k, restricted to ranges of columns, one after the other in
// dst[r]. What isn't there is computed a panel at a time.
func (c *Cache) Rows(ctx context.Context, k kernel.Kernel, rows []int, columns [][2]int, dst [][]float32) error {
	q, err := c.request(k, rows, columns, dst)
	if err != nil {
		return err
	}
	if c.whole != nil {
		if err := c.Build(ctx); err != nil {
			return err
		}
	}
	missing, err := q.read(ctx)
	if err != nil {
		return err
	}
	if err := q.fetch(ctx, missing); err != nil {
		return err
	}
	c.served.Add(int64(len(rows)) * int64(q.length))
	return nil
}
