package engine

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/gramengine/gram/engine/kernel"
	"github.com/gramengine/gram/sparse"
	"github.com/gramengine/gram/tiles"
)

// CachedOptions says what a [Cached] may take. The zero value works.
type CachedOptions struct {
	// CacheBytes bounds what tiles take, in the making and in use included. Default: as much as the
	// whole matrix takes, or what Options.MemoryBytes leaves for it where that is less; without
	// that bound, half of what the machine has left where the matrix doesn't fit into it.
	CacheBytes int64

	// Store is where the matrix is kept from run to run, if it fits into CacheBytes; default nowhere. Where it doesn't fit, the store is left alone: what is
	// dropped is computed again, which takes no longer than it would to read it (measured for a tile of 16 KiB: 26 µs to read, 24 µs to compute).
	Store *tiles.Store

	// TileColumns is about how many columns a tile of a row has where not all tiles fit into memory; default 4096. Who reads short ranges of columns, such as the
	// documents of a class, computes less that nobody asked for with tiles of that length. It is rounded up to a multiple of 512.
	TileColumns int
}

// Cached serves rows of Gram matrices of one engine's documents from tiles of c, which all kernels on these documents share: the map is applied
// when a row is read, and a search over the parameters of a kernel computes each c once.
//
// Where c of all pairs fits into the bound, it is computed at the first use, each pair once, and kept; otherwise rows are computed when they are asked for, and
// the least recently used tiles make room. Values have the same bits as those of Engine.Gram, whatever the bound. A Cached may be used concurrently.
type Cached struct {
	e     *Engine
	limit int64
	width int // columns of a block

	whole *wholeC  // where everything fits, else nil
	part  *partial // where it does not
	store *tiles.Store

	served, computed atomic.Int64
	mu               sync.Mutex
	files            fileStats
}

// fileStats is the part of CachedStats that tells of files.
type fileStats struct {
	Loaded, Saved, Damaged int64
	StoreErr               error
}

// CachedStats counts what a [Cached] has done since it was made.
type CachedStats struct {
	tiles.CacheStats       // tiles; where the whole matrix is kept, a hit is a row that was read, and a miss a panel of rows that was computed
	Whole            bool  // all of c fits into the bound and is kept
	Served           int64 // kernel values handed out
	Computed         int64 // pairs whose c was computed for them

	Loaded, Saved int64 // tile files read and written
	Damaged       int64 // tile files that weren't what they should be; they were computed again
	StoreErr      error // why nothing is written to the store any more, such as a full disk; results don't suffer from it
}

// blockCols is about how many columns a tile of a row has unless the caller says otherwise: few enough for problems of few classes not to compute much that they don't need, and for workers to
// share the columns of one panel; so many that finding a tile costs little beside mapping it (a row of 10,000 values of the diffusion kernel took 6.9 µs from
// tiles and 6.1 µs from the whole matrix).
const blockCols = 4096

// Cached returns a cache of the engine's tiles of c.
func (e *Engine) Cached(opt CachedOptions) (*Cached, error) {
	if err := e.open(); err != nil {
		return nil, err
	}
	n := e.Len()
	c := &Cached{e: e, limit: opt.CacheBytes, store: opt.Store}
	switch {
	case opt.TileColumns < 0:
		return nil, fmt.Errorf("engine: tiles of %d columns, expected a positive number, or 0 for %d", opt.TileColumns, blockCols)
	case c.limit < 0:
		return nil, fmt.Errorf("engine: cache of %d bytes, expected a positive number, or 0 for as much as helps", c.limit)
	case c.limit == 0 && e.memory > 0:
		c.limit = min(wholeBytes(n), max(e.memory-e.Bytes(), 0))
	case c.limit == 0:
		c.limit = wholeBytes(n)
		if short := (*MemoryError)(nil); errors.As(affordable("", c.limit), &short) {
			c.limit = short.Limit / 2
		}
	}
	if err := allowed("the cache of tiles", together(e.Bytes(), c.limit), e.memory); err != nil {
		return nil, err
	}
	if wholeBytes(n) <= c.limit {
		c.whole, c.width = newWhole(e), n
		return c, nil
	}
	columns := (min(opt.TileColumns, n) + blockDocs - 1) / blockDocs * blockDocs
	if columns == 0 {
		columns = blockCols
	}
	blocks := (n + columns - 1) / columns
	c.width = ((n+blocks-1)/blocks + sparse.Block - 1) / sparse.Block * sparse.Block
	var err error
	c.part, err = newPartial(e, c.width, c.limit)
	return c, err
}

