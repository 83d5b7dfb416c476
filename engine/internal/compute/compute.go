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

	integersOnce                                    sync.Once
	allIntegers                                     bool
	programs                                        programCache
	pairs, mapping, storing, candidates, insertions atomic.Int64 // see Stats; times in nanoseconds
}

// Len returns the number of documents.
func (c *Computer) Len() int { return c.X.Rows() }

// Bytes returns the total size of the documents and the back end in bytes.
func (c *Computer) Bytes() int64 {
	bytes := c.X.Bytes() + 4*int64(len(c.Norms))
	if c.Backend != nil {
		bytes += c.Backend.HostBytes()
	}
	return bytes
}

// Stats returns the counts of completed computations, and some counts of running computations.
func (c *Computer) Stats() device.Stats {
	s := device.Stats{
		Pairs:               c.pairs.Load(),
		NeighbourCandidates: c.candidates.Load(), NeighbourInsertions: c.insertions.Load(),
		MapTime:   time.Duration(c.mapping.Load()),
		StoreTime: time.Duration(c.storing.Load()),
	}
	if b, ok := c.Backend.(device.Counter); ok {
		s.Add(b.Stats())
	}
	return s
}

// AddPairs counts pairs that a back end computed without ComputeRows.
func (c *Computer) AddPairs(pairs int64) { c.pairs.Add(pairs) }

// AddNeighbourCounts adds the candidates and list insertions of a neighbour search to Stats.
func (c *Computer) AddNeighbourCounts(found, entered int64) {
	c.candidates.Add(found)
	c.insertions.Add(entered)
}

// StartProgress calls the function [StartProgress] with c.Progress.
func (c *Computer) StartProgress(ctx context.Context, total int64) (context.Context, *run.Reporter) {
	return StartProgress(ctx, c.Progress, total)
}

// StartProgress starts progress reports to f until Finish is called, as [run.StartReporter] does. f
// may be nil.
func StartProgress(ctx context.Context, f func(run.Progress), total int64) (context.Context, *run.Reporter) {
	var report func(int64)
	if f != nil {
		report = func(done int64) { f(run.Progress{Done: done, Total: total}) }
	}
	return run.StartReporter(ctx, "engine: Options.Progress", report)
}

