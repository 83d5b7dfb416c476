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
	limit       int64
	tileColumns int // columns per tile

	full      *fullMatrix // c of all pairs; nil if it doesn't fit
	tileStore *tileStore  // tiles of c; nil if c of all pairs fits

	served, computed atomic.Int64
}

// Stats holds counts since the cache was made.
type Stats struct {
	tiles.CacheStats       // counts of tiles or, if FitsInMemory, of rows read and panels computed
	FitsInMemory     bool  // true if c of all pairs fits within the limit
	ValuesServed     int64 // number of kernel values served
	PairsComputed    int64 // number of pairs whose c was computed
}

// DefaultTileColumns is the default number of columns per tile. Larger tiles contain more unneeded
// values. Smaller tiles need more lookups. The CPU's posting lists have blocks of the same size,
// because a tile that begins within a block requires a search in each list.
const DefaultTileColumns = 4096

// New returns a cache of up to limit bytes. If c of all pairs doesn't fit, the cache stores tiles
// with approximately the given number of columns (0 means [DefaultTileColumns]). New fails if limit
// is too small for one worker.
func New(of *compute.Computer, limit int64, columns int) (*Cache, error) {
	n := of.Len()
	c := &Cache{Computer: of, limit: limit}
	if FullMatrixBytes(n) <= limit {
		c.full, c.tileColumns = newFullMatrix(of), n
		return c, nil
	}
	if columns == 0 {
		columns = DefaultTileColumns
	}
	c.tileColumns = (min(columns, n) + compute.BlockDocs - 1) / compute.BlockDocs * compute.BlockDocs
	c.tileColumns = min(c.tileColumns, (n+sparse.BlockSize-1)/sparse.BlockSize*sparse.BlockSize)
	var err error
	c.tileStore, err = newTileStore(of, c.tileColumns, limit)
	return c, err
}

// TileColumns returns the number of columns of a tile.
func (c *Cache) TileColumns() int { return c.tileColumns }

// FitsInMemory reports whether c of all pairs fits within the memory limit.
func (c *Cache) FitsInMemory() bool { return c.full != nil }

// Stats returns the current counters.
func (c *Cache) Stats() Stats {
	s := Stats{FitsInMemory: c.FitsInMemory(), ValuesServed: c.served.Load(), PairsComputed: c.computed.Load()}
	if c.full != nil {
		w := c.full
		s.CacheStats = tiles.CacheStats{Hits: w.hits.Load(), Misses: w.misses.Load(), Bytes: w.bytes.Load(), Limit: c.limit}
	} else {
		s.CacheStats = c.tileStore.cache.Stats()
		s.Bytes += c.tileStore.scratchBytes
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
	if c.full != nil {
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
