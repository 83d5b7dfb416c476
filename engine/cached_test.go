package engine

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/gramengine/gram/asm"
	"github.com/gramengine/gram/engine/device"
	"github.com/gramengine/gram/engine/internal/cache"
	"github.com/gramengine/gram/engine/internal/panel"
	"github.com/gramengine/gram/engine/kernel"
	"github.com/gramengine/gram/internal/musttest"
	"github.com/gramengine/gram/internal/run"
	"github.com/gramengine/gram/sparse"
	"github.com/gramengine/gram/tiles"
)

func newCached(t testing.TB, e *Engine, opt CacheOptions) *Cache {
	t.Helper()
	return musttest.Get(e.NewCache(opt))(t)
}

// scratchBytes is the memory of a partial cache without its tiles.
func scratchBytes(e *Engine) int64 {
	return cache.ScratchBytes(e.Info().Workers, e.Info().Kernels.PanelWidth)
}

// check requests rows in ranges of columns, and compares them with the matrix.
func check(ctx context.Context, c *Cache, k kernel.Kernel, want *Symmetric, rows []int, columns [][2]int) error {
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

// For any bound, rows are bit-identical to Gram, with several blocks of columns and a short last
// block.
func TestCachedSameBits(t *testing.T) {
	n := cache.DefaultTileColumns + 300
	x := embedded(t, sparse.SphereEmbedding, zipf(n, 4000, 12, 7))
	kernels := []kernel.Kernel{parse(t, "c"), parse(t, "arccos:n=1,embed="+sparse.SphereEmbedding.String())}
	var want []*Symmetric
	for _, k := range kernels {
		want = append(want, gram(t, newEngine(t, x, Options{}), k))
	}
	numbers := []int{1, 2, 7}
	if testing.Short() {
		numbers = numbers[2:]
	}
	for _, workers := range numbers {
		e := newEngine(t, x, Options{Workers: workers})
		scratch := scratchBytes(e)
		for _, bytes := range []int64{0, scratch / int64(workers), scratch, scratch + 3*tiles.TileBytes(3000),
			scratch + 2<<20, scratch + 50<<20} {
			c := newCached(t, e, CacheOptions{CacheBytes: bytes, TileColumns: int(bytes % 1000)})
			if c.FitsInMemory() != (bytes == 0) {
				t.Fatalf("%d bytes for %d documents: Whole is %v", bytes, n, c.FitsInMemory())
			}
			r := rand.New(rand.NewPCG(3, uint64(workers)))
			for range 6 {
				rows := musttest.MakeSlice(1+r.IntN(100), func(i int) int { return r.IntN(min(n, 300)) }) // with repetitions
				a, b := r.IntN(n), r.IntN(n)
				columns := [][][2]int{{{0, n}}, {{min(a, b), max(a, b)}}, {{n - 5, n}, {0, 3}, {7, 7}, {a, min(a+900,
					n)}}, {}}[r.IntN(4)]
				which := r.IntN(len(kernels))
				if err := check(t.Context(), c, kernels[which], want[which], rows, columns); err != nil {
					t.Errorf("%d workers, %d bytes, %v: %v", workers, bytes, kernels[which], err)
				}
				if s := c.Stats(); s.Bytes > s.Limit || bytes > 0 && s.Limit != bytes {
					t.Errorf("%d bytes are held, the bound is %d of %d", s.Bytes, s.Limit, bytes)
				}
			}
		}
		// Several ranges in a block request its tile once.
		c := newCached(t, e, CacheOptions{CacheBytes: scratch + 2<<20})
		err := check(t.Context(), c, kernels[0], want[0], []int{9}, [][2]int{{0, 3}, {n - 5, n}, {3, 6}})
		if err != nil {
			t.Error(err)
		}
		if s := c.Stats(); s.Misses != 2 || s.Hits+s.Waits != 0 {
			t.Errorf("counts %+v, expected 2 misses", s)
		}
	}
}

// Rows releases all tiles: the cache is never full for requests that fit.
func TestCachedReleasesTiles(t *testing.T) {
	n := 600
	x := embedded(t, sparse.SphereEmbedding, zipf(n, 3000, 20, 3))
	e := newEngine(t, x, Options{Workers: 2})
	k := parse(t, "c")
	want := gram(t, e, k)
	c := newCached(t, e, CacheOptions{CacheBytes: scratchBytes(e) + 40*tiles.TileBytes(640)})
	for first := range 100 {
		rows := musttest.MakeSlice(30, func(i int) int { return (first*3 + i) % n })
		musttest.NoError(t, check(t.Context(), c, k, want, rows, [][2]int{{0, n}}))
	}
	// 27 rows of each request are also in the previous request.
	if s := c.Stats(); s.Refusals != 0 || s.Misses != 30+99*3 || s.Hits != 99*27 || s.Evictions != s.Misses-40 {
		t.Errorf("counts %+v", s)
	}
}

// A search over kernel parameters computes each c once, by the engine's count of dot products.
func TestCachedComputesOnce(t *testing.T) {
	n := 700
	x := embedded(t, sparse.SphereEmbedding, zipf(n, 4000, 30, 7))
	e := newEngine(t, x, Options{Workers: 2})
	specs := []string{"diffusion:t=0.1", "diffusion:t=1", "ngd", "bhattacharyya"}
	var want []*Symmetric
	for _, spec := range specs {
		want = append(want, gram(t, e, parse(t, spec)))
	}
	half := e.Stats().Pairs / int64(len(specs)) // pairs of Gram, with both halves within panels
	for name, bytes := range map[string]int64{"whole": 0, "partial": cache.FullMatrixBytes(n) - 1} {
		t.Run(name, func(t *testing.T) {
			c := newCached(t, e, CacheOptions{CacheBytes: bytes})
			before := e.Stats().Pairs
			var rows []int // as many rows as fit
			for i := range n / 2 {
				rows = append(rows, (i*37)%n)
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
				if s := c.Stats(); s.Misses != int64(len(rows)) || s.Hits != 11*int64(len(rows)) || s.Evictions != 0 {
					t.Errorf("counts %+v", s)
				}
			}
			if computed != all || c.Stats().PairsComputed != own {
				t.Errorf("%d dot products, %d by its own count, expected %d and %d", computed, c.Stats().PairsComputed, all,
					own)
			}
			if want := 12 * int64(len(rows)) * int64(n); c.Stats().ValuesServed != want {
				t.Errorf("%d values served, expected %d", c.Stats().ValuesServed, want)
			}
		})
	}
}

// Many goroutines with different rows, kernels and deadlines share a cache that is too small for
// them.
func TestCachedUnderLoad(t *testing.T) {
	n := 600
	x := embedded(t, sparse.SphereEmbedding, zipf(n, 3000, 20, 3))
	e := newEngine(t, x, Options{Workers: 3})
	kernels := []kernel.Kernel{parse(t, "diffusion:t=0.5"), parse(t, "c")}
	want := []*Symmetric{gram(t, e, kernels[0]), gram(t, e, kernels[1])}
	for name, opt := range map[string]CacheOptions{
		"whole":   {},
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
						rows := musttest.MakeSlice(1+r.IntN(80), func(i int) int { return r.IntN(n) })
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

// stopping is a back end that cancels a context while it works.
type stopping struct {
	device.Backend
	tiles atomic.Int64
	stop  func()
}

func (s *stopping) ComputeRows(ctx context.Context, r *device.Request, visit func(t *device.Tile) error) error {
	return s.Backend.ComputeRows(ctx, r, func(t *device.Tile) error {
		if s.tiles.Add(1)%40 == 0 {
			s.stop()
		}
		return visit(t)
	})
}

// A cancelled build is continued later. Only pairs of unfinished panels are computed twice.
func TestCachedBuildGoesOn(t *testing.T) {
	n := 3000
	x := embedded(t, sparse.SphereEmbedding, zipf(n, 4000, 30, 7))
	own := musttest.Get(panel.New(t.Context(), x, panel.Options{Kernels: asm.BestKernels(), Workers: 2}))(t)
	var last Progress
	d := &stopping{Backend: own}
	e := newEngine(t, x, Options{Workers: 2, Progress: func(p Progress) { last = p },
		Device: func(context.Context, *sparse.Embedded) (Device, error) { return d, nil }})
	c := newCached(t, e, CacheOptions{})
	ended := 0
	for {
		var ctx context.Context
		ctx, d.stop = context.WithCancel(t.Context())
		err := c.Build(ctx)
		d.stop()
		if err == nil {
			break
		}
		if !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
		ended++
	}
	d.stop = func() {}
	all := int64(n) * int64(n+1) / 2
	if c.Stats().PairsComputed != all || last.Done != all || last.Total != all {
		t.Errorf("%d pairs computed, %+v reported, expected %d", c.Stats().PairsComputed, last, all)
	}
	if ended == 0 {
		t.Error("nothing was cancelled: the test doesn't reach what it should")
	}
	k := parse(t, "c")
	if want := gram(t, e, k); !sameBits(wholeOf(t, c).Data, want.Data) {
		t.Error("the matrix differs from Gram")
	}
}

func TestMatrix(t *testing.T) {
	n := 150
	for _, spec := range []string{"linear", "rbf:gamma=0.01", "diffusion:t=1", "arccos:n=2", "chi2", "js:t=0.3"} {
		k := parse(t, spec)
		x := embedded(t, k.Embedding(), zipf(n, 3000, 20, 3))
		e := newEngine(t, x, Options{})
		m := musttest.Get(newCached(t, e, CacheOptions{}).Matrix(k))(t)
		want := gram(t, e, k)
		for i, d := range m.Diagonal() {
			if math.Float32bits(d) != math.Float32bits(want.Row(i)[i]) {
				t.Errorf("%s: diagonal %d is %v, expected %v", spec, i, d, want.Row(i)[i])
			}
		}
		dst := [][]float32{make([]float32, n)}
		if err := m.Rows(t.Context(), []int{7}, [][2]int{{0, n}}, dst); err != nil ||
			!slices.Equal(dst[0], want.Row(7)) {
			t.Errorf("%s: row 7: %v", spec, err)
		}
		if m.Len() != n || !m.Whole() {
			t.Errorf("%s: length %d", spec, m.Len())
		}
	}
}

func TestCachedBounds(t *testing.T) {
	n := 100
	x := embedded(t, sparse.SphereEmbedding, zipf(n, 3000, 20, 3))
	e := newEngine(t, x, Options{Workers: 1})
	var memory *MemoryError
	if _, err := e.NewCache(CacheOptions{CacheBytes: 100}); !errors.As(err, &memory) {
		t.Errorf("100 bytes: %v", err)
	}
	bound := musttest.Get(New(x, Options{Workers: 1, MemoryBytes: e.Info().Bytes + cache.FullMatrixBytes(n)}))(t)
	if _, err := bound.NewCache(CacheOptions{CacheBytes: cache.FullMatrixBytes(n) + 1}); !errors.As(err, &memory) {
		t.Errorf("more than the engine may take: %v", err)
	}
	c := newCached(t, bound, CacheOptions{})
	if !c.FitsInMemory() || c.Stats().Limit != cache.FullMatrixBytes(n) {
		t.Errorf("counts %+v, expected the whole matrix", c.Stats())
	}
	empty := newCached(t, newEngine(t, embedded(t, sparse.SphereEmbedding, zipf(0, 10, 1, 1)), Options{}), CacheOptions{})
	if err := empty.Rows(t.Context(), parse(t, "c"), nil, [][2]int{{0, 0}}, nil); err != nil {
		t.Errorf("no documents: %v", err)
	}
}

// wholeOf reads c of all pairs.
func wholeOf(t *testing.T, c *Cache) *Dense {
	t.Helper()
	n := c.Len()
	d := NewDense(n, n)
	rows := musttest.MakeSlice(n, d.Row)
	k := parseIn(t, "c", c.e.c.X.Embedder.Embedding)
	musttest.NoError(t, c.Rows(t.Context(), k, run.Range(0, n), [][2]int{{0, n}}, rows))
	return d
}
