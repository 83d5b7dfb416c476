package tiles

import (
	"slices"
	"sync"
)

// Key identifies a tile: a row of the matrix and a block of columns, both counted from 0.
type Key struct{ Row, Block uint32 }

// Tile holds consecutive values of a matrix row, stored in a [Cache]. Its values may be read while
// it is pinned. Only the caller for which Claim returned [Claimed] may write them.
type Tile struct {
	Values []float32 // all tiles of a cache have the same number of values

	key        Key
	ready      bool
	pins       int
	done       chan struct{} // closed when waiting callers should claim again; nil if no caller waits
	prev, next *Tile         // neighbours in the ring of ready, unpinned tiles
}

// ClaimState is the result of [Cache.Claim].
type ClaimState int

const (
	Ready   ClaimState = iota // values are ready; the tile is pinned
	Claimed                   // the caller must compute the values; the tile is pinned
	Busy                      // another caller is computing the values
	Full                      // all tiles are pinned; the caller must work without a tile
)

// Cache holds tiles of float32 values in bounded memory. A full cache evicts the least recently
// used tile that isn't pinned. A Cache is made by [NewCache] and may be used concurrently.
//
// Memory: the limit of [NewCache] includes the values and overhead of all tiles, and is never
// exceeded. Tiles are allocated on demand. The memory of evicted and abandoned tiles is reused and
// never freed.
//
// Computation: if several callers claim a missing tile, the first caller gets [Claimed] and
// computes the values. The other callers get [Busy] and wait. The first caller then calls
// [Cache.Complete], or [Cache.Abandon] after an error. After Abandon the waiting callers claim
// again, and one of them computes the values. So errors aren't cached, and other callers don't fail
// if one caller is cancelled. To avoid deadlock, a caller must first compute its Claimed tiles,
// then wait for Busy tiles.
//
// A caller must complete or abandon each Claimed tile once, and release each completed or Ready
// tile once. [Tile.Values] is nil after a tile is abandoned, or released and evicted.
type Cache struct {
	width     int
	limit     int64
	tileBytes int64

	mu        sync.Mutex
	tiles     map[Key]*Tile
	lru       Tile    // head of the ring of ready, unpinned tiles, least recently used first
	freeTiles []*Tile // abandoned tiles, for reuse
	stats     CacheStats

	allocate func(width int) []float32 // allocates the values of a tile; tests replace it
}

// CacheStats holds counters since the cache was made. A hit is a request for a ready tile. A miss
// is a request for a tile that the caller must compute.
type CacheStats struct {
	Hits, Misses int64
	Waits        int64 // number of claims for tiles that another caller was computing
	Refusals     int64 `json:"refused"` // number of misses while all tiles were pinned, so that Claim returned Full
	Evictions    int64 `json:"evicted"`
	Bytes, Limit int64 // memory of all tiles in bytes, and its limit
}

// tileOverhead bounds the memory of a tile in bytes, without its values: the Tile (80 bytes), its
// map entry (20 bytes, up to 60 while the map grows), its entry in freeTiles, and the channel.
const tileOverhead = 320

// NewCache returns a cache of up to limit bytes for tiles of width values. If limit is too small
// for a tile, the cache stays empty.
func NewCache(width int, limit int64) *Cache {
	c := &Cache{width: width, limit: limit, tileBytes: TileBytes(width), tiles: map[Key]*Tile{}, allocate: newValues}
	c.lru.prev, c.lru.next = &c.lru, &c.lru
	c.stats.Limit = limit
	return c
}

// newValues allocates a full size class of the runtime, so that [TileBytes] counts all memory.
func newValues(width int) []float32 { return slices.Grow([]float32(nil), width)[:width] }

// TileBytes returns the size in bytes of a cached tile of width values, including overhead.
func TileBytes(width int) int64 {
	if bytes := 4 * int64(width); bytes > maxSmallBytes { // the runtime rounds up to whole pages
		return (bytes+pageBytes-1)&^(pageBytes-1) + tileOverhead
	}
	return 4*int64(cap(newValues(width))) + tileOverhead
}

