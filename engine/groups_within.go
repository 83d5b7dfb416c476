package engine

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"

	"github.com/gramengine/gram/engine/device"
	"github.com/gramengine/gram/engine/internal/join"
	"github.com/gramengine/gram/engine/internal/panel"
	"github.com/gramengine/gram/internal/run"
	"github.com/gramengine/gram/sparse"
)

// Within is what GroupsWithin finds.
type Within struct {
	Groups [][]int32 // of two documents or more that pairs connect, each increasing, in the order of their first
	Pairs  int64     // within the bound
	Same   int64     // of these, pairs of the same documents up to a factor: c is 0
	Plan   *JoinPlan
	Name   string // of what computed, as of Engine.Backend
}

// GroupsWithin finds the groups of documents that pairs with c of at most a bound connect, as
// [Engine.PairsWithin] defines these; Options.Texts leaves out those without terms. Documents are compared by a
// join or by tiles, whichever is cheaper; for a join no engine is made: it takes what [GroupsBytes] says. Copies cost
// nothing.
func GroupsWithin(ctx context.Context, x *sparse.Embedded, c float64, opt Options) (_ *Within, err error) {
	e, s, err := bareWithin(ctx, x, c, opt)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, e.Close()) }()
	groups, out := NewGroups(x.Rows()), &Within{Name: string(e.ISA())}
	j, plan, err := s.planned(ctx, nil, false, 0)
	if err != nil {
		return nil, err
	}
	out.Plan = plan
	if j == nil {
		if err = e.panels(ctx, opt); err == nil {
			out.Name = e.Backend()
			err = s.tiled(ctx, func(i, m int, c float32) error {
				out.count(1, c == 0)
				groups.Join(i, m)
				return nil
			})
		}
	} else {
		err = j.EachCopied(func(copies []uint32) error {
			n := int64(len(copies))
			out.count(n*(n-1)/2, true)
			for _, i := range copies[1:] {
				groups.Join(int(copies[0]), int(i))
			}
			return nil
		})
		if err == nil {
			err = s.decide(ctx, j, plan, func(i, m int, same bool) error {
				out.count(int64(len(j.Copies(i)))*int64(len(j.Copies(m))), same)
				groups.Join(i, m)
				return nil
			})
		}
	}
	if err != nil {
		return nil, err
	}
	out.Groups = groups.All()
	if opt.Texts {
		out.Groups = slices.DeleteFunc(out.Groups, func(g []int32) bool {
			if slices.ContainsFunc(g, func(i int32) bool { return !x.EmptyRow(int(i)) }) {
				return false
			}
			n := int64(len(g))
			out.count(-n*(n-1)/2, true)
			return true
		})
	}
	return out, nil
}

func (w *Within) count(pairs int64, same bool) {
	if w.Pairs += pairs; same {
		w.Same += pairs
	}
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
		if opt.Texts && (rows.EmptyRow(i) || x.EmptyRow(m)) {
			return nil
		}
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
	return run.AddBytes(200*int64(max(rows, 0)), 24*int64(max(cols, 0)))
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
