package engine

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sort"
	"sync"

	"github.com/gramengine/gram/engine/device"
	"github.com/gramengine/gram/engine/internal/compute"
	"github.com/gramengine/gram/engine/internal/nearest"
	"github.com/gramengine/gram/engine/internal/panel"
	"github.com/gramengine/gram/engine/kernel"
	"github.com/gramengine/gram/internal/run"
	"github.com/gramengine/gram/sparse"
)

// Neighbour is a document and the kernel's value for it.
type Neighbour = nearest.Neighbour

// NeighbourOptions says which neighbours are looked for. Count must be given.
type NeighbourOptions struct {
	Count int // most neighbours that a document has

	// A neighbour's least value, default none. Where float32 is too close to tell, the kernel is
	// evaluated in float64, and what is equal but for that rounding counts: a cosine of 9/10 is at
	// least 0.9, though its Value is below.
	Least *float64

	// Groups gives each document a group, in which it has no neighbours: with the folds of a
	// cross-validation, neighbours are training documents. Default: every document its own.
	// CrossNeighbours takes none.
	Groups []int32

	// C asks for c in the place of values, for kernels that fall with c: neighbours are the same
	// for all of these, and so is Least.
	C bool
}

// Neighbours are the nearest documents of each of some documents.
type Neighbours struct {
	lists *nearest.Lists
	plan  *JoinPlan
}

// Plan returns how they were found; nil where blocks were merged.
func (n *Neighbours) Plan() *JoinPlan {
	if n == nil {
		return nil
	}
	return n.plan
}

// Len returns the number of documents that have neighbours.
func (n *Neighbours) Len() int {
	if n == nil || n.lists == nil {
		return 0
	}
	return n.lists.Len()
}

// Of returns the neighbours of document i, the nearest first. It panics where there is no such
// document.
func (n *Neighbours) Of(i int) []Neighbour {
	if uint(i) >= uint(n.Len()) {
		panic(fmt.Errorf("engine: neighbours of document %d, expected one from 0 to %d", i, n.Len()-1))
	}
	return n.lists.Of(i)
}

// Neighbours returns, for each document i, the Count other documents j with the greatest k(xᵢ, xⱼ) and at
// least Least: the greatest first, equal ones by number. A list is shorter if fewer documents qualify. A value
// that isn't finite is an error.
//
// Values have the bits of [Engine.Gram] on the processor. They don't depend on the number of workers or on
// tiles. Where the kernel decreases in c alone, by its [kernel.Properties], the documents of the least c are
// chosen, and only their c is mapped: equal values are in the order of c, then of number. The error of c is at
// most [device.ErrorC] and, below 0.1, half a unit in the last place. Of two documents whose c differs by less than
// twice that, or not at all, either may come first or be the last of a list, and which one may depend on the
// instruction set. [Index.Nearest] orders by c in float64.
//
// Every pair is computed once and serves both documents, unless a device selects. Of a tile only what enters a
// list is kept. Neighbours allocates NeighboursBytes, and fails with a
// [MemoryError] before that where Options.MemoryBytes, or what the machine has left, is less. It
// returns within a second of the end of ctx, with its error.
func (e *Engine) Neighbours(ctx context.Context, k kernel.Kernel, opt NeighbourOptions) (_ *Neighbours, err error) {
	if k, err = e.bind(k); err != nil {
		return nil, err
	}
	n := e.Len()
	if opt.Groups != nil && len(opt.Groups) != n {
		return nil, fmt.Errorf("engine: groups of %d documents, expected of %d", len(opt.Groups), n)
	}
	r := &device.Request{Docs: run.Numbers(0, n), Hi: n, Half: true, LastFirst: true, Workers: e.c.Workers}
	return e.neighbours(ctx, k, r, opt, max(n-1, 0), compute.PairsOf(n))
}

