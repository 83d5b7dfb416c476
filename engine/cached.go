package engine

import (
	"context"
	"errors"
	"fmt"

	"github.com/gramengine/gram/engine/device"
	"github.com/gramengine/gram/engine/internal/cache"
	"github.com/gramengine/gram/engine/internal/compute"
	"github.com/gramengine/gram/engine/kernel"
	"github.com/gramengine/gram/internal/run"
	"github.com/gramengine/gram/tiles"
)

// CacheOptions are the options of [Engine.NewCache]. The zero value works.
type CacheOptions struct {
	// CacheBytes bounds the memory of tiles. Default: the size of the whole matrix, but at most the
	// unused part of Options.MemoryBytes. If Options.MemoryBytes is 0 and the matrix is larger than
	// the free memory, the default is half of the free memory.
	CacheBytes int64

	// TileColumns is the approximate number of columns per tile if not all tiles fit into memory.
	// It is rounded up to a multiple of 512; default 4096. Smaller tiles save work if only short
	// ranges of columns are read, such as the documents of one class.
	TileColumns int
}

// Cache provides rows of Gram matrices of an engine's documents. It stores tiles of c, which all
// kernels share, and applies the kernel when a row is read. If c of all pairs fits into CacheBytes,
// the first read computes c of all pairs. Otherwise rows are computed on demand, and the least
// recently used tiles are dropped.
//
// Values are bit-identical to [Engine.Gram]. Values computed by a device may differ by
// Kernel.Error. A Cache may be used concurrently.
type Cache struct {
	e *Engine
	c *cache.Cache
}

// CacheStats counts the work of a [Cache] since NewCache.
type CacheStats struct {
	tiles.CacheStats       // counts of tiles or, if FitsInMemory, of rows read and panels computed
	FitsInMemory     bool  `json:"whole"`    // true if c of all pairs fits into CacheBytes
	ValuesServed     int64 `json:"served"`   // number of kernel values served
	PairsComputed    int64 `json:"computed"` // number of pairs whose c was computed
}

// NewCache returns an empty cache for the engine's documents.
func (e *Engine) NewCache(opt CacheOptions) (*Cache, error) {
	if err := e.checkOpen(); err != nil {
		return nil, err
	}
	n := e.Len()
	limit := opt.CacheBytes
	switch {
	case opt.TileColumns < 0:
		return nil, fmt.Errorf("engine: TileColumns must be positive, or 0 for the default of %d, got %d",
			cache.DefaultTileColumns,
			opt.TileColumns)
	case limit < 0:
		return nil, fmt.Errorf("engine: CacheBytes must be positive, or 0 for the default, got %d", limit)
	case limit == 0 && e.memoryLimit > 0:
		limit = min(cache.FullMatrixBytes(n), max(e.memoryLimit-e.c.Bytes(), 0))
	case limit == 0:
		limit = cache.FullMatrixBytes(n)
		if short := (*MemoryError)(nil); errors.As(compute.CheckFreeMemory("", limit), &short) {
			limit = short.LimitBytes / 2
		}
	}
	if err := compute.CheckLimit("the tile cache", run.AddBytes(e.c.Bytes(), limit), e.memoryLimit); err != nil {
		return nil, err
	}
	c, err := cache.New(e.c, limit, opt.TileColumns)
	if err != nil {
		return nil, err
	}
	return &Cache{e, c}, nil
}

// Len returns the number of documents.
func (c *Cache) Len() int { return c.e.Len() }

// Engine returns the underlying engine.
func (c *Cache) Engine() *Engine { return c.e }

// FitsInMemory reports whether c of all pairs fits into CacheBytes.
func (c *Cache) FitsInMemory() bool { return c.c.FitsInMemory() }

// Stats returns the counters since c was made.
func (c *Cache) Stats() CacheStats { return CacheStats(c.c.Stats()) }

// Build computes c of all pairs if c fits into CacheBytes, like the first call of Rows. One caller
// computes while the other callers wait. If the ctx of the computing caller is done, another caller
// continues.
func (c *Cache) Build(ctx context.Context) error {
	if err := c.e.checkOpen(); err != nil {
		return err
	}
	return c.c.Build(ctx)
}

// Rows writes rows of the Gram matrix of k, restricted to the column ranges {lo₀, hi₀}, {lo₁, hi₁},
// …,
//
//	dst[r] = k(x_rows[r], x_j),  lo₀ <= j < hi₀, then lo₁ <= j < hi₁, …
//
// Rows and ranges may be in any order, and may repeat. The length of each dst[r] is the total
// length of the ranges. The slices of dst must not overlap. Rows that aren't cached are computed in
// panels: computing Info.Kernels.PanelWidth rows takes as long as computing one row. Progress is
// reported only if the whole matrix is computed. After an error dst is undefined.
func (c *Cache) Rows(ctx context.Context, k kernel.Kernel, rows []int, columns [][2]int, dst [][]float32) error {
	k, err := c.e.bind(k)
	if err != nil {
		return err
	}
	return (&Matrix{c: c, k: k}).Rows(ctx, rows, columns, dst)
}

