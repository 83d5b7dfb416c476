package engine

import (
	"context"
	"fmt"
	"testing"

	"github.com/gramengine/gram/engine/internal/cache"
	"github.com/gramengine/gram/internal/musttest"
	"github.com/gramengine/gram/sparse"
	"github.com/gramengine/gram/tiles"
)

// The rows that are there: what a solver waits for.
func BenchmarkCachedHit(b *testing.B) {
	n := 10000
	x := embedded(b, sparse.Sphere, zipf(n, 20000, 10, 1))
	e := newEngine(b, x, Options{Workers: 1})
	for name, bytes := range map[string]int64{"whole": 0, "tiles": 300 << 20} {
		for _, spec := range []string{"c", "diffusion:t=0.5"} {
			k := parse(b, spec)
			b.Run(fmt.Sprintf("cache=%s/cols=%d/kernel=%s", name, n, spec), func(b *testing.B) {
				c := newCached(b, e, CachedOptions{CacheBytes: bytes})
				dst := [][]float32{make([]float32, n)}
				columns := [][2]int{{0, n}}
				all, row := make([]int, 256), [1]int{}
				for i := range all {
					all[i] = i * 39
				}
				into := NewDense(len(all), n)
				rows := make([][]float32, len(all))
				for i := range rows {
					rows[i] = into.Row(i)
				}
				musttest.Do(b, c.Rows(b.Context(), k, all, columns, rows))
				i := 0
				b.ResetTimer()
				for b.Loop() {
					row[0] = all[i%len(all)]
					i += 7
					musttest.Do(b, c.Rows(context.Background(), k, row[:], columns, dst))
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/value")
			})
		}
	}
}

// The rows that aren't there, a panel of them at a time, against Rows of the engine on one worker:
// what a cache costs that never helps.
func BenchmarkCachedMiss(b *testing.B) {
	n := 10000
	x := embedded(b, sparse.Sphere, zipf(n, 20000, 60, 1))
	e := newEngine(b, x, Options{Workers: 1})
	k := parse(b, "diffusion:t=0.5")
	width := e.Panel()
	rows, dst := make([]int, width), NewDense(width, n)
	into := make([][]float32, width)
	for i := range into {
		into[i] = dst.Row(i)
	}
	c := newCached(b, e, CachedOptions{CacheBytes: scratchBytes(e) + int64(2*width)*tiles.TileBytes(cache.BlockCols)})
	step := 0
	next := func() {
		step++
		for i := range rows {
			rows[i] = (step*37 + i*151) % n
		}
	}
	pairs := float64(width) * float64(n)
	b.Run("by=tiles", func(b *testing.B) {
		for b.Loop() {
			next()
			musttest.Do(b, c.Rows(context.Background(), k, rows, [][2]int{{0, n}}, into))
		}
		b.ReportMetric(pairs*float64(b.N)/b.Elapsed().Seconds(), "pairs/s")
	})
	b.Run("by=engine", func(b *testing.B) {
		for b.Loop() {
			next()
			musttest.Do(b, e.Rows(context.Background(), k, rows, dst))
		}
		b.ReportMetric(pairs*float64(b.N)/b.Elapsed().Seconds(), "pairs/s")
	})
}
