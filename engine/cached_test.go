package engine

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/gramengine/gram/sparse"
	"github.com/gramengine/gram/tiles"
)

func newCached(t testing.TB, e *Engine, opt CachedOptions) *Cached {
	t.Helper()
	c, err := e.Cached(opt)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// scratchBytes is what a partial cache takes beside its tiles.
func scratchBytes(e *Engine) int64 {
	return int64(e.workers) * 4 * int64(e.kernels.Panel) * scratchStride
}

// check asks for rows in ranges of columns, and holds them against the matrix.
func check(ctx context.Context, c *Cached, k Kernel, want *Symmetric, rows []int, columns [][2]int) error {
	length := 0
	for _, r := range columns {
		length += r[1] - r[0]
	}
	dst := make([][]float32, len(rows))
	for r := range dst {
		dst[r] = make([]float32, length)
		for j := range dst[r] {
			dst[r][j] = float32(math.NaN())
		}
	}
	if err := c.Rows(ctx, k, rows, columns, dst); err != nil {
		return err
	}
	for r, i := range rows {
		var expected []float32
		for _, r := range columns {
			expected = append(expected, want.Row(i)[r[0]:r[1]]...)
		}
		if !sameBits(dst[r], expected) {
			return fmt.Errorf("row %d in columns %v differs from Gram", i, columns)
		}
	}
	return nil
}

// Whatever the bound, rows have the bits of Gram; here with more than one block of columns, of which the last is short.
func TestCachedSameBits(t *testing.T) {
	n := blockCols + 300
	x := embedded(t, sparse.Sphere, zipf(n, 4000, 12, 7))
	kernels := []Kernel{parse(t, "c"), parse(t, "arccos:n=1,embed="+sparse.Sphere.String())}
	var want []*Symmetric
	for _, k := range kernels {
		want = append(want, gram(t, newEngine(t, x, Options{}), k))
	}
	for _, workers := range []int{1, 2, 7} {
		e := newEngine(t, x, Options{Workers: workers})
		scratch := scratchBytes(e)
		for _, bytes := range []int64{0, scratch / int64(workers), scratch, scratch + 3*tiles.TileBytes(3000), scratch + 2<<20, scratch + 50<<20} {
			c := newCached(t, e, CachedOptions{CacheBytes: bytes})
			if c.Whole() != (bytes == 0) {
				t.Fatalf("%d bytes for %d documents: Whole is %v", bytes, n, c.Whole())
			}
			r := rand.New(rand.NewPCG(3, uint64(workers)))
			for range 6 {
				rows := make([]int, 1+r.IntN(100))
				for i := range rows {
					rows[i] = r.IntN(min(n, 300)) // some of them again
				}
				a, b := r.IntN(n), r.IntN(n)
				columns := [][][2]int{{{0, n}}, {{min(a, b), max(a, b)}}, {{n - 5, n}, {0, 3}, {7, 7}, {a, min(a+900, n)}}, {}}[r.IntN(4)]
				which := r.IntN(len(kernels))
				if err := check(t.Context(), c, kernels[which], want[which], rows, columns); err != nil {
					t.Errorf("%d workers, %d bytes, %v: %v", workers, bytes, kernels[which], err)
				}
				if s := c.Stats(); s.Bytes > s.Limit || bytes > 0 && s.Limit != bytes {
					t.Errorf("%d bytes are held, the bound is %d of %d", s.Bytes, s.Limit, bytes)
				}
			}
		}
		// Ranges that come back to a block ask for its tile once.
		c := newCached(t, e, CachedOptions{CacheBytes: scratch + 2<<20})
		if err := check(t.Context(), c, kernels[0], want[0], []int{9}, [][2]int{{0, 3}, {n - 5, n}, {3, 6}}); err != nil {
			t.Error(err)
		}
		if s := c.Stats(); s.Misses != 2 || s.Hits+s.Waits != 0 {
			t.Errorf("counts %+v, expected 2 misses", s)
		}
	}
}

// Rows leave nothing pinned: what fits never finds the cache full.
func TestCachedReleasesTiles(t *testing.T) {
	n := 600
	x := embedded(t, sparse.Sphere, zipf(n, 3000, 20, 3))
	e := newEngine(t, x, Options{Workers: 2})
	k := parse(t, "c")
	want := gram(t, e, k)
	c := newCached(t, e, CachedOptions{CacheBytes: scratchBytes(e) + 40*tiles.TileBytes(640)})
	for first := range 100 {
		rows := make([]int, 30)
		for i := range rows {
			rows[i] = (first*3 + i) % n
		}
		if err := check(t.Context(), c, k, want, rows, [][2]int{{0, n}}); err != nil {
			t.Fatal(err)
		}
	}
	// 27 rows of each request are those of the one before it.
	if s := c.Stats(); s.Refused != 0 || s.Misses != 30+99*3 || s.Hits != 99*27 || s.Evicted != s.Misses-40 {
		t.Errorf("counts %+v", s)
	}
}

// A search over the parameters of a kernel computes each c once; the engine's own count of dot products proves it.
func TestCachedComputesOnce(t *testing.T) {
	n := 700
	x := embedded(t, sparse.Sphere, zipf(n, 4000, 30, 7))
	e := newEngine(t, x, Options{Workers: 2})
	specs := []string{"diffusion:t=0.1", "diffusion:t=1", "ngd", "bhattacharyya"}
	var want []*Symmetric
	for _, spec := range specs {
		want = append(want, gram(t, e, parse(t, spec)))
	}
	half := e.Stats().Pairs / int64(len(specs)) // what Gram computes, with both halves of the panels' own documents
	for name, bytes := range map[string]int64{"whole": 0, "partial": wholeBytes(n) - 1} {
		t.Run(name, func(t *testing.T) {
			c := newCached(t, e, CachedOptions{CacheBytes: bytes})
			before := e.Stats().Pairs
			var rows []int // as many as there is room for
			for i := range n / 2 {
				rows = append(rows, (i*37)%n)
			}
			if c.Resident(rows[5], [][2]int{{0, n}}) {
				t.Error("a row is resident before it was asked for")
			}
			var wg sync.WaitGroup
			for range 3 {
				for s, spec := range specs {
					k := parse(t, spec)
					wg.Go(func() {
						if err := check(t.Context(), c, k, want[s], rows, [][2]int{{0, n}}); err != nil {
							t.Errorf("%s: %v", spec, err)
						}
					})
				}
			}
			wg.Wait()
			computed, all, own := e.Stats().Pairs-before, half, int64(n)*int64(n+1)/2
			if name == "partial" {
				all = int64(len(rows)) * int64(n)
				own = all
				if s := c.Stats(); s.Misses != int64(len(rows)) || s.Hits != 11*int64(len(rows)) || s.Evicted != 0 {
					t.Errorf("counts %+v", s)
				}
			}
			if computed != all || c.Stats().Computed != own {
				t.Errorf("%d dot products, %d by its own count, expected %d and %d", computed, c.Stats().Computed, all, own)
			}
			if want := 12 * int64(len(rows)) * int64(n); c.Stats().Served != want {
				t.Errorf("%d values served, expected %d", c.Stats().Served, want)
			}
			if !c.Resident(rows[5], [][2]int{{0, n}}) || c.Resident(n, nil) {
				t.Error("wrong rows are resident")
			}
		})
	}
}

// Many goroutines with different rows, kernels and ends of patience share a cache far too small for them.
func TestCachedUnderLoad(t *testing.T) {
	n := 600
	x := embedded(t, sparse.Sphere, zipf(n, 3000, 20, 3))
	e := newEngine(t, x, Options{Workers: 3})
	kernels := []Kernel{parse(t, "diffusion:t=0.5"), parse(t, "c")}
	want := []*Symmetric{gram(t, e, kernels[0]), gram(t, e, kernels[1])}
	dir := t.TempDir()
	store, err := tiles.OpenStore(dir)
	if err != nil {
		t.Fatal(err)
	}
	for name, opt := range map[string]CachedOptions{
		"whole":   {Store: store},
		"partial": {CacheBytes: scratchBytes(e) + 40*tiles.TileBytes(640)},
	} {
		t.Run(name, func(t *testing.T) {
			c := newCached(t, e, opt)
			var wg sync.WaitGroup
			var cancelled atomic.Int32
			for g := range uint64(12) {
				wg.Go(func() {
					r := rand.New(rand.NewPCG(g, 1))
					for range 25 {
						ctx, cancel := context.WithCancel(t.Context())
						switch r.IntN(6) {
						case 0:
							cancel()
						case 1:
							go cancel() // at any moment
						}
						rows := make([]int, 1+r.IntN(80))
						for i := range rows {
							rows[i] = r.IntN(n)
						}
						a := r.IntN(n)
						err := check(ctx, c, kernels[g%2], want[g%2], rows, [][2]int{{0, a}, {a, n}})
						if errors.Is(err, context.Canceled) && ctx.Err() != nil {
							cancelled.Add(1)
						} else if err != nil {
							t.Error(err)
						}
						cancel()
						if s := c.Stats(); s.Bytes > s.Limit {
							t.Errorf("%d bytes are held, the bound is %d", s.Bytes, s.Limit)
						}
					}
				})
			}
			wg.Wait()
			if cancelled.Load() == 0 {
				t.Error("nothing was cancelled: the test doesn't reach what it should")
			}
		})
	}
}

// A matrix that was computed once serves later runs; whatever is wrong with its files, values are right and only the wrong ones are computed again.
func TestCachedStore(t *testing.T) {
	n := 500
	x := embedded(t, sparse.Sphere, zipf(n, 3000, 20, 3))
	k := parse(t, "diffusion:t=0.5")
	e := newEngine(t, x, Options{Workers: 2})
	want := gram(t, e, k)
	dir := t.TempDir()
	run := func(what string, e *Engine, dir string, want *Symmetric, loaded, saved, damaged int64) *Cached {
		t.Helper()
		store, err := tiles.OpenStore(dir)
		if err != nil {
			t.Fatal(err)
		}
		c := newCached(t, e, CachedOptions{Store: store})
		if err := check(t.Context(), c, k, want, []int{3, 499, 77}, [][2]int{{0, n}}); err != nil {
			t.Errorf("%s: %v", what, err)
		}
		for i := range n {
			for j := range i {
				if math.Float32bits(c.whole.row(i)[j]) != math.Float32bits(c.whole.row(j)[i]) {
					t.Fatalf("%s: (%d, %d) differs from (%d, %d)", what, i, j, j, i)
				}
			}
		}
		if s := c.Stats(); s.Loaded != loaded || s.Saved != saved || s.Damaged != damaged {
			t.Errorf("%s: %d files loaded, %d saved, %d damaged, expected %d, %d and %d", what, s.Loaded, s.Saved, s.Damaged, loaded, saved, damaged)
		}
		return c
	}
	panels := int64((n + e.kernels.Panel - 1) / e.kernels.Panel)
	run("first", e, dir, want, 0, panels, 0)
	if c := run("again", e, dir, want, panels, 0, 0); c.Stats().Computed != 0 {
		t.Error("what was loaded is computed again")
	}
	files, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil || int64(len(files)) != panels {
		t.Fatalf("%d files: %v", len(files), err)
	}
	if err := os.Remove(files[0]); err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(files[1])
	if err != nil {
		t.Fatal(err)
	}
	content[len(content)/2] ^= 4
	if err := os.WriteFile(files[1], content, 0o666); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(files[2], 100); err != nil {
		t.Fatal(err)
	}
	run("damaged", e, dir, want, panels-3, 3, 2)
	run("mended", e, dir, want, panels, 0, 0)

	// Other documents, another head, another instruction set: not the same bits, so not the same files.
	other := embedded(t, sparse.Sphere, zipf(n, 3000, 20, 4))
	o := newEngine(t, other, Options{})
	run("other documents", o, dir, gram(t, o, k), 0, panels, 0)
	h := newEngine(t, x, Options{HeadTerms: 10})
	run("another head", h, dir, gram(t, h, k), 0, panels, 0)
	if e.ISA() != "generic" {
		g := newEngine(t, x, Options{ISA: "generic"})
		width := g.kernels.Panel
		run("generic", g, dir, gram(t, g, k), 0, int64((n+width-1)/width), 0)
	}
}

// A store that can't be written to costs nothing but the files.
func TestCachedStoreFails(t *testing.T) {
	n := 200
	x := embedded(t, sparse.Sphere, zipf(n, 3000, 20, 3))
	e := newEngine(t, x, Options{})
	k := parse(t, "c")
	dir := filepath.Join(t.TempDir(), "store")
	store, err := tiles.OpenStore(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(dir); err != nil {
		t.Fatal(err)
	}
	c := newCached(t, e, CachedOptions{Store: store})
	if err := check(t.Context(), c, k, gram(t, e, k), []int{0, 199}, [][2]int{{0, n}}); err != nil {
		t.Error(err)
	}
	if s := c.Stats(); s.StoreErr == nil || s.Saved != 0 || s.Damaged != 0 {
		t.Errorf("counts %+v", s)
	}
}

// A build that is cancelled goes on where it was; no pair is computed twice but for those of the panels that were under way.
func TestCachedBuildGoesOn(t *testing.T) {
	n := 3000
	x := embedded(t, sparse.Sphere, zipf(n, 4000, 30, 7))
	var cancel atomic.Pointer[context.CancelFunc]
	var last Progress
	e := newEngine(t, x, Options{Workers: 2, Progress: func(p Progress) { last = p }})
	c := newCached(t, e, CachedOptions{})
	ended := 0
	for try := 0; ; try++ {
		ctx, stop := context.WithCancel(t.Context())
		cancel.Store(&stop)
		go func() {
			for c.whole.misses.Load() < int64(10*(try+1)) && ctx.Err() == nil {
			}
			stop()
		}()
		err := c.Build(ctx)
		stop()
		if err == nil {
			break
		}
		if !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
		ended++
	}
	all := int64(n) * int64(n+1) / 2
	if c.Stats().Computed != all || last.Done != all || last.Total != all {
		t.Errorf("%d pairs computed, %+v reported, expected %d", c.Stats().Computed, last, all)
	}
	if ended == 0 {
		t.Error("nothing was cancelled: the test doesn't reach what it should")
	}
	k := parse(t, "c")
	if want := gram(t, e, k); !sameBits(c.whole.c, want.Data) {
		t.Error("the matrix differs from Gram")
	}
}

func TestMatrix(t *testing.T) {
	n := 150
	for _, spec := range []string{"linear", "rbf:gamma=0.01", "diffusion:t=1", "arccos:n=2"} {
		k := parse(t, spec)
		x := embedded(t, k.Embedding(), zipf(n, 3000, 20, 3))
		e := newEngine(t, x, Options{})
		m, err := newCached(t, e, CachedOptions{}).Matrix(k)
		if err != nil {
			t.Fatal(err)
		}
		want := gram(t, e, k)
		for i, d := range m.Diagonal() {
			if math.Float32bits(d) != math.Float32bits(want.Row(i)[i]) {
				t.Errorf("%s: diagonal %d is %v, expected %v", spec, i, d, want.Row(i)[i])
			}
		}
		dst := [][]float32{make([]float32, n)}
		if err := m.Rows(t.Context(), []int{7}, [][2]int{{0, n}}, dst); err != nil || !slices.Equal(dst[0], want.Row(7)) {
			t.Errorf("%s: row 7: %v", spec, err)
		}
		if m.Len() != n || !m.Resident(7, [][2]int{{0, n}}) {
			t.Errorf("%s: length %d", spec, m.Len())
		}
	}
}

func TestCachedRefusesNonsense(t *testing.T) {
	n := 100
	x := embedded(t, sparse.Sphere, zipf(n, 3000, 20, 3))
	e := newEngine(t, x, Options{Workers: 1})
	var memory *MemoryError
	if _, err := e.Cached(CachedOptions{CacheBytes: -1}); err == nil {
		t.Error("a negative bound passes")
	}
	if _, err := e.Cached(CachedOptions{CacheBytes: 100}); !errors.As(err, &memory) {
		t.Errorf("100 bytes: %v", err)
	}
	bound, err := New(x, Options{Workers: 1, MemoryBytes: e.Bytes() + wholeBytes(n)})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := bound.Cached(CachedOptions{CacheBytes: wholeBytes(n) + 1}); !errors.As(err, &memory) {
		t.Errorf("more than the engine may take: %v", err)
	}
	c := newCached(t, bound, CachedOptions{})
	if !c.Whole() || c.Stats().Limit != wholeBytes(n) {
		t.Errorf("counts %+v, expected the whole matrix", c.Stats())
	}
	k, row := parse(t, "c"), [][]float32{make([]float32, n)}
	for name, call := range map[string]func() error{
		"another embedding":  func() error { return c.Rows(t.Context(), parse(t, "linear"), []int{0}, [][2]int{{0, n}}, row) },
		"a row below":        func() error { return c.Rows(t.Context(), k, []int{-1}, [][2]int{{0, n}}, row) },
		"a row above":        func() error { return c.Rows(t.Context(), k, []int{n}, [][2]int{{0, n}}, row) },
		"a column below":     func() error { return c.Rows(t.Context(), k, []int{0}, [][2]int{{-1, n - 1}}, row) },
		"a column above":     func() error { return c.Rows(t.Context(), k, []int{0}, [][2]int{{1, n + 1}}, row) },
		"a range backwards":  func() error { return c.Rows(t.Context(), k, []int{0}, [][2]int{{n, 0}, {0, n}, {0, n}}, row) },
		"a row too short":    func() error { return c.Rows(t.Context(), k, []int{0}, [][2]int{{1, n}}, row) },
		"too few rows":       func() error { return c.Rows(t.Context(), k, []int{0, 1}, [][2]int{{0, n}}, row) },
		"diagonal, the same": func() error { _, err := c.Diagonal(parse(t, "linear")); return err },
		"matrix, the same":   func() error { _, err := c.Matrix(parse(t, "linear")); return err },
	} {
		if call() == nil {
			t.Errorf("%s passes", name)
		}
	}
	empty := newCached(t, newEngine(t, embedded(t, sparse.Sphere, zipf(0, 10, 1, 1)), Options{}), CachedOptions{})
	if err := empty.Rows(t.Context(), k, nil, [][2]int{{0, 0}}, nil); err != nil {
		t.Errorf("no documents: %v", err)
	}
}

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
				if err := c.Rows(b.Context(), k, all, columns, rows); err != nil {
					b.Fatal(err)
				}
				i := 0
				b.ResetTimer()
				for b.Loop() {
					row[0] = all[i%len(all)]
					i += 7
					if err := c.Rows(context.Background(), k, row[:], columns, dst); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/value")
			})
		}
	}
}

// The rows that aren't there, a panel of them at a time, against Rows of the engine on one worker: what a cache costs that never helps.
func BenchmarkCachedMiss(b *testing.B) {
	n := 10000
	x := embedded(b, sparse.Sphere, zipf(n, 20000, 60, 1))
	e := newEngine(b, x, Options{Workers: 1})
	k := parse(b, "diffusion:t=0.5")
	width := e.kernels.Panel
	rows, dst := make([]int, width), NewDense(width, n)
	into := make([][]float32, width)
	for i := range into {
		into[i] = dst.Row(i)
	}
	c := newCached(b, e, CachedOptions{CacheBytes: scratchBytes(e) + int64(2*width)*tiles.TileBytes(blockCols)})
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
			if err := c.Rows(context.Background(), k, rows, [][2]int{{0, n}}, into); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(pairs*float64(b.N)/b.Elapsed().Seconds(), "pairs/s")
	})
	b.Run("by=engine", func(b *testing.B) {
		for b.Loop() {
			next()
			if err := e.Rows(context.Background(), k, rows, dst); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(pairs*float64(b.N)/b.Elapsed().Seconds(), "pairs/s")
	})
}