// Map writes kernel values of document row with documents lo, lo+1, … to dst. values holds c.
func (c *Computer) Map(k kernel.Kernel, dst, values []float32, row, lo int) error {
	x, y := c.Norms[row:row+1], c.Norms[lo:lo+len(values)]
	if of := c.variableOf(k); of != kernel.VariableAll {
		substitute(of, dst, values, c.X.Norms[row], c.X.Norms[lo:lo+len(values)], c.hasIntegerCounts())
		values, x, y = dst, ones(1), ones(len(dst))
	}
	if err := kernel.Apply(k, c.Kernels, dst, values, x, y); err != nil {
		return err
	}
	if i := FirstNonFinite(dst); i >= 0 {
		return &kernel.PairError{Kernel: k.String(), Row: c.X.SourceRow(row), Column: c.X.SourceRow(lo + i), Value: dst[i]}
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

type programCache struct {
	mu    sync.Mutex
	byKey map[any]*device.Program // program of each kernel.Key
}

// maxPrograms is the maximum number of cached programs. Model searches cycle through fewer kernels.
const maxPrograms = 16

// Program returns the program of a kernel, or nil if no program is valid for the documents. It also
// returns nil for kernels of inner products or distances of integer counts, because devices don't
// round inner products.
func (c *Computer) Program(k kernel.Kernel, from *sparse.Embedded) (p *device.Program, err error) {
	if kernel.VariableOf(k) != kernel.VariableAll && c.hasIntegerCounts() {
		return nil, nil
	}
	c.programs.mu.Lock()
	defer c.programs.mu.Unlock()
	defer kernel.Recover(k, &err) // making a table calls the kernel's Eval
	p, ok := c.programs.byKey[kernel.Key(k)]
	if !ok {
		if p = kernel.ProgramOf(k); p != nil && !p.AppliesTo(c.X) {
			p = nil
		}
		if c.programs.byKey == nil || len(c.programs.byKey) >= maxPrograms {
			c.programs.byKey = map[any]*device.Program{}
		}
		c.programs.byKey[kernel.Key(k)] = p
	}
	if p != nil && from != nil && !p.AppliesTo(from) {
		return nil, nil
	}
	return p, nil
}

// ComputeRows computes k for a request with the back end. r.Lo may be any column. ComputeRows calls
// visit for tiles of up to [BlockDocs] columns by a panel of rows, from up to r.Workers goroutines.
// Tiles of the same rows are visited consecutively, with ascending columns. A value that isn't
// finite is an error. report may be nil.
func (c *Computer) ComputeRows(
	ctx context.Context, k kernel.Kernel, r *device.Request, report *run.Reporter, visit func(t *device.Tile) error,
) (err error) {
	plain := kernel.IsC(k)
	if _, ok := c.Backend.(device.Accelerator); ok && !plain {
		if r.Program, err = c.Program(k, r.RowDocuments); err != nil {
			return err
		}
	}
	lo, asked := r.Lo, *r
	asked.Lo -= lo % device.ColumnAlignment
	r = &asked
	var done atomic.Int64
	part := func(t *device.Tile) error {
		if t.Hi <= lo {
			return nil
		}
		if t.Lo < lo {
			wanted := SubTile(t, t.FirstRow, t.FirstRow+t.Rows, lo, t.Hi)
			t = &wanted
		}
		begin := time.Now()
		if !plain && !t.ProgramApplied {
			if err := c.mapTile(k, r, t); err != nil {
				return err
			}
		}
		if !plain {
			if err := c.checkFinite(k, r, t); err != nil {
				return err
			}
		}
		mapped := time.Now()
		err := visit(t)
		c.mapping.Add(int64(mapped.Sub(begin)))
		c.storing.Add(int64(time.Since(mapped)))
		if report != nil {
			report.Add(RequestPairCount(r, t.FirstRow, t.FirstRow+t.Rows, t.Lo, t.Hi))
		}
		return err
	}
	err = c.Backend.ComputeRows(ctx, r, func(t *device.Tile) error {
		if err := checkTile(t, r); err != nil {
			return fmt.Errorf("%w, from %s", err, c.Backend.Name())
		}
		c.pairs.Add(int64(t.Rows) * int64(t.Cols()))
		done.Add(RequestPairCount(r, t.FirstRow, t.FirstRow+t.Rows, t.Lo, t.Hi))
		return c.divideTile(ctx, r, t, part)
	})
	if want := RequestPairCount(r, 0, len(r.RowIndices), r.Lo, r.Hi); err == nil && done.Load() != want {
		err = fmt.Errorf("engine: back end %s computed only %d of %d pairs", c.Backend.Name(), done.Load(), want)
	}
	return err
}

// BlockDocs is the number of columns that are mapped and stored together. A tile with a panel of
// rows and BlockDocs columns fits in the L2 cache.
const BlockDocs = 4 * sparse.BlockSize

// divideTile divides a device's tile among workers. A part has up to a panel of rows, fewer if
// workers would be idle, and up to BlockDocs columns. If r.UpperOnly is set, the rows of a part are
// consecutive documents.
func (c *Computer) divideTile(
	ctx context.Context, r *device.Request, t *device.Tile, visit func(t *device.Tile) error,
) error {
	width := c.Kernels.PanelWidth
	first, last := r.RowIndices[t.FirstRow], r.RowIndices[t.FirstRow+t.Rows-1]
	whole := !r.UpperOnly || t.Lo >= first && last-first == t.Rows-1
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
	for first, end := t.FirstRow, t.FirstRow+t.Rows; first < end; {
		g := group{first, min(first+height, end), t.Lo}
		if r.UpperOnly {
			for k := first + 1; k < g.end; k++ {
				if r.RowIndices[k] != r.RowIndices[k-1]+1 {
					g.end = k
				}
			}
			g.lo = max(g.lo, r.RowIndices[first])
		}
		groups = append(groups, g)
		first = g.end
	}
	return run.Tasks(ctx, max(r.Workers, 1), len(groups), func(ctx context.Context, _, task int) error {
		g := groups[task]
		for lo := g.lo; lo < t.Hi; lo += BlockDocs {
			p := SubTile(t, g.first, g.end, lo, min(lo+BlockDocs, t.Hi))
			if err := visit(&p); err != nil || ctx.Err() != nil {
				return err
			}
		}
		return nil
	})
}

func (c *Computer) mapTile(k kernel.Kernel, r *device.Request, t *device.Tile) error {
	if of := c.variableOf(k); of != kernel.VariableAll {
		return c.mapVariable(k, of, r, t)
	}
	return c.mapPlain(k, r, t)
}

// mapPlain implements mapTile for kernels of c and both norms.
func (c *Computer) mapPlain(k kernel.Kernel, r *device.Request, t *device.Tile) error {
	lines, length, stride := Lines(t)
	count := t.Rows
	if t.PaddingValid {
		count = stride // the kernel is also applied to the padding, with norms of 0
	}
	rows := make([]float32, count)
	for i := range t.Rows {
		rows[i] = c.rowNorm(r, t.FirstRow+i)
	}
	x, y := c.Norms[t.Lo:t.Hi], rows
	if t.ColStride == 1 {
		x, y = y, x
	}
	if len(y) == stride {
		v := t.Values[:lines*stride]
		return kernel.Apply(k, c.Kernels, v, v, x, y)
	}
	for i := range lines {
		v := t.Values[i*stride:][:length]
		if err := kernel.Apply(k, c.Kernels, v, v, x[i:i+1], y); err != nil {
			return err
		}
	}
	return nil
}

// rowNorm returns the norm of row i of a request, or 0 if the documents have no norms. Kernels of
// such documents don't use norms.
func (c *Computer) rowNorm(r *device.Request, i int) float32 {
	if r.RowDocuments == nil {
		return c.Norms[r.RowIndices[i]]
	}
	if r.RowDocuments.Norms == nil {
		return 0
	}
	return float32(r.RowDocuments.Norms[r.RowIndices[i]])
}

// Store writes the rows of a tile, or its columns if columns is true, to rows of dst. The rows of
// dst begin stride values apart.
func (c *Computer) Store(dst []float32, stride int, t *device.Tile, columns bool) {
	lines, length, apart := Lines(t)
	if columns == (t.ColStride == 1) {
		c.Kernels.Transpose(dst, stride, t.Values, apart, lines, length)
		return
	}
	for i := range lines {
		copy(dst[i*stride:][:length], t.Values[i*apart:])
	}
}

// ComputeUpper computes rows of the symmetric matrix data from the diagonal on, and stores each
// value twice. If visited isn't nil, it is called for each stored tile.
func (c *Computer) ComputeUpper(
	ctx context.Context,
	k kernel.Kernel,
	docs []int,
	data []float32,
	report *run.Reporter,
	visited func(r *device.Request, t *device.Tile),
) error {
	n := c.Len()
	r := &device.Request{RowIndices: docs, Hi: n, UpperOnly: true, Workers: c.Workers}
	return c.ComputeRows(ctx, k, r, report, func(t *device.Tile) error {
		first := docs[t.FirstRow]
		c.Store(data[t.Lo*n+first:], n, t, true)
		c.Store(data[first*n+t.Lo:], n, t, false)
		if visited != nil {
			visited(r, t)
		}
		return nil
	})
}

// TrianglePairCount returns the number of pairs i <= j of n documents.
func TrianglePairCount(n int) int64 {
	if n%2 == 0 {
		return int64(n/2) * int64(n+1) // n(n+1) may overflow int64
	}
	return int64(n) * int64(n/2+1)
}