// CrossNeighbours returns, for each of the test documents, the engine's documents that are nearest to it, as
// [Engine.Neighbours] does. Both must have been embedded by the same embedder. A test document that is also one
// of the engine's documents is not excluded from its own neighbours.
func (e *Engine) CrossNeighbours(
	ctx context.Context, k kernel.Kernel, test *sparse.Embedded, opt NeighbourOptions,
) (_ *Neighbours, err error) {
	if k, err = e.bindCross(k, test); err != nil {
		return nil, err
	}
	if opt.Groups != nil {
		return nil, fmt.Errorf("engine: groups of %d documents, expected none for test documents", len(opt.Groups))
	}
	n, m := e.Len(), test.Rows()
	r := &device.Request{From: e.other(test), Docs: run.Numbers(0, m), Hi: n, Workers: e.c.Workers}
	return e.neighbours(ctx, k, r, opt, n, int64(m)*int64(n))
}

// NeighboursBytes returns the memory that Neighbours allocates for so many neighbours of so many
// documents, in bytes. CrossNeighbours holds what NewBytes says of its test documents besides.
func NeighboursBytes(documents, count int) int64 {
	documents, count = max(documents, 0), max(count, 0)
	if count > 0 && float64(documents)*float64(count) >= math.MaxInt64/32 {
		return math.MaxInt64
	}
	return nearest.Bytes(documents, count)
}

// neighbours is Neighbours for a kernel that is bound: up to most others of the documents of r.
func (e *Engine) neighbours(
	ctx context.Context, k kernel.Kernel, r *device.Request, opt NeighbourOptions, most int, pairs int64,
) (_ *Neighbours, err error) {
	s, err := e.searchFor(ctx, k, opt)
	if err != nil {
		return nil, err
	}
	rows := r.From
	if rows == nil && !r.Half { // the engine's own documents, as others
		rows = e.c.X
	}
	if rows != nil {
		s.rows = rows
	}
	m, count := len(r.Docs), min(opt.Count, most)
	held := nearest.Bytes(m, count)
	if r.From != nil {
		held = run.AddBytes(held, NewBytes(m, r.From.Cols, r.From.NNZ()))
	}
	if err := e.fits(ctx, fmt.Sprintf("lists of %d neighbours", count), held); err != nil {
		return nil, err
	}
	j, plan, err := s.planned(ctx, rows, true, held)
	if err != nil {
		return nil, err
	}
	lists := nearest.NewLists(m, count, s.most, opt.Groups)
	if j != nil {
		copies := math.MaxInt
		if opt.Groups == nil {
			copies = count + 1 // of equal documents the first ones count
		}
		err = s.join(ctx, j, rows, plan, copies, func(i, j int, key float32) error {
			lists.Offer(i, key, j)
			if r.Half {
				lists.Offer(j, key, i)
			}
			return nil
		})
	} else {
		err = s.listed(ctx, lists, r, count, opt.Groups != nil, pairs)
	}
	if err != nil {
		return nil, err
	}
	if err := lists.Sort(ctx, e.c.Workers, s.valuesOf, opt.C); err != nil {
		return nil, err
	}
	return &Neighbours{lists, plan}, nil
}

// listed fills lists by tiles.
func (s *search) listed(
	ctx context.Context, lists *nearest.Lists, r *device.Request, count int, grouped bool, pairs int64,
) (err error) {
	ctx, report := s.e.c.Start(ctx, pairs)
	defer report.Finish(&err)
	s.scan.Half = r.Half
	done := false
	if !grouped {
		done, err = s.onDevice(ctx, lists, r, count, report)
	}
	if !done && err == nil {
		err = s.e.c.Rows(ctx, s.kernel, r, report, func(t *device.Tile) error {
			s.scan.Enter(lists, t)
			return nil
		})
		s.e.c.CountFound(s.scan.Found.Load(), s.scan.Entered.Load())
	}
	return err
}

// searchFor checks options of neighbours by a kernel.
func (e *Engine) searchFor(ctx context.Context, k kernel.Kernel, opt NeighbourOptions) (*search, error) {
	if opt.Count < 1 {
		return nil, fmt.Errorf("engine: %d neighbours, expected at least 1", opt.Count)
	}
	if _, ok := k.(kernel.C); ok {
		return nil, errors.New("engine: neighbours by kernel c, which is greatest where documents differ most; " +
			"expected a similarity such as cosine-power:p=1, which is 1 - c")
	}
	if opt.C && !kernel.FallsWithC(k) {
		return nil, fmt.Errorf("engine: c of neighbours by kernel %s, expected one that is known to fall with c alone", k)
	}
	return e.search(ctx, k, opt.Least)
}

