// Package compute computes c with a back end, applies a kernel and stores the result, for engines
// and their caches. It uses back ends only through the interface of package device.
package compute

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gramengine/gram/asm"
	"github.com/gramengine/gram/engine/device"
	"github.com/gramengine/gram/engine/kernel"
	"github.com/gramengine/gram/internal/run"
	"github.com/gramengine/gram/sparse"
)

// Computer is a back end with its documents and settings. It may be used concurrently.
type Computer struct {
	X        *sparse.Embedded
	Norms    []float32 // norms of the documents; 0 if the documents have no norms
	Backend  device.Backend
	Kernels  *asm.Kernels
	Workers  int
	Progress func(run.Progress)

	wholeOnce                               sync.Once
	allWhole                                bool
	programs                                programs
	pairs, mapping, storing, found, entered atomic.Int64 // see Stats; times in nanoseconds
}

// Len returns the number of documents.
func (c *Computer) Len() int { return c.X.Rows() }

// Bytes returns the memory of the documents and the back end.
func (c *Computer) Bytes() int64 {
	bytes := c.X.Bytes() + 4*int64(len(c.Norms))
	if c.Backend != nil {
		bytes += c.Backend.HostBytes()
	}
	return bytes
}

// Stats returns the counts of all computations that have ended or released a worker.
func (c *Computer) Stats() device.Stats {
	s := device.Stats{
		Pairs: c.pairs.Load(),
		Found: c.found.Load(), Entered: c.entered.Load(),
		Map:   time.Duration(c.mapping.Load()),
		Store: time.Duration(c.storing.Load()),
	}
	if b, ok := c.Backend.(device.Counter); ok {
		s.Add(b.Stats())
	}
	return s
}

// Count adds pairs that a back end computed without Rows.
func (c *Computer) Count(pairs int64) { c.pairs.Add(pairs) }

// CountFound adds counts of a search for neighbours: values found, and entries in lists.
func (c *Computer) CountFound(found, entered int64) {
	c.found.Add(found)
	c.entered.Add(entered)
}

// Start calls the function [Start] with c.Progress.
func (c *Computer) Start(ctx context.Context, total int64) (context.Context, *run.Reporter) {
	return Start(ctx, c.Progress, total)
}

// Start starts progress reports to f until Finish is called, as [run.StartReporter] does. f may be
// nil.
func Start(ctx context.Context, f func(run.Progress), total int64) (context.Context, *run.Reporter) {
	var report func(int64)
	if f != nil {
		report = func(done int64) { f(run.Progress{Done: done, Total: total}) }
	}
	return run.StartReporter(ctx, "engine: Options.Progress", report)
}

// Map writes kernel values of document row with documents lo, lo+1, … to dst. values holds c.
func (c *Computer) Map(k kernel.Kernel, dst, values []float32, row, lo int) error {
	x, y := c.Norms[row:row+1], c.Norms[lo:lo+len(values)]
	if of := c.variableOf(k); of != kernel.OfAll {
		substitute(of, dst, values, c.X.Norms[row], c.X.Norms[lo:lo+len(values)], c.whole())
		values, x, y = dst, ones(1), ones(len(dst))
	}
	if err := kernel.Apply(k, c.Kernels, dst, values, x, y); err != nil {
		return err
	}
	if i := Infinite(dst); i >= 0 {
		return &kernel.PairError{Kernel: k.String(), Row: c.X.Source(row), Column: c.X.Source(lo + i), Value: dst[i]}
	}
	return nil
}

// Diagonal returns k(xᵢ, xᵢ) for all documents i.
func (c *Computer) Diagonal(k kernel.Kernel) ([]float32, error) {
	d := make([]float32, c.Len()) // c of a document with itself is 0
	for i := range d {
		if err := c.Map(k, d[i:i+1], d[i:i+1], i, i); err != nil {
			return nil, err
		}
	}
	return d, nil
}

// programs caches the programs of recently used kernels.
type programs struct {
	mu sync.Mutex
	of map[any]*device.Program // program of each kernel.Key
}

// maxPrograms is the maximum number of cached programs. Model searches cycle through fewer kernels.
const maxPrograms = 16

