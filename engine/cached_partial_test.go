package engine

import (
	"runtime"
	"testing"

	"github.com/gramengine/gram/sparse"
)

// What the heap really holds stays within the bound, tiles, their administration and scratch space together.
func TestCachedHeap(t *testing.T) {
	n := 1500
	x := embedded(t, sparse.Sphere, zipf(n, 3000, 20, 3))
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
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	limit := scratchBytes(e) + 2<<20
	for try := range 2 {
		before := heap()
		c := newCached(t, e, CachedOptions{CacheBytes: limit})
		for first := range 20 {
			for i := range rows {
				rows[i] = (first*151 + i) % n
			}
			if err := c.Rows(t.Context(), parse(t, "c"), rows, [][2]int{{0, n}}, into); err != nil {
				t.Fatal(err)
			}
		}
		held := heap() - before
		// At the first try the engine's own scratch space grows, too.
		if s := c.Stats(); try == 1 && (held > limit || held < s.Bytes*9/10 || s.Evicted == 0) {
			t.Errorf("the heap holds %d bytes more, the bound is %d, %+v", held, limit, s)
		}
	}
	runtime.KeepAlive(dst)
}

// Computing columns in pieces does the same work as computing whole rows: no match of a posting list is met twice.
func TestCachedDoesNoMore(t *testing.T) {
	n := blockCols + 300
	x := embedded(t, sparse.Sphere, zipf(n, 4000, 12, 7))
	for _, workers := range []int{1, 2} { // one continues from block to block, two share the columns
		e := newEngine(t, x, Options{Workers: workers, HeadTerms: 100})
		rows, dst := make([]int, 50), NewDense(50, n)
		into := make([][]float32, len(rows))
		for i := range rows {
			rows[i], into[i] = i*71, dst.Row(i)
		}
		count := func(run func() error) Stats {
			t.Helper()
			before := e.Stats()
			if err := run(); err != nil {
				t.Fatal(err)
			}
			s := e.Stats().Sub(before)
			return Stats{Pairs: s.Pairs, Recomputed: s.Recomputed, HeadValues: s.HeadValues, TailMatches: s.TailMatches}
		}
		want := count(func() error { return e.Rows(t.Context(), parse(t, "c"), rows, dst) })
		c := newCached(t, e, CachedOptions{CacheBytes: scratchBytes(e)})
		got := count(func() error { return c.Rows(t.Context(), parse(t, "c"), rows, [][2]int{{0, n}}, into) })
		if got != want || got.TailMatches == 0 {
			t.Errorf("%d workers: %+v, expected %+v", workers, got, want)
		}
	}
}

// Ranges of columns have the same bits as all columns, in whatever order they come.
func TestPanelColumns(t *testing.T) {
	n := 5*sparse.Block + 17
	e := newEngine(t, embedded(t, sparse.Sphere, zipf(n, 4000, 12, 7)), Options{HeadTerms: 100})
	p := e.borrow()
	p.load(e.own, []int{4, 600, 17})
	defer p.unload()
	into := func(c []float32) func(lo, hi int, tile []float32) error {
		return func(lo, hi int, tile []float32) error {
			copy(c[lo*e.kernels.Panel:hi*e.kernels.Panel], tile)
			return nil
		}
	}
	want, got := make([]float32, n*e.kernels.Panel), make([]float32, n*e.kernels.Panel)
	if err := p.run(t.Context(), all, into(want)); err != nil {
		t.Fatal(err)
	}
	for _, r := range [][2]int{{2, 3}, {0, 1}, {1, 2}, {4, 6}, {3, 4}, {0, 1}} {
		if err := p.runColumns(t.Context(), all, r[0]*sparse.Block, min(r[1]*sparse.Block, n), into(got)); err != nil {
			t.Fatal(err)
		}
	}
	if !sameBits(got, want) {
		t.Error("ranges of columns differ from all columns")
	}
}

func TestShareOut(t *testing.T) {
	const panel = 4
	for _, workers := range []int{1, 2, 5} {
		for _, rows := range []int{1, 3, 4, 9} {
			for _, blocks := range []int{1, 2, 7} {
				var mine []need
				for b := range blocks {
					for r := range rows {
						if b != 4 || r != 1 { // one row is there already in one block
							mine = append(mine, need{r: r, span: span{block: b}})
						}
					}
				}
				tasks := shareOut(mine, panel, workers)
				seen := map[[2]int]int{}
				groups := 0
				for _, task := range tasks {
					for g, group := range task {
						groups++
						if len(group) == 0 || len(group) > panel {
							t.Errorf("a group of %d tiles", len(group))
						}
						for i, m := range group {
							seen[[2]int{m.r, m.span.block}]++
							if m.r != task[0][i].r || len(group) != len(task[0]) || m.span.block != task[0][0].span.block+g {
								t.Errorf("tiles %+v after %+v in one task", group, task[0])
							}
						}
					}
				}
				for key, times := range seen {
					if times != 1 {
						t.Errorf("tile %v is computed %d times", key, times)
					}
				}
				if len(seen) != len(mine) {
					t.Errorf("%d of %d tiles are computed", len(seen), len(mine))
				}
				if workers == 1 && blocks == 2 && len(tasks) != (rows+panel-1)/panel {
					t.Errorf("%d tasks of one worker for %d rows, expected each panel to be loaded once", len(tasks), rows)
				}
				if len(tasks) < min(workers, groups) {
					t.Errorf("%d tasks of %d groups for %d workers", len(tasks), groups, workers)
				}
			}
		}
	}
}
