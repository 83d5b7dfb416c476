package engine

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"

	"github.com/gramengine/gram/engine/device"
	"github.com/gramengine/gram/engine/internal/join"
	"github.com/gramengine/gram/engine/internal/panel"
	"github.com/gramengine/gram/internal/run"
	"github.com/gramengine/gram/sparse"
)

// Within is what GroupsWithin finds.
type Within struct {
	Groups [][]int32 // as Kept.Groups returns them
	Pairs  int64     // within the bound
	Same   int64     // of these, pairs of the same documents up to a factor: c is 0
	Plan   *JoinPlan
	Name   string // of what computed, as of Engine.Backend
}

// GroupsWithin groups documents by their pairs with c of at most a bound, as [Kept] says, in the memory that
// [GroupsBytes] returns. More pairs than it holds are searched for again, once or twice.
func GroupsWithin(ctx context.Context, x *sparse.Embedded, c float64, opt Options) (*Within, error) {
	if x == nil {
		return nil, errors.New("engine: documents are nil, expected some")
	}
	kept, out := NewKept(x.Rows()), &Within{}
	kept.room = pairsPerRow*x.Rows() + 1<<12
	for first := true; first || kept.full; first = false {
		kept.settle()
		count := func(pairs int64, same bool) {
			if first {
				if out.Pairs += pairs; same {
					out.Same += pairs
				}
			}
		}
		plan, name, err := EachNear(ctx, x, c, opt, func(copies []uint32) error {
			n := int64(len(copies))
			count(n*(n-1)/2, true)
			for _, i := range copies[1:] {
				kept.Copy(int(copies[0]), int(i))
			}
			return nil
		}, func(i, j int, pairs int64, same bool) error {
			count(pairs, same)
			kept.Near(i, j)
			return nil
		})
		if err != nil {
			return nil, err
		}
		out.Plan, out.Name = plan, name
	}
	out.Groups = kept.Groups()
	return out, nil
}

// EachNear calls copies with the documents of each class of copies, ascending, and near for all pairs of documents with
// c of at most a bound, as [Engine.PairsWithin] defines them, in no particular order, each by one goroutine at a time.
// The first of a class stands for its copies: pairs is their number, and same reports a c of 0. Documents are compared
// by a join or by tiles, whichever is cheaper; tiles know no copies. A join needs no engine, and copies cost nothing.
// It returns how pairs were found and what computed.
func EachNear(
	ctx context.Context, x *sparse.Embedded, c float64, opt Options, copies func(list []uint32) error,
	near func(i, j int, pairs int64, same bool) error,
) (plan *JoinPlan, name string, err error) {
	if copies == nil || near == nil {
		return nil, "", errors.New("engine: copies or near is nil, expected functions that take copies and pairs")
	}
	e, s, err := bareWithin(ctx, x, c, opt)
	if err != nil {
		return nil, "", err
	}
	defer func() { err = errors.Join(err, e.Close()) }()
	name = string(e.ISA())
	j, plan, err := s.planned(ctx, nil, false, 0)
	if err != nil {
		return nil, "", err
	}
	visit := func(i, m int, pairs int64, same bool) error {
		return run.Guard("engine: near", func() error { return near(min(i, m), max(i, m), pairs, same) })
	}
	if j == nil {
		if err := e.panels(ctx, opt); err != nil {
			return nil, "", err
		}
		return plan, e.Backend(), s.tiled(ctx, func(i, m int, c float32) error { return visit(i, m, 1, c == 0) })
	}
	err = j.EachCopied(func(list []uint32) error {
		return run.Guard("engine: copies", func() error { return copies(list) })
	})
	if err == nil {
		err = s.decide(ctx, j, plan, func(i, m int, same bool) error {
			return visit(i, m, int64(len(j.Copies(i)))*int64(len(j.Copies(m))), same)
		})
	}
	return plan, name, err
}

