package tiles

import (
	"slices"
	"sync"
)

// Key names a tile: a row of the matrix and a block of columns, both counted from 0.
type Key struct{ Row, Block uint32 }

// Tile is a piece of a row of the matrix in a [Cache]. While it is pinned its values may be read;
// only the caller that was told to make it may write them.
type Tile struct {
	C []float32 // as many values as the cache's tiles have

	key        Key
	ready      bool
	pins       int
	done       chan struct{} // made when somebody waits for the values
	prev, next *Tile         // among the tiles that are ready and not pinned
}

// State is what [Cache.Claim] found.
type State int

const (
	Ready State = iota // the values are there; the tile is pinned
	Mine               // the caller has to make the values; the tile is pinned
	Busy               // another caller is making the values
	Full               // every tile that fits is pinned: the caller has to do without
)

// Cache holds tiles of float32 values, as many as a bound in bytes allows. To make room it drops
// the least recently used one. A Cache is made by [NewCache] and may be used concurrently.
//
// Memory: everything counts with all that belongs to it: tiles with values, tiles in the making,
// pinned tiles, and the memory of dropped ones, which is used again. The sum never exceeds the
// bound. Tiles are allocated when they are first needed and never given back.
//
// Making: of all callers that ask for a tile at the same time, one is told [Mine] and makes the
// values, while the others wait ([Busy]). It ends with [Cache.Complete] or, after an error or the
// end of its own work, with [Cache.Abandon], which leaves no trace: those that waited ask again,
// and one of them makes the values. So an error is never kept, and when one caller is cancelled the
// others lose time but not their result. A caller must not wait while others wait for it: it first
// makes what is Mine, then waits for what is Busy.
//
// A caller completes or abandons each tile that it makes, once, and releases each tile that it pinned, once. A tile
// that was abandoned, or released and dropped, has no values any more: C is nil.
type Cache struct {
	width int
	limit int64
	cost  int64 // bytes of one tile

	mu    sync.Mutex
	tiles map[Key]*Tile
	used  Tile    // head of the ring of tiles that are ready and not pinned, the least recently used one first
	spare []*Tile // tiles without values
	stats CacheStats

	allocate func(width int) []float32 // tests count here
}

// CacheStats counts what a cache has done since it was made. A hit is a tile that was ready, a miss
// one that the caller had to make.
type CacheStats struct {
	Hits, Misses int64
	Waits        int64 // tiles that another caller was making
	Refused      int64 // misses without room
	Evicted      int64 // tiles whose values made room for others
	Bytes, Limit int64 // what the tiles take now, which is also the most they ever took; and its bound
}

// tileOverhead bounds what a tile takes beside its values: the Tile itself (80 bytes), its place in
// the map (20 bytes, twice that after the map has grown, three times while it grows), its place
// among the spare ones, and the channel that others wait on.
const tileOverhead = 320

// NewCache returns a cache for tiles of width values that takes up to limit bytes. A limit too
// small for a tile is allowed: the cache then stays empty.
func NewCache(width int, limit int64) *Cache {
	c := &Cache{width: width, limit: limit, cost: TileBytes(width), tiles: map[Key]*Tile{}, allocate: newValues}
	c.used.prev, c.used.next = &c.used, &c.used
	c.stats.Limit = limit
	return c
}

// newValues allocates all of what the runtime would round the size up to, so that it is counted.
func newValues(width int) []float32 { return slices.Grow([]float32(nil), width)[:width] }

// TileBytes returns the memory in bytes that a cache takes for each tile of width values.
func TileBytes(width int) int64 {
	if bytes := 4 * int64(width); bytes > smallBytes { // whole pages of the runtime; to see it would take that memory
		return (bytes+pageBytes-1)&^(pageBytes-1) + tileOverhead
	}
	return 4*int64(cap(newValues(width))) + tileOverhead
}

// Go's runtime allocates what is larger than smallBytes in pages, and what is smaller in sizes that
// it chooses.
const (
	smallBytes = 32 << 10
	pageBytes  = 8 << 10
)

// Stats returns the counts up to now.
func (c *Cache) Stats() CacheStats {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.stats
}

// Lookup returns the tile, pinned, if its values are there, and nil if not, which doesn't count as
// a miss. A caller that needs many tiles looks up all of them before it claims the missing ones, so
// that none makes room for another.
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

// Claim says what is to be done about a tile. [Ready] and [Mine] come with the tile, which the
// caller must [Cache.Release] in the end; [Busy] comes with a channel that is closed when it is
// worth asking again.
func (c *Cache) Claim(key Key) (State, *Tile, <-chan struct{}) {
	c.mu.Lock()
	defer c.mu.Unlock()
	t := c.tiles[key]
	switch {
	case t == nil:
		c.stats.Misses++
		if t = c.room(); t == nil {
			c.stats.Refused++
			return Full, nil, nil
		}
		t.key, t.pins, t.ready, t.done = key, 1, false, nil
		c.tiles[key] = t
		return Mine, t, nil
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

// room returns a tile without values: a spare one, a new one, or that of the least recently used
// values.
func (c *Cache) room() *Tile {
	if n := len(c.spare); n > 0 {
		t := c.spare[n-1]
		c.spare = c.spare[:n-1]
		return t
	}
	if c.cost <= c.limit-c.stats.Bytes {
		c.stats.Bytes += c.cost
		return &Tile{C: c.allocate(c.width)}
	}
	t := c.used.next
	if t == &c.used {
		return nil
	}
	c.unlink(t)
	c.stats.Evicted++
	return c.renew(t)
}

// renew makes a new tile of the values of another and of its room in the cache. Who still holds the
// old one, against the rules, finds nothing rather than values of another.
func (c *Cache) renew(t *Tile) *Tile {
	delete(c.tiles, t.key)
	fresh := &Tile{C: t.C}
	t.C = nil
	return fresh
}

// pin takes a tile out of those that may be dropped.
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

// Complete says that the values of a tile that was [Mine] are there. The tile stays pinned.
func (c *Cache) Complete(t *Tile) {
	c.mu.Lock()
	defer c.mu.Unlock()
	t.ready = true
	c.wake(t)
}

// Abandon says that there will be no values for a tile that was [Mine], and releases it.
func (c *Cache) Abandon(t *Tile) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.spare = append(c.spare, c.renew(t))
	c.wake(t)
}

func (c *Cache) wake(t *Tile) {
	if t.done != nil {
		close(t.done)
		t.done = nil
	}
}

// Release unpins a tile once. Its last release makes it the most recently used one.
func (c *Cache) Release(t *Tile) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if t.pins--; t.pins == 0 {
		t.prev, t.next = c.used.prev, &c.used
		t.prev.next, t.next.prev = t, t
	}
}
