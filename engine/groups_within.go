package engine

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"

	"github.com/gramengine/gram/engine/device"
	"github.com/gramengine/gram/engine/internal/compute"
	"github.com/gramengine/gram/engine/internal/join"
	"github.com/gramengine/gram/engine/internal/panel"
	"github.com/gramengine/gram/engine/kernel"
	"github.com/gramengine/gram/internal/run"
	"github.com/gramengine/gram/sparse"
)

// GroupsResult is the result of [GroupsWithin].
type GroupsResult struct {
	Groups         [][]int32 // groups, as returned by Deduplicator.Groups
	PairCount      int64     // number of pairs within the bound
	EqualPairCount int64     // number of pairs with c = 0, whose documents are equal up to a factor
	Plan           *JoinPlan
	BackendName    string
}

// GroupsWithin finds all pairs of documents of x within the bound c, and groups the documents with
// [Deduplicator]. It takes at least [GroupsBytes] of memory. The number of undecided pairs in
// memory is limited. If there are more undecided pairs, GroupsWithin searches for the pairs again.
func GroupsWithin(ctx context.Context, x *sparse.Embedded, c float64, opt Options) (*GroupsResult, error) {
	kept, out := NewDeduplicator(x.Rows()), &GroupsResult{}
	kept.maxPairs = pairsPerRow*x.Rows() + 1<<12
	for first := true; first || kept.full; first = false {
		kept.settle()
		count := func(pairs int64, same bool) {
			if first {
				if out.PairCount += pairs; same {
					out.EqualPairCount += pairs
				}
			}
		}
		plan, name, err := EachNearPair(ctx, x, c, opt, func(copies []uint32) error {
			n := int64(len(copies))
			count(n*(n-1)/2, true)
			for _, i := range copies[1:] {
				kept.AddCopy(int(copies[0]), int(i))
			}
			return nil
		}, func(i, j int, pairs int64, same bool) error {
			count(pairs, same)
			kept.AddNear(i, j)
			return nil
		})
		if err != nil {
			return nil, err
		}
		out.Plan, out.BackendName = plan, name
	}
	out.Groups = kept.Groups()
	return out, nil
}

// EachNearPair calls copies with each class of identical documents, as a list in ascending order.
// It calls near for all other pairs within the bound c, with the tolerance of [EachCrossPair]. The
// order of calls is unspecified, and calls aren't concurrent. The first document of a class
// represents the class: pairs is the number of represented pairs, and same is set if c = 0. Pairs
// are found by a join or by tiles, whichever is faster. With tiles, copies isn't called.
func EachNearPair(
	ctx context.Context, x *sparse.Embedded, c float64, opt Options, copies func(list []uint32) error,
	near func(i, j int, pairs int64, same bool) error,
) (plan *JoinPlan, name string, err error) {
	e, s, err := newBoundSearch(ctx, x, c, opt)
	if err != nil {
		return nil, "", err
	}
	defer func() { err = errors.Join(err, e.Close()) }()
	name = string(e.c.Kernels.ISA)
	j, plan, err := s.planJoin(ctx, nil, false, 0)
	if err != nil {
		return nil, "", err
	}
	visit := func(i, m int, pairs int64, same bool) error {
		return run.CatchPanic("engine: near", func() error { return near(min(i, m), max(i, m), pairs, same) })
	}
	if j == nil {
		if err := e.makePanelBackend(ctx, opt); err != nil {
			return nil, "", err
		}
		return plan, e.c.Backend.Name(), s.findByTiles(ctx, nil,
			func(i, m int, c float64) error { return visit(i, m, 1, c == 0) })
	}
	err = j.EachCopyGroup(func(list []uint32) error {
		return run.CatchPanic("engine: copies", func() error { return copies(list) })
	})
	if err == nil {
		err = s.checkCandidates(ctx, j, plan, func(i, m int, c float64) error {
			return visit(i, m, int64(len(j.RowCopies(i)))*int64(len(j.RowCopies(m))), c == 0)
		})
	}
	return plan, name, err
}