// Len returns the number of documents.
func (c *Cached) Len() int { return c.e.Len() }

// Engine returns the engine whose documents these are.
func (c *Cached) Engine() *Engine { return c.e }

// Whole says whether all of c fits into the bound.
func (c *Cached) Whole() bool { return c.whole != nil }

// Stats returns the counts up to now.
func (c *Cached) Stats() CachedStats {
	c.mu.Lock()
	files := c.files
	c.mu.Unlock()
	s := CachedStats{Whole: c.Whole(), Served: c.served.Load(), Computed: c.computed.Load(),
		Loaded: files.Loaded, Saved: files.Saved, Damaged: files.Damaged, StoreErr: files.StoreErr}
	if c.whole != nil {
		s.CacheStats = tiles.CacheStats{Hits: c.whole.hits.Load(), Misses: c.whole.misses.Load(), Bytes: c.whole.bytes.Load(), Limit: c.limit}
	} else {
		s.CacheStats = c.part.cache.Stats()
		s.Bytes += c.part.scratchBytes
		s.Limit = c.limit
	}
	return s
}

// Diagonal returns k(xᵢ, xᵢ) for all documents i, the same bits as the diagonal of the Gram matrix.
func (c *Cached) Diagonal(k Kernel) ([]float32, error) {
	k, err := c.e.bind(k)
	if err != nil {
		return nil, err
	}
	d := make([]float32, c.Len()) // c is 0
	norms := c.e.own.norms
	for i := range d {
		if err := kernel.Map(k, c.e.kernels, d[i:i+1], d[i:i+1], norms[i:i+1], norms[i:i+1]); err != nil {
			return nil, err
		}
	}
	return d, nil
}

// Rows writes rows of the Gram matrix of k, restricted to ranges of columns: with columns {lo₀, hi₀}, {lo₁, hi₁}, …,
//
//	dst[r] = k(x_rows[r], x_j),  lo₀ <= j < hi₀, then lo₁ <= j < hi₁, …
//
// Rows may come in any order and more than once, and so may ranges; dst[r] is as long as all ranges together, and no two may overlap. What isn't there
// is computed a panel at a time: Kernels.Panel rows that are missing cost as much as one, so rows are best asked for in panels. It reports no progress unless the
// whole matrix is computed. It returns within a second of the end of ctx, with its error; after an error dst holds anything.
func (c *Cached) Rows(ctx context.Context, k Kernel, rows []int, columns [][2]int, dst [][]float32) error {
	k, err := c.e.bind(k)
	if err != nil {
		return err
	}
	q, err := c.request(k, rows, columns, dst)
	if err != nil {
		return err
	}
	if c.whole != nil {
		if err := c.Build(ctx); err != nil {
			return err
		}
	}
	missing, err := q.read(ctx)
	if err != nil {
		return err
	}
	if err := q.fetch(ctx, missing); err != nil {
		return err
	}
	c.served.Add(int64(len(rows)) * int64(q.length))
	return nil
}

// Matrix is the Gram matrix of one kernel, served from tiles. It may be used concurrently.
type Matrix struct {
	c        *Cached
	k        Kernel
	diagonal []float32
}

// Matrix returns the Gram matrix of k, of which nothing but the diagonal is computed yet.
func (c *Cached) Matrix(k Kernel) (*Matrix, error) {
	d, err := c.Diagonal(k)
	if err != nil {
		return nil, err
	}
	return &Matrix{c, k, d}, nil
}

// Len returns the number of rows and columns.
func (m *Matrix) Len() int { return m.c.Len() }

// Diagonal returns the diagonal, which must not be changed.
func (m *Matrix) Diagonal() []float32 { return m.diagonal }

// Rows is [Cached.Rows] of the matrix's kernel.
func (m *Matrix) Rows(ctx context.Context, rows []int, columns [][2]int, dst [][]float32) error {
	return m.c.Rows(ctx, m.k, rows, columns, dst)
}

// Whole is [Cached.Whole].
func (m *Matrix) Whole() bool { return m.c.Whole() }
