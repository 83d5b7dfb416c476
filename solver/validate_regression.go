package solver

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"time"
)

// RegressionTrial is what is cross-validated of regression.
type RegressionTrial struct {
	Targets []float64 // by document
	Parts   []int     // by document: its part, as in [Trial]
}

// Estimates is the result of a cross-validation of regression with one choice of parameters.
type Estimates struct {
	// Values has, by document, the estimate of the machine without its part; NaN for one that was
	// left out.
	Values []float64

	Fits []*Machine    // by part: the machine that was trained without it
	Busy time.Duration // of workers, in solving the problems
}

// Validate trains, for each part and each choice of parameters, a machine on the documents of all
// other parts, as [TrainRegression] does, and estimates the targets of the part's own. The result
// is in the order of pars.
//
// The machines of a part are trained on the same rows, by growing C. In ε-SVR each starts from the
// solution of the one before, and the first from that of the same part in near, for the same
// targets and another kernel; nil is 0.
func (t *RegressionTrial) Validate(
	ctx context.Context, m Matrix, pars []Regression, near *Estimates, opt Options,
) ([]*Estimates, error) {
	src, opt, err := begin(m, opt)
	if err != nil {
		return nil, err
	}
	if len(t.Targets) != src.n {
		return nil, errUser("%d targets for a matrix of %d documents", len(t.Targets), src.n)
	}
	count, err := countParts(t.Parts, src.n)
	if err != nil {
		return nil, err
	}
	if len(pars) == 0 {
		return nil, errUser("no parameters to validate")
	}
	pars = slices.Clone(pars)
	for i := range pars {
		if err := pars[i].resolve(); err != nil {
			return nil, err
		}
	}
	v := &validating{parts: t.Parts, count: count, order: increasing(len(pars), func(a, b int) int {
		return cmp.Or(cmp.Compare(pars[a].Nu, pars[b].Nu), cmp.Compare(pars[a].Epsilon, pars[b].Epsilon),
			cmp.Compare(pars[a].C, pars[b].C))
	})}
	from := make([]*Machine, count)
	if near != nil {
		if len(near.Fits) != count {
			return nil, errUser("a start of %d parts, expected %d", len(near.Fits), count)
		}
		copy(from, near.Fits)
	}
	for f, machine := range from {
		if err := checkStart(machine, src.n); err != nil {
			return nil, fmt.Errorf("part %d: %w", f, err)
		}
	}
	out := make([]*Estimates, len(pars))
	for i := range out {
		out[i] = &Estimates{Values: slices.Repeat([]float64{math.NaN()}, src.n), Fits: make([]*Machine, count)}
	}
	for f := range count {
		var docs []int // of all other parts
		for i, own := range t.Parts {
			if own >= 0 && own != f {
				docs = append(docs, i)
			}
		}
		v.add(len(docs), [2]int{}, func() (swept, start) {
			return &regressionSweep{m: src, docs: docs, targets: pick(t.Targets, docs), pars: pars}, startFrom(from[f])
		}, func(par int, machine *Machine) { out[par].Fits[f] = machine })
	}
	busy, err := v.train(ctx, src, &opt)
	if err != nil {
		return nil, err
	}
	for f, held := range v.held(func(int) bool { return true }) {
		var together Classifier
		for _, o := range out {
			together.Machines = append(together.Machines, o.Fits[f])
		}
		err := together.predictRows(ctx, src, held, &opt, func(i int, decisions []float64) {
			for par, value := range decisions {
				out[par].Values[i] = value
			}
		})
		if err != nil {
			return nil, err
		}
	}
	for i := range out {
		out[i].Busy = busy[i]
	}
	return out, nil
}

// regressionSweep is a problem of regression for all parameters, in an order in which neighbours
// differ in C alone where that is possible.
type regressionSweep struct {
	m       *source
	docs    []int
	targets []float64
	pars    []Regression
	last    Regression
}

func (r *regressionSweep) constant() (*Machine, bool) { return nil, false }

func (r *regressionSweep) next(i int, last *dual) (d *dual, warm bool, err error) {
	par := r.pars[i]
	same := par.Nu == 0 && r.last.Nu == 0 && par.Epsilon == r.last.Epsilon
	r.last = par
	if last != nil && same {
		for t := range last.upper {
			last.upper[t] = par.C // which grows
		}
		return last, true, nil
	}
	d, err = regressionDual(r.m, r.docs, r.targets, &par)
	return d, par.Nu == 0, err
}

func (r *regressionSweep) machine(d *dual, o outcome) (*Machine, error) { return d.machine(o) }
