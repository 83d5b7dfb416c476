// Package cache stores tiles of c in bounded memory, for use by all kernels on the same documents.
// If c of all pairs fits, the whole matrix of c is stored. Otherwise parts of rows are stored, and
// the least recently used parts are evicted. The kernel is applied when a row is read.
package cache

import (
	"context"
	"sync/atomic"

	"github.com/gramengine/gram/engine/internal/compute"
	"github.com/gramengine/gram/engine/kernel"
	"github.com/gramengine/gram/sparse"
	"github.com/gramengine/gram/tiles"
)

// Cache provides rows of Gram matrices from stored tiles of c. It may be used concurrently.
type Cache struct {
	*compute.Computer
	limit int64
	width int // columns per tile

	whole *whole   // c of all pairs; nil if it doesn't fit
	part  *partial // tiles of c; nil if c of all pairs fits

	served, computed atomic.Int64
}

// Stats holds counts since the cache was made.
type Stats struct {
	tiles.CacheStats       // counts of tiles; if Whole, of rows read and panels computed
	Whole            bool  // c of all pairs fits within the limit
	Served           int64 // number of kernel values served
	Computed         int64 // number of pairs whose c was computed
}

// BlockCols is the default number of columns per tile. Larger tiles contain more unneeded values.
// Smaller tiles need more lookups. The CPU's posting lists have blocks of the same size, because a
// tile that begins within a block requires a search in each list.
const BlockCols = 4096

// New returns a cache of up to limit bytes. If c of all pairs doesn't fit, tiles have about columns
// columns, or [BlockCols] if columns is 0. New fails if limit is too small for one worker.
func New(of *compute.Computer, limit int64, columns int) (*Cache, error) {
	n := of.Len()
	c := &Cache{Computer: of, limit: limit}
	if WholeBytes(n) <= limit {
		c.whole, c.width = newWhole(of), n
		return c, nil
	}
	if columns == 0 {
		columns = BlockCols
	}
	c.width = (min(columns, n) + compute.BlockDocs - 1) / compute.BlockDocs * compute.BlockDocs
	c.width = min(c.width, (n+sparse.Block-1)/sparse.Block*sparse.Block)
	var err error
	c.part, err = newPartial(of, c.width, limit)
	return c, err
}

// Width returns the number of columns of a tile.
func (c *Cache) Width() int { return c.width }

// Whole reports whether c of all pairs fits.
func (c *Cache) Whole() bool { return c.whole != nil }

// Counts returns the current counters.
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

// Rows writes values of the matrix of k in the given rows and ranges of columns. dst[r] receives
// the values of rows[r], range after range. Missing values are computed in panels.
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