// Matrix is the Gram matrix of a kernel, computed from cached tiles. It may be used concurrently.
type Matrix struct {
	c        *Cache
	k        kernel.Kernel
	diagonal []float32
}

// Matrix returns the Gram matrix of k. It computes only the diagonal; Rows computes other values.
func (c *Cache) Matrix(k kernel.Kernel) (*Matrix, error) {
	k, err := c.e.bind(k)
	if err != nil {
		return nil, err
	}
	diagonal, err := c.c.Diagonal(k)
	if err != nil {
		return nil, err
	}
	return &Matrix{c, k, diagonal}, nil
}

// Len returns the number of rows and columns.
func (m *Matrix) Len() int { return m.c.Len() }

// Diagonal returns the diagonal, which must not be changed.
func (m *Matrix) Diagonal() []float32 { return m.diagonal }

// Rows writes rows of the matrix, as [Cache.Rows] does.
func (m *Matrix) Rows(ctx context.Context, rows []int, columns [][2]int, dst [][]float32) error {
	if err := m.c.e.checkOpen(); err != nil {
		return err
	}
	return m.c.c.Rows(ctx, m.k, rows, columns, dst)
}

// Whole reports whether c of all pairs fits into CacheBytes.
func (m *Matrix) Whole() bool { return m.c.FitsInMemory() }

// Submatrix returns the Gram matrix of the documents docs, bit-identical to [Engine.Gram]. docs
// must be strictly increasing. Submatrix computes each pair once, without the cache. Submatrix is
// fast if docs consists of few ranges of consecutive documents.
func (m *Matrix) Submatrix(ctx context.Context, docs []int) (_ *Symmetric, err error) {
	e, n := m.c.e, len(docs)
	if err := e.checkOpen(); err != nil {
		return nil, err
	}
	for i, d := range docs {
		if d < 0 || d >= e.Len() || i > 0 && d <= docs[i-1] {
			return nil, fmt.Errorf("engine: docs must be strictly increasing and at most %d, got docs[%d] = %d",
				e.Len()-1, i, d)
		}
	}
	if err := e.checkFits(ctx, "the Gram matrix of selected documents", compute.MatrixBytes(n, n)); err != nil {
		return nil, err
	}
	g, err := newSymmetric(ctx, n)
	if err != nil {
		return nil, err
	}
	ctx, report := e.c.StartProgress(ctx, compute.TrianglePairCount(n))
	defer report.Finish(&err)
	for lo, hi := 0, 0; lo < n; lo = hi { // compute the pairs of documents lo to hi-1 and documents 0 to hi-1
		for hi = lo + 1; hi < n && docs[hi] == docs[hi-1]+1; hi++ {
		}
		first, end := docs[lo], docs[hi-1]+1
		for _, r := range []*device.Request{
			{RowIndices: docs[lo:hi], Hi: end, UpperOnly: true, Workers: e.c.Workers},
			{RowIndices: docs[:lo], Lo: first, Hi: end, Workers: e.c.Workers},
		} {
			row := 0
			if r.UpperOnly {
				row = lo
			}
			err := e.c.ComputeRows(ctx, m.k, r, report, func(t *device.Tile) error {
				i, j := row+t.FirstRow, lo+t.Lo-first
				e.c.Store(g.Data[j*n+i:], n, t, true)
				e.c.Store(g.Data[i*n+j:], n, t, false)
				return nil
			})
			if err != nil {
				return nil, err
			}
		}
	}
	return g, nil
}

// InMemoryMatrix is a Gram matrix with all rows in memory. It may be used concurrently, and must be
// closed.
type InMemoryMatrix struct {
	*Symmetric
	release func() // releases the memory; nil after Close
}

// Materialise computes the whole kernel matrix without storing c. For a single training run
// Materialise is faster than [Matrix.Rows], which applies the kernel at each read. Materialise
// returns nil if the matrix doesn't fit into CacheBytes, or if c or another whole matrix is stored.
//
// Until the matrix is closed, it uses the part of CacheBytes that is reserved for c. Materialise
// waits for a running Build. Reads from the cache before Close may increase CacheStats.Bytes above
// CacheBytes.
func (m *Matrix) Materialise(ctx context.Context) (*InMemoryMatrix, error) {
	c := m.c
	if err := c.e.checkOpen(); err != nil {
		return nil, err
	}
	if !c.c.CanReserve() {
		return nil, nil
	}
	bytes := MatrixBytes(c.Len(), c.Len())
	if err := compute.CheckFreeMemory("the Gram matrix", bytes); err != nil {
		return nil, err
	}
	if room, err := c.c.Reserve(ctx, bytes); !room || err != nil {
		return nil, err
	}
	g, err := newSymmetric(ctx, c.Len())
	r := &InMemoryMatrix{g, func() { c.c.Release(bytes) }}
	if err == nil {
		_, err = c.e.Gram(ctx, m.k, g)
	}
	if err != nil {
		r.Close()
		return nil, err
	}
	c.c.CountMatrix()
	return r, nil
}

// Close returns the memory to the cache. The matrix must not be in use. Close is idempotent.
func (r *InMemoryMatrix) Close() {
	if r.release != nil {
		r.release()
		*r = InMemoryMatrix{Symmetric: &Symmetric{}}
	}
}
