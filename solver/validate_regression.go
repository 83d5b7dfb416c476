package solver

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/gramengine/gram/internal/run"
)

// RegressionTrial is what is cross-validated of regression.
type RegressionTrial struct {
	Targets []float64 // by document
	Parts   []int     // by document: its part, as in [Trial]
	Only    []int     // if not nil, the parts that are validated, as in [Trial]
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
	v, err := newValidating(m, t.Parts, t.Only, len(pars), opt)
	if err != nil {
		return nil, err
	}
	if len(t.Targets) != v.m.n {
		return nil, errUser("%d targets for a matrix of %d documents", len(t.Targets), v.m.n)
	}
	pars = slices.Clone(pars)
	for i := range pars {
		if err := pars[i].resolve(v.m.n); err != nil {
			return nil, err
		}
	}
	v.sort(func(a, b int) int {
		return cmp.Or(cmp.Compare(pars[a].Nu, pars[b].Nu), cmp.Compare(pars[a].Epsilon, pars[b].Epsilon),
			cmp.Compare(pars[a].C, pars[b].C))
	})
	from := make([]*Machine, v.count)
	if near != nil {
		if len(near.Fits) != v.count {
			return nil, errUser("a start of %d parts, expected %d", len(near.Fits), v.count)
		}
		from = near.Fits
	}
	out := make([]*Estimates, len(pars))
	for i := range out {
		out[i] = &Estimates{Values: slices.Repeat([]float64{math.NaN()}, v.m.n), Fits: make([]*Machine, v.count)}
	}
	for _, f := range v.only {
		begin, err := givenStart(from[f], v.m.n)
		if err != nil {
			return nil, fmt.Errorf("part %d: %w", f, err)
		}
		var docs []int // of all other parts
		for i, own := range t.Parts {
			if own >= 0 && own != f {
				docs = append(docs, i)
			}
		}
		v.add(len(docs), [2]int{}, func() sweep {
			var before Regression
			targets := run.Pick(t.Targets, docs)
			return sweep{start: begin, machine: (*dual).machine, next: func(i int, last *dual) (*dual, error) {
				par := pars[i]
				same := par.Nu == 0 && before.Nu == 0 && par.Epsilon == before.Epsilon
				before = par
				if last == nil || !same {
					return regressionDual(v.m, docs, targets, &par)
				}
				for t := range last.upper { // they grow
					last.upper[t] = par.C * weightOf(par.DocumentWeights, docs[t%len(docs)])
				}
				return last, nil
			}}
		}, func(par int, machine *Machine) { out[par].Fits[f] = machine })
	}
	v.machines = func(par, f int) []*Machine { return out[par].Fits[f : f+1] }
	v.takesPart = func(int) bool { return true }
	busy, err := v.run(ctx, func(i, par int, decisions []float64) { out[par].Values[i] = decisions[0] })
	if err != nil {
		return nil, err
	}
	for i := range out {
		out[i].Busy = busy[i]
	}
	return out, nil
}