// CrossWithin hands all pairs of a document i of rows and a document j of x with c of at most a bound to
// visit, as [GroupsWithin] finds them, with c in float64: 0 for the same documents up to a factor above 0,
// only for these. Both are embedded by one embedder. visit is called by one goroutine at a time, in no
// particular order; its error ends the search.
func CrossWithin(
	ctx context.Context, rows, x *sparse.Embedded, c float64, opt Options, visit func(i, j int, c float64) error,
) (_ *JoinPlan, err error) {
	if visit == nil {
		return nil, errors.New("engine: a nil function visit, expected one that takes pairs")
	}
	e, s, err := bareWithin(ctx, x, c, opt)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, e.Close()) }()
	if err := e.checkCross(rows); err != nil {
		return nil, err
	}
	s.rows = rows
	j, plan, err := s.planned(ctx, rows, false, rows.Bytes())
	if err != nil {
		return nil, err
	}
	found := func(i, m int) error {
		return run.Guard("engine: visit", func() error { return visit(i, m, panel.C(rows, i, x, m)) })
	}
	if j != nil {
		return plan, s.decide(ctx, j, plan, func(i, m int, _ bool) error {
			for _, a := range j.Copies(i) {
				for _, b := range j.OfColumn(m) {
					if err := found(int(a), int(b)); err != nil {
						return err
					}
				}
			}
			return nil
		})
	}
	if err := e.panels(ctx, opt); err != nil {
		return nil, err
	}
	if err := e.fits(ctx, "the documents of rows", NewBytes(rows.Rows(), rows.Cols, rows.NNZ())); err != nil {
		return nil, err
	}
	ctx, report := e.c.Start(ctx, plan.Pairs)
	defer report.Finish(&err)
	r := &device.Request{From: e.other(rows), Docs: run.Numbers(0, rows.Rows()), Hi: e.Len(), Workers: e.c.Workers}
	var mu sync.Mutex
	return plan, e.c.Rows(ctx, s.kernel, r, report, func(t *device.Tile) error {
		return s.scan.Pairs(s.most, t, func(rows, columns []int32, _ []float32) error {
			mu.Lock()
			defer mu.Unlock()
			for at, i := range rows {
				if err := found(int(i), int(columns[at])); err != nil {
					return err
				}
			}
			return context.Cause(ctx)
		})
	})
}

// GroupsBytes returns the memory that [GroupsWithin] takes by a join at least, beside so many embedded
// documents of so many columns.
func GroupsBytes(rows, cols int) int64 {
	return run.AddBytes((210+8*pairsPerRow)*int64(max(rows, 0)), 24*int64(max(cols, 0)))
}

// bareWithin makes an engine without the processor's back end, and the search for pairs within a bound.
func bareWithin(ctx context.Context, x *sparse.Embedded, c float64, opt Options) (*Engine, *search, error) {
	e, err := newBare(ctx, x, opt)
	if err != nil {
		return nil, nil, err
	}
	s, err := e.within(ctx, c)
	if n := x.Rows(); err == nil && n > math.MaxInt32 {
		err = fmt.Errorf("engine: pairs of %d documents, expected at most %d", n, math.MaxInt32)
	}
	if err != nil {
		return nil, nil, errors.Join(err, e.Close())
	}
	return e, s, nil
}

// decide hands all pairs of a join that are within the bound to visit, and whether they are the same, by
// one goroutine at a time. Their copies are, too.
func (s *search) decide(
	ctx context.Context, j *join.Join, p *JoinPlan, visit func(i, m int, same bool) error,
) (err error) {
	ctx, report := s.e.c.Start(ctx, p.Matches)
	defer report.Finish(&err)
	k := s.checker()
	return j.Run(ctx, report.Add, func(w, i, m int) error {
		c, ok := k.c(w, i, m)
		if !ok || c > float64(s.most) || c > float64(s.scan.Sure) && !s.scan.Decide(i, m) {
			return context.Cause(ctx)
		}
		same := c <= 0x1p-30 && panel.C(s.rows, i, s.e.c.X, m) == 0
		k.mu.Lock()
		defer k.mu.Unlock()
		return visit(i, m, same)
	})
}
