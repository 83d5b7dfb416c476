package engine

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sort"

	"github.com/gramengine/gram/engine/device"
	"github.com/gramengine/gram/engine/internal/compute"
	"github.com/gramengine/gram/engine/internal/nearest"
	"github.com/gramengine/gram/engine/internal/panel"
	"github.com/gramengine/gram/engine/kernel"
	"github.com/gramengine/gram/internal/run"
	"github.com/gramengine/gram/sparse"
)

// Neighbour holds the index of a document (Document) and its kernel value (Value).
type Neighbour = nearest.Neighbour

// NeighbourOptions are the options of [Engine.Neighbours]. Count is required.
type NeighbourOptions struct {
	Count int // maximum number of neighbours per document

	// TestDocuments holds the documents whose neighbours among the engine's documents are returned.
	// They must have the engine's embedder. If an engine's document is also a test document, it is
	// a neighbour of itself. Default: the engine's documents.
	TestDocuments *sparse.Embedded

	// MinValue is the minimum value of a neighbour; default none. Near the minimum the kernel is
	// evaluated in float64, with both c and c / (1 + 10⁻⁹). So a cosine of 9/10 is accepted if
	// MinValue is 0.9. Value may then be slightly smaller than MinValue.
	MinValue *float64

	// Groups assigns a group to each document. Documents of the same group can't be neighbours. For
	// example, if groups are cross-validation folds, neighbours are training documents. Default:
	// each document is its own group. It must be nil if TestDocuments is set.
	Groups []int32
}

// Neighbours holds the nearest documents of each document.
type Neighbours struct {
	lists *nearest.Lists
	plan  *JoinPlan
}

// Plan reports how the neighbours were found. It is nil after [Engine.MergeNeighbours].
func (n *Neighbours) Plan() *JoinPlan { return n.plan }

// Len returns the number of lists.
func (n *Neighbours) Len() int { return n.lists.Len() }

// List returns the neighbours of document i in descending order of value.
func (n *Neighbours) List(i int) []Neighbour { return n.lists.List(i) }

// Neighbours returns, for each document i, the Count other documents j with the largest k(xᵢ, xⱼ)
// >= MinValue. Lists are in descending order of value, with ties broken by document index.
// Neighbours fails if a value isn't finite.
//
// On the CPU values are bit-identical to [Engine.Gram], for any number of workers. If the kernel is
// a decreasing function of c alone, the documents with the smallest c are chosen, and equal values
// are ordered by c, then by index. If c of two neighbours differs by less than twice the error of c
// ([device.MaxError]), the order of the two may depend on the instruction set. [Index.Nearest]
// orders by c in float64.
//
// Each pair is computed once and used for both documents, unless a device selects neighbours.
// Neighbours allocates NeighboursBytes.
func (e *Engine) Neighbours(ctx context.Context, k kernel.Kernel, opt NeighbourOptions) (_ *Neighbours, err error) {
	if k, err = e.bind(k); err != nil {
		return nil, err
	}
	n := e.Len()
	if test := opt.TestDocuments; test != nil {
		if err := e.checkTest(k, test); err != nil {
			return nil, err
		}
		if opt.Groups != nil {
			return nil, fmt.Errorf("engine: Groups and TestDocuments cannot be combined")
		}
		m := test.Rows()
		r := &device.Request{RowDocuments: e.foreignDocuments(test), RowIndices: run.Range(0, m), Hi: n, Workers: e.c.Workers}
		return e.findNeighbours(ctx, k, r, opt, n, int64(m)*int64(n))
	}
	if opt.Groups != nil && len(opt.Groups) != n {
		return nil, fmt.Errorf("engine: Groups has length %d, but there are %d documents", len(opt.Groups), n)
	}
	r := &device.Request{RowIndices: run.Range(0, n), Hi: n, UpperOnly: true, LastFirst: true, Workers: e.c.Workers}
	return e.findNeighbours(ctx, k, r, opt, max(n-1, 0), compute.TrianglePairCount(n))
}

