package svm

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/gramengine/gram/engine"
	"github.com/gramengine/gram/solver"
	"github.com/gramengine/gram/solver/model"
)

// folded is a problem divided into folds, with its documents in the order of its matrix: by class,
// and in a class by fold.
type folded struct {
	p     *Problem
	s     *Settings
	folds int
	order []int // order[i] is the document of the problem that is number i here
	parts []int // its fold, -1 where it is left out

	labels  []int     // one class a document
	sets    [][]int   // labels each for itself
	targets []float64 // regression

	memory *mapped // nil where there is no memory for it
}

// fold divides a problem: the documents of each class, or all where targets are numbers, are
// shuffled by the seed and dealt out in turn. The folds depend on the corpus, its order and the
// seed alone. With together the documents of a fold stand together in their class, for rows in the
// machine's memory; those on a device are read where they are in any order, best in the documents'
// own, of which a fold leaves out a few here and there.
func (p *Problem) fold(s *Settings, folds int, seed uint64, together bool) (*folded, error) {
	f := &folded{p: p, s: s, folds: folds}
	n := p.Len()
	strata := make([]int, n) // by document of the corpus
	stratum := func(i, class int) { strata[p.corpus.order[i]] = class }
	var err error
	switch {
	case s.Type == model.OneClass:
		return nil, fmt.Errorf("svm: cross-validation of type %s, whose documents are all of one class: there is nothing to compare predictions with", s.Type)
	case !s.Type.Classifies():
		if f.targets, err = p.targets(); err != nil {
			return nil, err
		}
	case s.Scheme == solver.Labels:
		f.sets = p.several()
		for i, l := range f.sets {
			stratum(i, len(p.corpus.classes))
			if len(l) > 0 {
				stratum(i, l[0])
			}
		}
	default:
		if f.labels, err = p.single(); err != nil {
			return nil, err
		}
		for i, c := range f.labels {
			stratum(i, c)
		}
	}
	usable := 0
	for _, c := range strata {
		if c >= 0 {
			usable++
		}
	}
	if folds < 2 || folds > usable {
		return nil, fmt.Errorf("svm: %d folds of %d labelled documents of %s, expected 2 to %d", folds, usable, p.corpus.source, usable)
	}
	part := solver.Folds(strata, folds, seed)
	for i := range n {
		f.order = append(f.order, i)
	}
	if whole := mappedBytes(int64(n)); p.cached.Whole() && p.spare() >= whole {
		f.memory = &mapped{}
	}
	if f.memory != nil && together {
		class := func(i int) int { return strata[p.corpus.order[i]] }
		slices.SortStableFunc(f.order, func(a, b int) int {
			if ca, cb := class(a), class(b); ca != cb {
				return a - b // the problem's own order is by class, those without one behind
			}
			return part[p.corpus.order[a]] - part[p.corpus.order[b]]
		})
	}
	f.labels, f.sets, f.targets = pick(f.labels, f.order), pick(f.sets, f.order), pick(f.targets, f.order)
	for _, i := range f.order {
		f.parts = append(f.parts, part[p.corpus.order[i]])
	}
	return f, nil
}

func pick[T any](from []T, order []int) []T {
	if from == nil {
		return nil
	}
	to := make([]T, len(order))
	for i, at := range order {
		to[i] = from[at]
	}
	return to
}

// spare is the memory that is left beside tiles and rows.
func (p *Problem) spare() int64 {
	if p.opt.MemoryBytes == 0 {
		return math.MaxInt64
	}
	return p.opt.MemoryBytes - p.fixedBytes(p.Engine()) - p.budget.tiles - p.budget.rows
}

// matrix returns the matrix of a kernel, in the order of f; it belongs to f and stays valid until
// the next call.
func (f *folded) matrix(ctx context.Context, k engine.Kernel) (solver.Matrix, error) {
	if m, err := f.p.ofSets(ctx, k, f.order); m != nil || err != nil {
		return m, err
	}
	if f.memory == nil {
		return f.p.cached.Matrix(k)
	}
	return f.memory.fill(ctx, f.p.cached, k, f.order)
}

// cell is a choice of the parameters that the solver knows.
type cell struct{ c, nu, epsilon float64 }

// outcome is what a validation with one kernel and one cell found, in the order of f.
type outcome struct {
	classes *solver.Validation
	values  *solver.Estimates
}

// validate trains and predicts all folds for all cells. near are outcomes of other kernels for the
// same cell, by which part each counts.
func (f *folded) validate(ctx context.Context, m solver.Matrix, cells []cell, near []weighted, opt solver.Options) ([]outcome, error) {
	var out []outcome
	if f.targets != nil {
		var pars []solver.Regression
		for _, c := range cells {
			pars = append(pars, solver.Regression{C: c.c, Nu: c.nu, Epsilon: c.epsilon})
		}
		var start *solver.Estimates
		if len(near) > 0 {
			start = near[0].of.values
		}
		values, err := (&solver.RegressionTrial{Targets: f.targets, Parts: f.parts}).Validate(ctx, m, pars, start, opt)
		for _, v := range values {
			out = append(out, outcome{values: v})
		}
		return out, err
	}
	var pars []solver.Parameters
	for _, c := range cells {
		own := *f.s
		own.C, own.Nu = c.c, c.nu
		par, err := f.p.parameters(&own)
		if err != nil {
			return nil, err
		}
		pars = append(pars, par)
	}
	var start []solver.WarmStart
	for _, w := range near {
		start = append(start, solver.WarmStart{Of: w.of.classes, By: w.by})
	}
	trial := &solver.Trial{Labels: f.labels, Sets: f.sets, Classes: len(f.p.corpus.classes), Scheme: f.s.Scheme, Parts: f.parts}
	classes, err := trial.Validate(ctx, m, pars, start, opt)
	for _, v := range classes {
		out = append(out, outcome{classes: v})
	}
	return out, err
}