// search is what the selection of pairs by a kernel's value looks at: c, where the kernel falls with
// it alone, else the kernel's own values.
type search struct {
	e      *Engine
	of     kernel.Kernel // whose values are wanted
	kernel kernel.Kernel // that tiles are computed by
	byC    bool          // that is c
	most   float32       // key
	scan   nearest.Search

	rows                  *sparse.Embedded // documents of rows; those of columns are the engine's
	firstRow, firstColumn int              // documents of row 0 and of column 0
}

func (e *Engine) search(ctx context.Context, k kernel.Kernel, least *float64) (*search, error) {
	s := &search{e: e, of: k, kernel: k, byC: kernel.FallsWithC(k), most: float32(math.Inf(1)), rows: e.c.X}
	s.scan.Kernels, s.scan.Falling = e.c.Kernels, !s.byC
	if s.byC {
		s.kernel = kernel.C{}
	}
	if least == nil {
		return s, nil
	}
	if *least != *least {
		return nil, fmt.Errorf("engine: a least value of %v, expected a number", *least)
	}
	s.scan.Decide = func(i, j int) bool { return ctx.Err() == nil && s.atLeast(*least, s.firstRow+i, s.firstColumn+j) }
	if !s.byC {
		s.around(0-*least, 0-*least) // never -0
		return s, nil
	}
	// The greatest c whose value is large enough for some bounds, by a map that errs.
	var failed error
	greatest := func(least float64) float64 {
		first := sort.Search(int(math.Float32bits(2))+1, func(bits int) bool {
			c := []float32{math.Float32frombits(uint32(bits))}
			if err := kernel.Map(k, e.c.Kernels, c, c, nil, nil); err != nil {
				failed = err
			}
			return !(float64(c[0]) >= least)
		})
		return float64(math.Float32frombits(uint32(max(first-1, 0))))
	}
	slack := min(math.Abs(*least), math.MaxFloat64) * 0x1p-18
	s.around(greatest(*least+slack), greatest(*least-slack))
	return s, failed
}

// around has pairs decided whose keys are so near to greatest ones that their error, that of c or of
// a map, may have moved them across.
func (s *search) around(sure, most float64) {
	slack := func(key float64) float64 {
		if s.byC {
			return 2*device.SlackC(key) + key*0x1p-22 + 0x1p-40
		}
		return min(math.Abs(key), math.MaxFloat64) * 0x1p-14
	}
	s.most, s.scan.Sure = roundUp(most+slack(most)), -roundUp(slack(sure)-sure)
}

// atLeast says whether the value of row i and document j is at least a bound in float64, or below it
// by no more than that may err: by 2⁻²⁴ of what float32 may.
func (s *search) atLeast(least float64, i, j int) bool {
	defer kernel.Caught(s.of, nil)
	c, x, y := panel.C(s.rows, i, s.e.c.X, j), math.NaN(), math.NaN()
	if kernel.UsesNorms(s.of) {
		x, y = s.rows.Norms[i], s.e.c.X.Norms[j]
	}
	return s.of.Eval(c, x, y)+kernel.Tolerance(s.of, c, x, y)*0x1p-24 >= least
}

// roundUp returns the least float32 that isn't below v.
func roundUp(v float64) float32 {
	f := float32(v)
	if float64(f) < v {
		f = math.Nextafter32(f, float32(math.Inf(1)))
	}
	return f
}

// valuesOf turns keys into values, in their place.
func (s *search) valuesOf(keys []float32) error {
	if !s.byC {
		for i, v := range keys {
			keys[i] = 0 - v
		}
	} else if err := kernel.Map(s.of, s.e.c.Kernels, keys, keys, nil, nil); err != nil {
		return err
	}
	if i := compute.Infinite(keys); i >= 0 {
		return fmt.Errorf("engine: kernel %s: a value is %v, %w", s.of, keys[i], ErrNotFinite)
	}
	return nil
}