// NeighboursBytes returns the bytes that Neighbours allocates for count neighbours per document. If
// there are test documents, add their [MaxEngineBytes].
func NeighboursBytes(documents, count int) int64 { return nearest.Bytes(documents, count) }

// findNeighbours finds up to opt.Count neighbours of each row of r. k is already bound to the
// engine. most is the number of other documents that could be neighbours of a row.
func (e *Engine) findNeighbours(
	ctx context.Context, k kernel.Kernel, r *device.Request, opt NeighbourOptions, most int, pairs int64,
) (_ *Neighbours, err error) {
	s, err := e.newNeighbourSearch(k, opt)
	if err != nil {
		return nil, err
	}
	rows := r.RowDocuments
	if rows == nil && !r.UpperOnly { // the test documents are the engine's own documents
		rows = e.c.X
	}
	if rows != nil {
		s.rows = rows
	}
	m, count := len(r.RowIndices), min(opt.Count, most)
	held := nearest.Bytes(m, count)
	if r.RowDocuments != nil {
		held = run.AddBytes(held, MaxEngineBytes(m, r.RowDocuments.Cols, r.RowDocuments.NNZ()))
	}
	if err := e.checkFits(ctx, fmt.Sprintf("lists of %d neighbours", count), held); err != nil {
		return nil, err
	}
	j, plan, err := s.planJoin(ctx, rows, true, held)
	if err != nil {
		return nil, err
	}
	lists := nearest.NewLists(m, count, s.maxKey, opt.Groups)
	if s.hasBoundedKeys(opt) {
		lists.AddDisjoint(e.Len(), r.UpperOnly)
	}
	if j != nil {
		copies := math.MaxInt
		if opt.Groups == nil {
			copies = count + 1 // the maximum number of copies that a list can hold
		}
		err = s.findByJoin(ctx, j, rows, plan, copies, func(i, j int, key float32) error {
			lists.Offer(i, key, j)
			if r.UpperOnly {
				lists.Offer(j, key, i)
			}
			return nil
		})
	} else {
		err = s.fillLists(ctx, lists, r, count, opt.Groups != nil, pairs)
	}
	if err != nil {
		return nil, err
	}
	if err := s.sort(ctx, lists, 0, false); err != nil {
		return nil, err
	}
	return &Neighbours{lists, plan}, nil
}

// hasBoundedKeys reports whether all keys are at most 1 and no minimum value excludes pairs. A key
// c = 1 - ⟨x, y⟩ is at most 1 if no value of x or y is negative.
func (s *search) hasBoundedKeys(opt NeighbourOptions) bool {
	if !s.byC || opt.MinValue != nil || s.rows.Embedder.Pairing != sparse.Cosine {
		return false
	}
	negative := func(v float32) bool { return v < 0 }
	return !slices.ContainsFunc(s.e.c.X.Values, negative) &&
		(s.rows == s.e.c.X || !slices.ContainsFunc(s.rows.Values, negative))
}

func (s *search) fillLists(
	ctx context.Context, lists *nearest.Lists, r *device.Request, count int, grouped bool, pairs int64,
) (err error) {
	ctx, report := s.e.c.StartProgress(ctx, pairs)
	defer report.Finish(&err)
	s.scan.UpperOnly = r.UpperOnly
	columns, done := lists, false
	if !r.UpperOnly {
		columns = nil
	}
	if !grouped {
		done, err = s.fillListsOnDevice(ctx, lists, r, count, report)
	}
	if !done && err == nil {
		err = s.e.c.ComputeRows(ctx, s.kernel, r, report, func(t *device.Tile) error {
			s.scan.Insert(lists, columns, t)
			return nil
		})
		s.e.c.AddNeighbourCounts(s.scan.Candidates.Load(), s.scan.Insertions.Load())
	}
	return err
}

func (e *Engine) newNeighbourSearch(k kernel.Kernel, opt NeighbourOptions) (*search, error) {
	if opt.Count < 1 {
		return nil, fmt.Errorf("engine: number of neighbours must be positive, got %d", opt.Count)
	}
	if kernel.IsC(k) {
		return nil, errors.New("engine: kernel c is a distance; " +
			"use a similarity such as cosine-power:p=1, which is 1 - c")
	}
	return e.newSearch(k, opt.MinValue)
}