// EachCrossPair calls visit for each document i of rows and document j of x whose c, computed in
// float64, is at most the bound times 1 + 10⁻⁹. A c below 10⁻²⁴ is a rounding error and becomes 0.
// rows and x must have the same embedder. Calls of visit aren't concurrent, and their order is
// unspecified. If visit returns an error, EachCrossPair stops.
func EachCrossPair(
	ctx context.Context, rows, x *sparse.Embedded, c float64, opt Options, visit func(i, j int, c float64) error,
) (_ *JoinPlan, err error) {
	e, s, err := newBoundSearch(ctx, x, c, opt)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, e.Close()) }()
	if err := e.checkTest(kernel.C(), rows); err != nil {
		return nil, err
	}
	s.rows = rows
	j, plan, err := s.planJoin(ctx, rows, false, rows.Bytes())
	if err != nil {
		return nil, err
	}
	found := func(i, m int, c float64) error {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		return run.CatchPanic("engine: visit", func() error { return visit(i, m, c) })
	}
	if j != nil {
		return plan, s.checkCandidates(ctx, j, plan, func(i, m int, c float64) error {
			for _, a := range j.RowCopies(i) {
				for _, b := range j.ColumnCopies(m) {
					if err := found(int(a), int(b), c); err != nil {
						return err
					}
				}
			}
			return nil
		})
	}
	if err := e.makePanelBackend(ctx, opt); err != nil {
		return nil, err
	}
	if err := e.checkFits(ctx, "the documents of rows", MaxEngineBytes(rows.Rows(), rows.Cols, rows.NNZ())); err != nil {
		return nil, err
	}
	return plan, s.findByTiles(ctx, rows, found)
}

// findByTiles computes tiles of c and calls visit for each pair within the bound. Rows are the
// documents of others, and c is computed in float64. If others is nil, rows are the engine's
// documents, and c is the tile's value. c is recomputed in float64 if its error could change a
// comparison with 0 or with the bound.
func (s *search) findByTiles(
	ctx context.Context, others *sparse.Embedded, visit func(i, j int, c float64) error,
) (err error) {
	e, n := s.e, s.e.Len()
	const slack = 2 * device.MaxError
	r, pairs := &device.Request{RowIndices: run.Range(0, n), Hi: n, UpperOnly: true, Workers: e.c.Workers},
		compute.TrianglePairCount(n)
	if others != nil {
		r.RowDocuments, r.RowIndices, r.UpperOnly = e.foreignDocuments(others), run.Range(0, others.Rows()), false
		pairs = int64(others.Rows()) * int64(n)
	}
	ctx, report := e.c.StartProgress(ctx, pairs)
	defer report.Finish(&err)
	s.scan.UpperOnly = r.UpperOnly
	var mu sync.Mutex
	return e.c.ComputeRows(ctx, s.kernel, r, report, func(t *device.Tile) error {
		return s.scan.EachPairs(s.maxKey, t, func(rows, columns []int32, keys []float32) error {
			for at, i := range rows {
				c := float64(keys[at])
				if others != nil || !(c > slack && c < s.bound-slack) {
					c = panel.ExactC(s.rows, int(i), e.c.X, int(columns[at]))
				}
				if !(c <= s.bound) {
					continue
				}
				mu.Lock()
				err := visit(int(i), int(columns[at]), c)
				mu.Unlock()
				if err != nil {
					return err
				}
			}
			return context.Cause(ctx)
		})
	})
}

// GroupsBytes returns the minimum memory of a join in [GroupsWithin] in bytes, excluding the
// embedded documents.
func GroupsBytes(rows, cols int) int64 {
	return (210+8*pairsPerRow)*int64(rows) + 24*int64(cols)
}

func newBoundSearch(ctx context.Context, x *sparse.Embedded, c float64, opt Options) (*Engine, *search, error) {
	e, err := newWithoutPanels(ctx, x, opt)
	if err != nil {
		return nil, nil, err
	}
	if !(c >= 0) {
		err = fmt.Errorf("engine: bound on c must be nonnegative, got %v", c)
	} else if n := x.Rows(); n > math.MaxInt32 {
		err = fmt.Errorf("engine: got %d documents; the maximum is %d", n, math.MaxInt32)
	}
	if err != nil {
		return nil, nil, errors.Join(err, e.Close())
	}
	s := &search{e: e, kernel: kernel.C(), byC: true, rows: x, bound: panel.InclusiveBound(c)}
	s.scan.Kernels, s.maxKey = e.c.Kernels, float32(s.bound+2*device.MaxError)
	return e, s, nil
}

// checkCandidates calls visit for all candidate pairs of a join that are within the bound. Calls
// aren't concurrent. A document represents its copies.
func (s *search) checkCandidates(
	ctx context.Context, j *join.Join, p *JoinPlan, visit func(i, m int, c float64) error,
) (err error) {
	ctx, report := s.e.c.StartProgress(ctx, p.MatchCount)
	defer report.Finish(&err)
	k := s.checker()
	return j.Run(ctx, report.Add, func(w, i, m int) error {
		c, ok := k.c(w, i, m)
		if c = panel.RoundNoiseToZero(c); !ok || !(c <= s.bound) {
			return context.Cause(ctx)
		}
		k.mu.Lock()
		defer k.mu.Unlock()
		return visit(i, m, c)
	})
}