// Pairs hands all pairs of documents i < j with k(xᵢ, xⱼ) of at least a bound to visit, which is
// called by one goroutine at a time, in no particular order. Values are those of [Engine.Neighbours],
// and compared as there with the bound.
// An error of visit ends the computation, as does a panic, which comes back as a
// [PanicError]. Pairs needs no memory for results.
func (e *Engine) Pairs(
	ctx context.Context, k kernel.Kernel, least float64, visit func(i, j int, value float32) error,
) (err error) {
	if k, err = e.bind(k); err != nil {
		return err
	}
	s, err := e.search(ctx, k, &least)
	if err != nil {
		return err
	}
	return s.pairs(ctx, visit)
}

// PairsWithin is Pairs for all pairs with c of at most a bound, whatever the kernel; value is c, and 0
// for documents that are the same up to a factor above 0, only for these. What counts is c of the
// weighted values, correctly rounded to float64, so that 1/10 is at most 0.1; of powers other than the
// square root and of [sparse.JensenShannon] a c within 10⁻¹² of the bound counts, too.
func (e *Engine) PairsWithin(ctx context.Context, c float64, visit func(i, j int, c float32) error) error {
	if err := e.open(); err != nil {
		return err
	}
	s, err := e.within(ctx, c)
	if err != nil {
		return err
	}
	return s.pairs(ctx, visit)
}

// within is the search for pairs with c of at most a bound.
func (e *Engine) within(ctx context.Context, c float64) (*search, error) {
	if !(c >= 0) {
		return nil, fmt.Errorf("engine: pairs with c of at most %v, expected a number not below 0", c)
	}
	s := &search{e: e, kernel: kernel.C{}, byC: true, rows: e.c.X}
	s.scan.Kernels = e.c.Kernels
	s.scan.Decide = func(i, j int) bool { return ctx.Err() == nil && panel.Within(s.rows, i, e.c.X, j, c) }
	s.around(c, c)
	return s, nil
}

// pairs hands pairs to visit, by a join or by tiles.
func (s *search) pairs(ctx context.Context, visit func(i, j int, value float32) error) error {
	if visit == nil {
		return errors.New("engine: a nil function visit, expected one that takes pairs")
	}
	if err := run.Given(ctx, "engine"); err != nil {
		return err
	}
	j, plan, err := s.planned(ctx, nil, true, 0)
	if err != nil {
		return err
	}
	if j == nil {
		return s.tiled(ctx, visit)
	}
	value := make([]float32, 1)
	return s.join(ctx, j, nil, plan, math.MaxInt, func(i, m int, key float32) error {
		value[0] = key
		if s.of != nil {
			if err := s.valuesOf(value); err != nil {
				return err
			}
		} else {
			value[0] = s.zeroed(i, m, key)
		}
		if value[0] != value[0] {
			return nil
		}
		return run.Guard("engine: visit", func() error { return visit(i, m, value[0]) })
	})
}

// zeroed returns c of a pair, 0 for the same documents alone.
func (s *search) zeroed(i, j int, c float32) float32 {
	if c > 0x1p-30 {
		return c
	}
	if panel.C(s.e.c.X, i, s.e.c.X, j) == 0 {
		return 0
	}
	return max(c, math.SmallestNonzeroFloat32)
}

// tiled hands pairs to visit, by tiles.
func (s *search) tiled(ctx context.Context, visit func(i, j int, value float32) error) (err error) {
	e, n := s.e, s.e.Len()
	ctx, report := e.c.Start(ctx, compute.PairsOf(n))
	defer report.Finish(&err)
	s.scan.Half = true
	r := &device.Request{Docs: run.Numbers(0, n), Hi: n, Half: true, Workers: e.c.Workers}
	var mu sync.Mutex
	return e.c.Rows(ctx, s.kernel, r, report, func(t *device.Tile) error {
		return s.scan.Pairs(s.most, t, func(rows, columns []int32, values []float32) error {
			if s.of != nil {
				if err := s.valuesOf(values); err != nil {
					return err
				}
			} else {
				for p, v := range values {
					values[p] = s.zeroed(int(rows[p]), int(columns[p]), v)
				}
			}
			mu.Lock()
			defer mu.Unlock()
			return run.Guard("engine: visit", func() error {
				for p, v := range values {
					if v != v {
						continue
					}
					if err := visit(int(rows[p]), int(columns[p]), v); err != nil {
						return err
					}
				}
				return context.Cause(ctx)
			})
		})
	})
}