// Program returns the program of a kernel, or nil if no program is valid for the documents. It also
// returns nil for inner products of integer counts, because devices don't round the products.
func (c *Computer) Program(k kernel.Kernel, from *sparse.Embedded) (p *device.Program, err error) {
	if kernel.VariableOf(k) != kernel.OfAll && c.whole() {
		return nil, nil
	}
	c.programs.mu.Lock()
	defer c.programs.mu.Unlock()
	defer kernel.Caught(k, &err) // making a table calls the kernel's Eval
	p, ok := c.programs.of[kernel.Key(k)]
	if !ok {
		if p = kernel.ProgramOf(k); p != nil && !p.Holds(c.X) {
			p = nil
		}
		if c.programs.of == nil || len(c.programs.of) >= maxPrograms {
			c.programs.of = map[any]*device.Program{}
		}
		c.programs.of[kernel.Key(k)] = p
	}
	if p != nil && from != nil && !p.Holds(from) {
		return nil, nil
	}
	return p, nil
}

// Rows computes k for a request with the back end; Lo may be any column. It calls visit for tiles
// of up to [BlockDocs] columns by a panel of rows, from up to r.Workers goroutines. Tiles of the
// same rows are visited consecutively, with ascending columns. A value that isn't finite is an
// error. report may be nil.
func (c *Computer) Rows(
	ctx context.Context, k kernel.Kernel, r *device.Request, report *run.Reporter, visit func(t *device.Tile) error,
) (err error) {
	plain := kernel.IsC(k)
	if _, ok := c.Backend.(device.Accelerator); ok && !plain {
		if r.Program, err = c.Program(k, r.From); err != nil {
			return err
		}
	}
	lo, asked := r.Lo, *r
	asked.Lo -= lo % device.Columns
	r = &asked
	var done atomic.Int64
	part := func(t *device.Tile) error {
		if t.Hi <= lo {
			return nil
		}
		if t.Lo < lo {
			wanted := Part(t, t.First, t.First+t.Rows, lo, t.Hi)
			t = &wanted
		}
		begin := time.Now()
		if !plain && !t.Mapped {
			if err := c.mapTile(k, r, t); err != nil {
				return err
			}
		}
		if !plain {
			if err := c.finite(k, r, t); err != nil {
				return err
			}
		}
		mapped := time.Now()
		err := visit(t)
		c.mapping.Add(int64(mapped.Sub(begin)))
		c.storing.Add(int64(time.Since(mapped)))
		if report != nil {
			report.Add(Pairs(r, t.First, t.First+t.Rows, t.Lo, t.Hi))
		}
		return err
	}
	err = c.Backend.Rows(ctx, r, func(t *device.Tile) error {
		if err := check(t, r); err != nil {
			return fmt.Errorf("%w, from %s", err, c.Backend.Name())
		}
		c.pairs.Add(int64(t.Rows) * int64(t.Cols()))
		done.Add(Pairs(r, t.First, t.First+t.Rows, t.Lo, t.Hi))
		return c.parts(ctx, r, t, part)
	})
	if want := Pairs(r, 0, len(r.Docs), r.Lo, r.Hi); err == nil && done.Load() != want {
		err = fmt.Errorf("engine: back end %s computed only %d of %d pairs", c.Backend.Name(), done.Load(), want)
	}
	return err
}

// BlockDocs is the number of columns that are mapped and stored together. With a panel of rows,
// these columns form a tile that fits in the L2 cache.
const BlockDocs = 4 * sparse.Block

