package solver

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"sync/atomic"
	"time"
)

// Estimates is the result of a cross-validation of regression with one choice of parameters.
type Estimates struct {
	// by document: the estimate of the machine that was trained without its part; NaN for one that
	// was left out
	Values []float64
	Fits   []*Machine // by part: the machine that was trained without it

	Busy time.Duration // of workers, in solving the problems
}

// RegressionTrial is what is cross-validated of regression.
type RegressionTrial struct {
	Targets []float64 // by document
	Parts   []int     // by document: its part, as in [Trial]
}

// Validate trains, for each part 0, 1, … of the documents and each choice of parameters,
// a machine on the documents of all other parts, as [TrainRegression] does, and estimates the
// targets of the part's own; documents of part -1 are left out. The result is in the order of pars.
//
// The machines of a part are trained on the same rows, by growing C; in ε-SVR each starts from the
// solution of the one before, and the first from that of the same part in start, for the same
// targets and another kernel, if that isn't nil.
func (t *RegressionTrial) Validate(
	ctx context.Context, m Matrix, pars []Regression, start *Estimates, opt Options,
) ([]*Estimates, error) {
	targets, parts := t.Targets, t.Parts
	src, err := newSource(m)
	if err != nil {
		return nil, err
	}
	if opt, err = opt.resolve(); err != nil {
		return nil, err
	}
	if len(targets) != src.n {
		return nil, errUser("%d targets for a matrix of %d documents", len(targets), src.n)
	}
	count, err := countParts(parts, src.n)
	if err != nil {
		return nil, err
	}
	if len(pars) == 0 {
		return nil, errUser("no parameters to validate")
	}
	pars = slices.Clone(pars)
	order := make([]int, len(pars))
	for i := range pars {
		if err := pars[i].resolve(); err != nil {
			return nil, err
		}
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Or(cmp.Compare(pars[a].Nu, pars[b].Nu), cmp.Compare(pars[a].Epsilon, pars[b].Epsilon), cmp.Compare(pars[a].C, pars[b].C))
	})
	if start != nil && len(start.Fits) != count {
		return nil, errUser("a start of %d parts, expected %d", len(start.Fits), count)
	}
	from := make([]*Machine, count)
	if start != nil {
		copy(from, start.Fits)
	}
	for f, machine := range from {
		if err := checkStart(machine, src.n); err != nil {
			return nil, fmt.Errorf("part %d: %w", f, err)
		}
	}
	held, sizes := divide(parts, count)
	out := make([]*Estimates, len(pars))
	for i := range out {
		out[i] = &Estimates{Values: slices.Repeat([]float64{math.NaN()}, len(targets)), Fits: make([]*Machine, count)}
	}
	var jobs []job
	busy := make([]atomic.Int64, len(pars))
	for f := range count {
		jobs = append(jobs, job{sizes[f], [2]int{}, func(ctx context.Context, s *search, bytes int64) error {
			docs := others(parts, f)
			return sweepRegression(ctx, s, docs, pick(targets, docs), pars, order, startFrom(from[f]), bytes, func(i int, machine *Machine, spent time.Duration) {
				out[i].Fits[f] = machine
				busy[i].Add(int64(spent))
			})
		}})
	}
	if err := runAll(ctx, src, jobs, len(jobs)*len(pars), &opt); err != nil {
		return nil, err
	}
	for i := range out {
		out[i].Busy = time.Duration(busy[i].Load())
	}
	for f, docs := range held {
		together := &Classifier{}
		for _, o := range out {
			together.Machines = append(together.Machines, o.Fits[f])
		}
		err := together.predictRows(ctx, src, docs, &opt, func(i int, decisions []float64) {
			for at, v := range decisions {
				out[at].Values[i] = v
			}
		})
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}

// divide lists the documents of each part, and counts those of all other parts.
func divide(parts []int, count int) (held [][]int, others []int) {
	held, others = make([][]int, count), make([]int, count)
	all := 0
	for i, f := range parts {
		if f >= 0 {
			held[f] = append(held[f], i)
			all++
		}
	}
	for f := range others {
		others[f] = all - len(held[f])
	}
	return held, others
}

// others lists the documents of all parts but f.
func others(parts []int, f int) (docs []int) {
	for i, own := range parts {
		if own >= 0 && own != f {
			docs = append(docs, i)
		}
	}
	return docs
}

// sweepRegression solves the problem of some documents for all parameters, in an order in which
// they differ in C alone where that is possible.
func sweepRegression(ctx context.Context, s *search, docs []int, targets []float64, pars []Regression, order []int, from start, bytes int64, keep func(i int, m *Machine, busy time.Duration)) error {
	var d *dual
	var last Regression
	for _, i := range order {
		par := pars[i]
		begin := time.Now()
		var o outcome
		var err error
		if d != nil && par.Nu == 0 && last.Nu == 0 && par.Epsilon == last.Epsilon {
			for t := range d.upper {
				d.upper[t] = par.C // which grows
			}
			o, err = s.resume(ctx, d)
		} else if d, err = regressionDual(s.m, docs, targets, &par); err == nil {
			if par.Nu > 0 {
				from = nil
			}
			o, err = s.solveFrom(ctx, d, from, bytes)
		}
		if err != nil {
			return err
		}
		machine, err := d.machine(o)
		if err != nil {
			return err
		}
		keep(i, machine, time.Since(begin))
		last, from = par, startFrom(machine)
		s.report.solved()
	}
	return nil
}
