package engine

import (
	"runtime"
	"testing"

	"github.com/gramengine/gram/engine/internal/cache"
	"github.com/gramengine/gram/internal/musttest"
	"github.com/gramengine/gram/sparse"
)

// The heap stays within the bound, including tiles, their metadata and scratch space.
func TestCachedHeap(t *testing.T) {
	n := 1500
	x := embedded(t, sparse.SphereEmbedding, zipf(n, 3000, 20, 3))
	e := newEngine(t, x, Options{Workers: 1})
	dst := NewDense(200, n)
	into := make([][]float32, dst.Rows)
	rows := make([]int, dst.Rows)
	for i := range into {
		into[i] = dst.Row(i)
	}
	heap := func() int64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.GC() // the first call doesn't free memory of pools, unless a collection was running
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	limit := scratchBytes(e) + 2<<20
	for try := range 2 {
		before := heap()
		c := newCached(t, e, CacheOptions{CacheBytes: limit})
		for first := range 20 {
			for i := range rows {
				rows[i] = (first*151 + i) % n
			}
			musttest.NoError(t, c.Rows(t.Context(), parse(t, "c"), rows, [][2]int{{0, n}}, into))
		}
		held := heap() - before
		// At the first try the scratch space of the engine also grows.
		if s := c.Stats(); try == 1 && (held > limit || held < s.Bytes*9/10 || s.Evictions == 0) {
			t.Errorf("the heap holds %d bytes more, the bound is %d, %+v", held, limit, s)
		}
	}
	runtime.KeepAlive(dst)
}

// Computing columns in pieces takes the same work as computing whole rows: each match of a posting
// list is processed once.
func TestCachedDoesNoMore(t *testing.T) {
	n := cache.DefaultTileColumns + 300
	x := embedded(t, sparse.SphereEmbedding, zipf(n, 4000, 12, 7))
	for _, workers := range []int{1, 2} { // one worker continues from block to block, two divide the columns
		e := newEngine(t, x, Options{Workers: workers, HeadTerms: 100})
		rows, dst := make([]int, 50), NewDense(50, n)
		into := make([][]float32, len(rows))
		for i := range rows {
			rows[i], into[i] = i*71, dst.Row(i)
		}
		count := func(run func() error) Stats {
			t.Helper()
			before := e.Stats()
			musttest.NoError(t, run())
			s := e.Stats().Sub(before)
			return Stats{Pairs: s.Pairs, RecomputedPairs: s.RecomputedPairs, HeadValues: s.HeadValues,
				TailMatches: s.TailMatches}
		}
		want := count(func() error { return of(e.Rows(t.Context(), parse(t, "c"), Request{RowIndices: rows}, dst)) })
		c := newCached(t, e, CacheOptions{CacheBytes: scratchBytes(e)})
		got := count(func() error { return c.Rows(t.Context(), parse(t, "c"), rows, [][2]int{{0, n}}, into) })
		if got != want || got.TailMatches == 0 {
			t.Errorf("%d workers: %+v, expected %+v", workers, got, want)
		}
	}
}