// parts divides a device's tile among workers. A part has up to a panel of rows, fewer if workers
// would be idle, and up to BlockDocs columns. Rows of the symmetric half are consecutive.
func (c *Computer) parts(
	ctx context.Context, r *device.Request, t *device.Tile, visit func(t *device.Tile) error,
) error {
	width := c.Kernels.Panel
	first, last := r.Docs[t.First], r.Docs[t.First+t.Rows-1]
	whole := !r.Half || t.Lo >= first && last-first == t.Rows-1
	if whole && t.Rows <= width && t.Cols() <= BlockDocs {
		return visit(t)
	}
	const line, turns = 16, 3 // values per cache line; parts per worker, to balance uneven times
	height := width
	for height > line && t.Rows < turns*height*max(r.Workers, 1) {
		height = max(height/2, line)
	}
	type group struct{ first, end, lo int }
	var groups []group
	for first, end := t.First, t.First+t.Rows; first < end; {
		g := group{first, min(first+height, end), t.Lo}
		if r.Half {
			for k := first + 1; k < g.end; k++ {
				if r.Docs[k] != r.Docs[k-1]+1 {
					g.end = k
				}
			}
			g.lo = max(g.lo, r.Docs[first])
		}
		groups = append(groups, g)
		first = g.end
	}
	return run.Tasks(ctx, max(r.Workers, 1), len(groups), func(ctx context.Context, _, task int) error {
		g := groups[task]
		for lo := g.lo; lo < t.Hi; lo += BlockDocs {
			p := Part(t, g.first, g.end, lo, min(lo+BlockDocs, t.Hi))
			if err := visit(&p); err != nil || ctx.Err() != nil {
				return err
			}
		}
		return nil
	})
}

// mapTile applies a kernel to a tile of c in place.
func (c *Computer) mapTile(k kernel.Kernel, r *device.Request, t *device.Tile) error {
	if of := c.variableOf(k); of != kernel.OfAll {
		return c.mapVariable(k, of, r, t)
	}
	return c.mapPlain(k, r, t)
}

// mapPlain implements mapTile for kernels of c and both norms.
func (c *Computer) mapPlain(k kernel.Kernel, r *device.Request, t *device.Tile) error {
	lines, length, stride := Lines(t)
	count := t.Rows
	if t.Filled {
		count = stride // the norms of the padding are 0
	}
	rows := make([]float32, count)
	for i := range t.Rows {
		rows[i] = c.norm(r, t.First+i)
	}
	x, y := c.Norms[t.Lo:t.Hi], rows
	if t.ColStride == 1 {
		x, y = y, x
	}
	if len(y) == stride {
		v := t.Value[:lines*stride]
		return kernel.Apply(k, c.Kernels, v, v, x, y)
	}
	for i := range lines {
		v := t.Value[i*stride:][:length]
		if err := kernel.Apply(k, c.Kernels, v, v, x[i:i+1], y); err != nil {
			return err
		}
	}
	return nil
}

// norm returns the norm of row i of a request, or 0 if the documents have no norms. Kernels of such
// documents don't use norms.
func (c *Computer) norm(r *device.Request, i int) float32 {
	if r.From == nil {
		return c.Norms[r.Docs[i]]
	}
	if r.From.Norms == nil {
		return 0
	}
	return float32(r.From.Norms[r.Docs[i]])
}

// Store writes the rows of a tile, or its columns if columns is set, to rows of dst with the given
// stride.
func (c *Computer) Store(dst []float32, stride int, t *device.Tile, columns bool) {
	lines, length, apart := Lines(t)
	if columns == (t.ColStride == 1) {
		c.Kernels.Transpose(dst, stride, t.Value, apart, lines, length)
		return
	}
	for i := range lines {
		copy(dst[i*stride:][:length], t.Value[i*apart:])
	}
}

// Half computes rows of the symmetric matrix data from the diagonal on, and stores each value
// twice. If visited isn't nil, it is called for each stored tile.
func (c *Computer) Half(
	ctx context.Context,
	k kernel.Kernel,
	docs []int,
	data []float32,
	report *run.Reporter,
	visited func(r *device.Request, t *device.Tile),
) error {
	n := c.Len()
	r := &device.Request{Docs: docs, Hi: n, Half: true, Workers: c.Workers}
	return c.Rows(ctx, k, r, report, func(t *device.Tile) error {
		first := docs[t.First]
		c.Store(data[t.Lo*n+first:], n, t, true)
		c.Store(data[first*n+t.Lo:], n, t, false)
		if visited != nil {
			visited(r, t)
		}
		return nil
	})
}

// PairsOf returns the number of pairs i <= j of n documents.
func PairsOf(n int) int64 {
	if n%2 == 0 {
		return int64(n/2) * int64(n+1) // n(n+1) may overflow int64
	}
	return int64(n) * int64(n/2+1)
}
