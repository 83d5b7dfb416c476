package tiles

import (
	"context"
	"errors"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
)

var errFull = errors.New("no room")

// get returns a tile, pinned. It calls compute for the values unless another caller computes them.
func get(ctx context.Context, c *Cache, key Key, compute func(dst []float32) error) (*Tile, error) {
	for {
		state, t, done := c.Claim(key)
		switch state {
		case Ready:
			return t, nil
		case Claimed:
			if err := compute(t.Values); err != nil {
				c.Abandon(t)
				return nil, err
			}
			c.Complete(t)
			return t, nil
		case Full:
			return nil, errFull
		}
		select {
		case <-done:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// fill returns a function that writes unique values for a tile.
func fill(key Key) func([]float32) error {
	return func(dst []float32) error {
		for i := range dst {
			dst[i] = float32(key.Row)*1000 + float32(key.Block)*100 + float32(i)
		}
		return nil
	}
}

func holds(t *Tile, key Key) bool {
	want := make([]float32, len(t.Values))
	_ = fill(key)(want)
	return slices.Equal(t.Values, want)
}

// resident reports whether the values of a tile are in the cache, without marking it as used.
func resident(c *Cache, key Key) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	t := c.tiles[key]
	return t != nil && t.ready
}

func TestCacheDropsLeastRecentlyUsed(t *testing.T) {
	c := NewCache(8, 3*TileBytes(8)+TileBytes(8)-1) // space for three tiles
	use := func(row uint32) {
		tile, err := get(t.Context(), c, Key{Row: row}, fill(Key{Row: row}))
		if err != nil || !holds(tile, Key{Row: row}) {
			t.Fatalf("row %d: %v", row, err)
		}
		c.Release(tile)
	}
	there := func() (rows []uint32) {
		for row := range uint32(10) {
			if resident(c, Key{Row: row}) {
				rows = append(rows, row)
			}
		}
		return rows
	}
	for _, step := range []struct {
		use  uint32
		want []uint32
	}{
		{0, []uint32{0}}, {1, []uint32{0, 1}}, {2, []uint32{0, 1, 2}}, {0, []uint32{0, 1, 2}},
		{3, []uint32{0, 2, 3}}, {2, []uint32{0, 2, 3}}, {4, []uint32{2, 3, 4}}, {5, []uint32{2, 4, 5}},
	} {
		use(step.use)
		if got := there(); !slices.Equal(got, step.want) {
			t.Errorf("after row %d: resident %v, expected %v", step.use, got, step.want)
		}
	}
	want := CacheStats{Hits: 2, Misses: 6, Evictions: 3, Bytes: 3 * TileBytes(8), Limit: 4*TileBytes(8) - 1}
	if got := c.Stats(); got != want {
		t.Errorf("counts %+v, expected %+v", got, want)
	}
	if c.Lookup(Key{Row: 9}) != nil || c.Stats().Misses != 6 {
		t.Error("Lookup of what isn't there counts as a miss")
	}
}

func TestCacheKeepsPinnedTiles(t *testing.T) {
	c := NewCache(4, 2*TileBytes(4))
	a, _ := get(t.Context(), c, Key{Row: 1}, fill(Key{Row: 1}))
	again := c.Lookup(Key{Row: 1})
	b, _ := get(t.Context(), c, Key{Row: 2}, fill(Key{Row: 2}))
	if _, err := get(t.Context(), c, Key{Row: 3}, fill(Key{Row: 3})); err != errFull {
		t.Fatalf("a third tile where two are pinned: %v", err)
	}
	c.Release(a)
	if _, err := get(t.Context(), c, Key{Row: 3}, fill(Key{Row: 3})); err != errFull {
		t.Fatalf("a tile pinned twice was dropped when it was released once: %v", err)
	}
	c.Release(again)
	third, err := get(t.Context(), c, Key{Row: 3}, fill(Key{Row: 3}))
	if err != nil || resident(c, Key{Row: 1}) || !holds(third, Key{Row: 3}) || !holds(b, Key{Row: 2}) {
		t.Errorf("after the release: %v", err)
	}
	if got := c.Stats(); got.Refusals != 2 || got.Misses != 5 || got.Bytes != 2*TileBytes(4) {
		t.Errorf("counts %+v", got)
	}
}

func TestCacheForgetsErrors(t *testing.T) {
	c := NewCache(4, TileBytes(4))
	failure := errors.New("disk on fire")
	if _, err := get(t.Context(), c, Key{}, func([]float32) error { return failure }); err != failure {
		t.Fatalf("error %v, expected %v", err, failure)
	}
	if resident(c, Key{}) {
		t.Error("a tile without values is resident")
	}
	tile, err := get(t.Context(), c, Key{Row: 7}, fill(Key{Row: 7}))
	if err != nil || !holds(tile, Key{Row: 7}) || c.Stats().Bytes != TileBytes(4) {
		t.Errorf("the abandoned tile's room isn't used again: %v, %+v", err, c.Stats())
	}
}

// If many callers claim a tile concurrently, one computes the values, and cancelling a waiting
// caller doesn't affect the others.
func TestCacheMakesOnce(t *testing.T) {
	c := NewCache(16, 10*TileBytes(16))
	var made atomic.Int32
	begun, finish := make(chan struct{}), make(chan struct{})
	compute := func(dst []float32) error {
		made.Add(1)
		close(begun)
		<-finish
		return fill(Key{Row: 5})(dst)
	}
	var wg, cancelled sync.WaitGroup
	ask := func(ctx context.Context, wg *sync.WaitGroup, want error) {
		wg.Go(func() {
			tile, err := get(ctx, c, Key{Row: 5}, compute)
			if err != want || err == nil && !holds(tile, Key{Row: 5}) {
				t.Errorf("error %v, expected %v", err, want)
			}
			if err == nil {
				c.Release(tile)
			}
		})
	}
	ask(t.Context(), &wg, nil)
	<-begun
	ctx, cancel := context.WithCancel(t.Context())
	for range 10 {
		ask(t.Context(), &wg, nil)
		ask(ctx, &cancelled, context.Canceled)
	}
	for c.Stats().Waits < 20 {
	}
	cancel()
	cancelled.Wait() // cancelled callers return before the tile is complete, so that only one event can end their wait
	close(finish)
	wg.Wait()
	if n := made.Load(); n != 1 {
		t.Errorf("made %d times", n)
	}
}

// If the caller that computes a tile is cancelled, one of the waiting callers computes it.
func TestCacheHandsOver(t *testing.T) {
	c := NewCache(16, 10*TileBytes(16))
	begun := make(chan struct{})
	ctx, cancel := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	wg.Go(func() {
		_, err := get(ctx, c, Key{}, func([]float32) error { close(begun); <-ctx.Done(); return ctx.Err() })
		if err != context.Canceled {
			t.Errorf("who was cancelled got %v", err)
		}
	})
	<-begun
	var made atomic.Int32
	for range 5 {
		wg.Go(func() {
			tile, err := get(t.Context(), c, Key{}, func(dst []float32) error { made.Add(1); return fill(Key{})(dst) })
			if err != nil || !holds(tile, Key{}) {
				t.Errorf("who waited got %v", err)
			}
		})
	}
	for c.Stats().Waits < 5 {
	}
	cancel()
	wg.Wait()
	if n := made.Load(); n != 1 {
		t.Errorf("made %d times after it was abandoned", n)
	}
}

// Many goroutines pin, compute and abandon tiles at random. The memory bound holds at every
// allocation and every check, and values are correct.
func TestCacheBoundUnderLoad(t *testing.T) {
	const width, room = 32, 23
	limit := room*TileBytes(width) + 5
	c := NewCache(width, limit)
	var allocated atomic.Int64
	c.allocate = func(width int) []float32 {
		values := newValues(width)
		if total := allocated.Add(4*int64(cap(values)) + tileOverhead); total > limit {
			t.Errorf("allocated %d bytes, the bound is %d", total, limit)
		}
		return values
	}
	steps := 4000
	if testing.Short() {
		steps = 1000
	}
	var making [64]atomic.Int32
	var wg sync.WaitGroup
	for g := range uint64(16) {
		wg.Go(func() {
			r := rand.New(rand.NewPCG(g, 9))
			var held []*Tile
			var keys []Key
			for range steps {
				key := Key{uint32(r.IntN(16)), uint32(r.IntN(4))}
				tile, err := get(t.Context(), c, key, func(dst []float32) error {
					at := &making[key.Row*4+key.Block]
					if at.Add(1) != 1 {
						t.Errorf("%v is made twice at the same time", key)
					}
					defer at.Add(-1)
					if r.IntN(5) == 0 {
						return errors.New("no luck")
					}
					return fill(key)(dst)
				})
				if err == nil {
					held, keys = append(held, tile), append(keys, key)
				}
				if seen := c.Lookup(key); seen != nil {
					held, keys = append(held, seen), append(keys, key)
				}
				runtime.Gosched() // other goroutines run while tiles are pinned, even on one CPU
				if b := c.Stats().Bytes; b > limit {
					t.Errorf("holds %d bytes, the bound is %d", b, limit)
				}
				for len(held) > 3 || len(held) > 0 && r.IntN(3) == 0 {
					last := len(held) - 1
					if !holds(held[last], keys[last]) {
						t.Errorf("a pinned tile of %v changed", keys[last])
					}
					c.Release(held[last])
					held, keys = held[:last], keys[:last]
				}
			}
			for _, tile := range held {
				c.Release(tile)
			}
		})
	}
	wg.Wait()
	if s := c.Stats(); s.Bytes != allocated.Load() || s.Bytes != room*TileBytes(width) || s.Evictions == 0 ||
		s.Refusals == 0 {
		t.Errorf("counts %+v with %d bytes allocated: the test doesn't reach what it should", s, allocated.Load())
	}
	if n := len(c.tiles) + len(c.freeTiles); n != room {
		t.Errorf("%d tiles in all, expected %d", n, room)
	}
}
