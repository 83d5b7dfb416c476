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
)

// CachedOptions says what a [Cached] may take. The zero value works.
type CachedOptions struct {
	// CacheBytes bounds what tiles take, in the making and in use included. Default: as much as the
	// whole matrix takes, or what Options.MemoryBytes leaves for it where that is less; without
	// that bound, half of what the machine has left where the matrix doesn't fit into it.
	CacheBytes int64

	// TileColumns is about how many columns a tile of a row has where not all tiles fit into memory; default
	// 4096. If short ranges of columns are read, such as the documents of a class, tiles of that length avoid
	// unneeded work. It is rounded up to a multiple of 512.
	TileColumns int
}

// Cached serves rows of Gram matrices of one engine's documents from tiles of c, which all kernels
// on these documents share: the map is applied when a row is read, and a search over the parameters
// of a kernel computes each c once.
//
// Where c of all pairs fits into the bound, it is computed at the first use, each pair once, and
// kept; otherwise rows are computed when they are asked for, and the least recently used tiles make
// room. Values have the same bits as those of Engine.Gram, whatever the bound. A Cached may be used
// concurrently.
type Cached struct {
	e *Engine
	c *cache.Cache
}

// CachedStats counts what a [Cached] has done since it was made: tiles.CacheStats of its tiles,
// where c of all pairs is kept (Whole) of rows read and panels computed; values Served and pairs
// Computed.
type CachedStats = cache.Stats

// Cached returns a cache of the engine's tiles of c.
func (e *Engine) Cached(opt CachedOptions) (*Cached, error) {
	if err := e.open(); err != nil {
		return nil, err
	}
	n := e.Len()
	limit := opt.CacheBytes
	switch {
	case opt.TileColumns < 0:
		return nil, fmt.Errorf("engine: tiles of %d columns, expected a positive number, or 0 for %d", opt.TileColumns,
			cache.BlockCols)
	case limit < 0:
		return nil, fmt.Errorf("engine: cache of %d bytes, expected a positive number, or 0 for as much as helps",
			limit)
	case limit == 0 && e.memory > 0:
		limit = min(cache.WholeBytes(n), max(e.memory-e.Bytes(), 0))
	case limit == 0:
		limit = cache.WholeBytes(n)
		if short := (*MemoryError)(nil); errors.As(compute.Affordable("", limit), &short) {
			limit = short.Limit / 2
		}
	}
	if err := compute.Allowed("the cache of tiles", run.AddBytes(e.Bytes(), limit), e.memory); err != nil {
		return nil, err
	}
	c, err := cache.New(e.c, limit, opt.TileColumns)
	if err != nil {
		return nil, err
	}
	return &Cached{e, c}, nil
}

// Len returns the number of documents.
func (c *Cached) Len() int { return c.e.Len() }

// Engine returns the engine whose documents these are.
func (c *Cached) Engine() *Engine { return c.e }

// Whole reports whether all of c fits into the bound.
func (c *Cached) Whole() bool { return c.c.Whole() }

// Stats returns the counts up to now.
func (c *Cached) Stats() CachedStats { return c.c.Counts() }

// Build computes c of all pairs, each once, if it fits into the bound and isn't there yet; it does
// nothing otherwise. The first Rows does the same. It fails with a [MemoryError] where the machine
// hasn't as much left. It reports progress as [Engine.Gram] does. Of several callers one computes
// and the others wait; when that one's ctx ends, another goes on from there.
func (c *Cached) Build(ctx context.Context) error {
	if err := c.e.open(); err != nil {
		return err
	}
	return c.c.Build(ctx)
}

// Rows writes rows of the Gram matrix of k, restricted to ranges of columns: with columns {lo₀,
// hi₀}, {lo₁, hi₁}, …,
//
//	dst[r] = k(x_rows[r], x_j),  lo₀ <= j < hi₀, then lo₁ <= j < hi₁, …
//
// Rows may come in any order and more than once, and so may ranges; dst[r] is as long as all ranges
// together, and no two may overlap. What isn't there is computed a panel at a time: Kernels.Panel
// rows that are missing cost as much as one, so rows are best asked for in panels. It reports no
// progress unless the whole matrix is computed. It returns within a second of the end of ctx, with
// its error; after an error dst holds anything.
func (c *Cached) Rows(ctx context.Context, k kernel.Kernel, rows []int, columns [][2]int, dst [][]float32) error {
	k, err := c.e.bind(k)
	if err != nil {
		return err
	}
	return (&Matrix{c: c, k: k}).Rows(ctx, rows, columns, dst)
}