// search selects pairs by a key. The key is c if the kernel is a decreasing function of c alone,
// else the negated kernel value.
type search struct {
	e        *Engine
	target   kernel.Kernel // kernel whose values are returned
	kernel   kernel.Kernel // kernel of the tiles: target, or c if byC is set
	byC      bool          // true if tiles hold c
	maxKey   float32       // largest key of a candidate
	slack    float64       // keys above maxKey-2·slack are checked in float64
	minValue float64       // minimum value in float64
	bound    float64       // bound on c in float64; used if target is nil
	scan     nearest.Search

	rows *sparse.Embedded // documents of the rows; columns are the engine's documents
}

func (e *Engine) newSearch(k kernel.Kernel, least *float64) (_ *search, err error) {
	s := &search{e: e, target: k, kernel: k, byC: kernel.DecreasesWithC(k), maxKey: float32(math.Inf(1)), rows: e.c.X}
	s.scan.Kernels, s.scan.NegateKeys = e.c.Kernels, !s.byC
	if s.byC {
		s.kernel = kernel.C()
	}
	if least == nil {
		return s, nil
	}
	if *least != *least {
		return nil, fmt.Errorf("engine: MinValue must be a number, got %v", *least)
	}
	s.scan.Accept = s.atLeast
	s.minValue = *least
	if !s.byC {
		s.slack = min(math.Abs(s.minValue), math.MaxFloat64) * 0x1p-14
		s.maxKey = float32(s.slack - s.minValue)
		return s, nil
	}
	defer kernel.Recover(k, &err)
	// Find the largest c whose value is at least the minimum, by bisection over float32.
	first := sort.Search(int(math.Float32bits(2))+1, func(bits int) bool {
		return !(k.Eval(float64(math.Float32frombits(uint32(bits))), 1, 1) >= s.minValue)
	})
	c := -1.0
	if first > 0 {
		c = float64(math.Float32frombits(uint32(first - 1)))
	}
	s.slack = 2 * device.MaxError
	s.maxKey = float32(c + s.slack)
	return s, nil
}

// atLeast reports whether the value of row i and document j is at least the minimum. Near the
// minimum the value is evaluated in float64, with the tolerance of [panel.InclusiveBound] in c.
func (s *search) atLeast(i, j int, key float32) bool {
	if float64(key) <= float64(s.maxKey)-2*s.slack {
		return true
	}
	defer kernel.Recover(s.target, nil)
	x, y := 1.0, 1.0
	if kernel.UsesNorms(s.target) {
		x, y = s.rows.Norms[i], s.e.c.X.Norms[j]
	}
	c := panel.ExactC(s.rows, i, s.e.c.X, j)
	return s.target.Eval(c/panel.InclusiveBound(1), x, y) >= s.minValue || s.target.Eval(c, x, y) >= s.minValue
}

// sort sorts the lists. It converts keys to values unless keep is set. first is the index of the
// first list's document.
func (s *search) sort(ctx context.Context, lists *nearest.Lists, first int, keep bool) error {
	if keep {
		return lists.Sort(ctx, s.e.c.Workers, nil, nil)
	}
	return lists.Sort(ctx, s.e.c.Workers, s.convertKeys, func(i int, list []Neighbour) error {
		for _, n := range list {
			if v := n.Value; v-v != 0 {
				return &kernel.PairError{Kernel: s.target.String(), Row: s.rows.SourceRow(first + i),
					Column: s.e.c.X.SourceRow(int(n.Document)), IsCross: s.rows != s.e.c.X, Value: v}
			}
		}
		return nil
	})
}

func (s *search) convertKeys(keys []float32) error {
	if s.byC {
		return kernel.Apply(s.target, s.e.c.Kernels, keys, keys, nil, nil)
	}
	for i, v := range keys {
		keys[i] = 0 - v
	}
	return nil
}