// Go's runtime rounds allocations above maxSmallBytes up to pages, and smaller allocations up to
// size classes.
const (
	maxSmallBytes = 32 << 10
	pageBytes     = 8 << 10
)

// Stats returns the current values of the counters.
func (c *Cache) Stats() CacheStats {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.stats
}

// Lookup pins and returns a tile if its values are ready. Otherwise it returns nil, which isn't
// counted as a miss. To keep ready tiles from being evicted, look up all needed tiles before
// claiming missing tiles.
func (c *Cache) Lookup(key Key) *Tile {
	c.mu.Lock()
	defer c.mu.Unlock()
	t := c.tiles[key]
	if t == nil || !t.ready {
		return nil
	}
	c.stats.Hits++
	c.pin(t)
	return t
}

// Claim returns the state of a tile. It claims a missing tile for the caller, unless all tiles are
// pinned. If the state is [Ready] or [Claimed], Claim also pins and returns the tile, and the
// caller must [Cache.Release] the tile. If the state is [Busy], Claim returns a channel that is
// closed when the caller should claim again.
func (c *Cache) Claim(key Key) (ClaimState, *Tile, <-chan struct{}) {
	c.mu.Lock()
	defer c.mu.Unlock()
	t := c.tiles[key]
	switch {
	case t == nil:
		c.stats.Misses++
		if t = c.takeTile(); t == nil {
			c.stats.Refusals++
			return Full, nil, nil
		}
		t.key, t.pins, t.ready, t.done = key, 1, false, nil
		c.tiles[key] = t
		return Claimed, t, nil
	case t.ready:
		c.stats.Hits++
		c.pin(t)
		return Ready, t, nil
	}
	c.stats.Waits++
	if t.done == nil {
		t.done = make(chan struct{})
	}
	return Busy, nil, t.done
}

// takeTile returns a free tile or a new tile, or evicts the least recently used tile and recycles
// it. If all tiles are pinned, it returns nil.
func (c *Cache) takeTile() *Tile {
	if n := len(c.freeTiles); n > 0 {
		t := c.freeTiles[n-1]
		c.freeTiles = c.freeTiles[:n-1]
		return t
	}
	if c.tileBytes <= c.limit-c.stats.Bytes {
		c.stats.Bytes += c.tileBytes
		return &Tile{Values: c.allocate(c.width)}
	}
	t := c.lru.next
	if t == &c.lru {
		return nil
	}
	c.unlink(t)
	c.stats.Evictions++
	return c.recycle(t)
}

// recycle makes a new tile with the memory of an old tile. A caller that uses the old tile after
// its release gets nil Values instead of the new tile's values.
func (c *Cache) recycle(t *Tile) *Tile {
	delete(c.tiles, t.key)
	fresh := &Tile{Values: t.Values}
	t.Values = nil
	return fresh
}

func (c *Cache) pin(t *Tile) {
	if t.pins == 0 {
		c.unlink(t)
	}
	t.pins++
}

func (c *Cache) unlink(t *Tile) {
	t.prev.next, t.next.prev = t.next, t.prev
	t.prev, t.next = nil, nil
}

// Complete marks a [Claimed] tile as ready. The tile stays pinned until the caller releases it.
func (c *Cache) Complete(t *Tile) {
	c.mu.Lock()
	defer c.mu.Unlock()
	t.ready = true
	c.wakeWaiters(t)
}

// Abandon cancels the computation of a [Claimed] tile, and releases the tile.
func (c *Cache) Abandon(t *Tile) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.freeTiles = append(c.freeTiles, c.recycle(t))
	c.wakeWaiters(t)
}

func (c *Cache) wakeWaiters(t *Tile) {
	if t.done != nil {
		close(t.done)
		t.done = nil
	}
}

// Release unpins a tile once. The last release makes the tile the most recently used tile.
func (c *Cache) Release(t *Tile) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if t.pins--; t.pins == 0 {
		t.prev, t.next = c.lru.prev, &c.lru
		t.prev.next, t.next.prev = t, t
	}
}