// Matrix is the Gram matrix of one kernel, served from tiles. It may be used concurrently.
type Matrix struct {
	c        *Cached
	k        kernel.Kernel
	diagonal []float32
}

// Matrix returns the Gram matrix of k, of which nothing but the diagonal is computed yet.
func (c *Cached) Matrix(k kernel.Kernel) (*Matrix, error) {
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

// Rows is [Cached.Rows] of the matrix's kernel.
func (m *Matrix) Rows(ctx context.Context, rows []int, columns [][2]int, dst [][]float32) error {
	if err := run.Given(ctx, "engine"); err != nil {
		return err
	}
	if err := m.c.e.open(); err != nil {
		return err
	}
	return m.c.c.Rows(ctx, m.k, rows, columns, dst)
}

// Whole is [Cached.Whole].
func (m *Matrix) Whole() bool { return m.c.Whole() }

// Of returns the matrix of some of the documents, whose numbers increase: element i, j is
// k(x_docs[i], x_docs[j]), with the bits of [Engine.Gram]. It computes each pair once, without the
// cache, and stores it twice. It is fast where the documents stand in few ranges. Memory and errors are
// those of Gram, for so many documents.
func (m *Matrix) Of(ctx context.Context, docs []int) (_ *Symmetric, err error) {
	e, n := m.c.e, len(docs)
	if err := e.open(); err != nil {
		return nil, err
	}
	for i, d := range docs {
		if d < 0 || d >= e.Len() || i > 0 && d <= docs[i-1] {
			return nil, fmt.Errorf("engine: document %d of some is %d, expected increasing numbers from 0 to %d", i, d,
				e.Len()-1)
		}
	}
	if err := e.fits(ctx, "the Gram matrix of some documents", compute.MatrixBytes(n, n)); err != nil {
		return nil, err
	}
	g, err := newSymmetric(ctx, n)
	if err != nil {
		return nil, err
	}
	ctx, report := e.c.Start(ctx, compute.PairsOf(n))
	defer report.Finish(&err)
	for lo, hi := 0, 0; lo < n; lo = hi { // a range of documents, against itself and those before
		for hi = lo + 1; hi < n && docs[hi] == docs[hi-1]+1; hi++ {
		}
		first, end := docs[lo], docs[hi-1]+1
		for _, r := range []*device.Request{
			{Docs: docs[lo:hi], Hi: end, Half: true, Workers: e.c.Workers},
			{Docs: docs[:lo], Lo: first, Hi: end, Workers: e.c.Workers},
		} {
			row := 0
			if r.Half {
				row = lo
			}
			err := e.c.Rows(ctx, m.k, r, report, func(t *device.Tile) error {
				i, j := row+t.First, lo+t.Lo-first
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

// Ready is a Gram matrix with all its rows in memory. It may be used concurrently. The
// caller closes it.
type Ready struct {
	*Symmetric
	giveBack func() // nil once that is done
}

// Ready computes the matrix, each pair once, without c behind it. One training is faster
// on that than on rows that are mapped each time they are read. Ready returns nil if the matrix
// doesn't fit into the bound or c is computed already.
// The matrix has the bits of rows from the cache and counts as computed by it.
//
// The matrix takes the room of c: no second one is made before the first is closed, nor beside
// Build, whose end Ready waits for. Only c itself may be computed beside it, where the cache is
// used all the same; CachedStats.Bytes, which counts both, then is above the bound until the matrix
// is closed.
//
// Error: a [MemoryError] where the machine has less memory left.
func (m *Matrix) Ready(ctx context.Context) (*Ready, error) {
	c := m.c
	if err := c.e.open(); err != nil {
		return nil, err
	}
	if !c.c.Free() {
		return nil, nil
	}
	bytes := c.e.GramBytes()
	if err := compute.Affordable("the Gram matrix", bytes); err != nil {
		return nil, err
	}
	if room, err := c.c.Lend(ctx, bytes); !room || err != nil {
		return nil, err
	}
	g, err := newSymmetric(ctx, c.Len())
	r := &Ready{g, func() { c.c.GiveBack(bytes) }}
	if err == nil {
		err = c.e.gramTo(ctx, m.k, g)
	}
	if err != nil {
		r.Close()
		return nil, err
	}
	c.c.Made()
	return r, nil
}

// Close gives the matrix's room back to the cache, for the next one. The matrix then has no rows.
// It must not be in use. Closing it again does nothing.
func (r *Ready) Close() {
	if r.giveBack != nil {
		r.giveBack()
		*r = Ready{Symmetric: &Symmetric{}}
	}
}
