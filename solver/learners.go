package solver

import (
	"context"
	"math"
)

// shareOut makes a problem of two classes one of ν-SVC: no linear term, bounds of 1 for those that
// have one, and a sum of α in each class, shared out from the first document on.
func (d *dual) shareOut(each float64) {
	d.perClass = true
	left := [2]float64{each, each}
	for t, s := range d.sign {
		side := 0
		if s < 0 {
			side = 1
		}
		if d.offset[t] = 0; d.upper[t] > 0 {
			d.upper[t] = 1
		}
		d.alpha[t] = min(d.upper[t], left[side])
		left[side] -= d.alpha[t]
	}
}

// Regression says which problem of regression is solved.
type Regression struct {
	// C bounds the coefficients: the price of a deviation. Default: 1.
	C float64

	// Epsilon is the deviation that costs nothing, in units of the targets. Default: 0, which makes
	// every document a support vector.
	Epsilon float64

	// Nu, if not 0, asks for ν-SVR instead, which finds Epsilon by itself: a bound, from 0 to 1, on
	// the part of documents outside of it.
	Nu float64
}

// RegressionTraining says what [TrainRegression] trains on.
type RegressionTraining struct {
	Docs    []int     // different rows of the matrix
	Targets []float64 // by element of Docs
	Regression
}

// TrainRegression solves the ε-SVR problem of the targets z[t] of the documents docs, different
// rows of the matrix,
//
//	minimise ½ Σ_s Σ_t β[s]β[t]·K[s][t] + ε·Σ_t |β[t]| - Σ_t z[t]β[t]  subject to -C <= β[t] <= C, Σ_t β[t] = 0,
//
// or that of ν-SVR, where instead of the term in ε there is Σ_t |β[t]| <= C·ν·n. The result's
// decision value estimates the target. Source: Schölkopf and others, Neural Computation 12 (2000);
// the forms are those of Chang and Lin.
func TrainRegression(ctx context.Context, m Matrix, t RegressionTraining, opt Options) (*Machine, error) {
	src, err := newSource(m)
	if err != nil {
		return nil, err
	}
	if opt, err = opt.resolve(); err != nil {
		return nil, err
	}
	d, err := regressionDual(src, t.Docs, t.Targets, &t.Regression)
	if err != nil {
		return nil, err
	}
	return solveOne(ctx, src, d, &opt)
}

// solveOne solves one problem with all workers.
func solveOne(ctx context.Context, m *source, d *dual, opt *Options) (*Machine, error) {
	return runOne(ctx, m, opt, func(ctx context.Context, s *search, bytes int64) (*Machine, error) {
		o, err := s.solve(ctx, d, bytes)
		if err != nil {
			return nil, err
		}
		machine, err := d.machine(o)
		if err != nil {
			return nil, err
		}
		s.report.solved()
		return machine, nil
	})
}

// regressionDual is the problem of regression, with its variables where the search begins.
func regressionDual(m *source, docs []int, targets []float64, par *Regression) (*dual, error) {
	if err := par.resolve(); err != nil {
		return nil, err
	}
	switch {
	case len(docs) != len(targets):
		return nil, errUser("%d documents with %d targets", len(docs), len(targets))
	case len(docs) == 0:
		return nil, errUser("no document to train on")
	}
	order, err := inOrder(docs, m.n)
	if err != nil {
		return nil, err
	}
	if order != nil {
		docs, targets = pick(docs, order), pick(targets, order)
	}
	n := len(docs)
	d := newDual(docs, 2, m)
	d.perClass = par.Nu > 0
	left := par.C * par.Nu * float64(n) / 2
	for t, z := range targets {
		if math.IsNaN(z) || math.IsInf(z, 0) {
			return nil, errUser("target %v of document %d, expected a finite number", z, docs[t])
		}
		d.sign[t], d.sign[n+t] = 1, -1
		d.upper[t], d.upper[n+t] = par.C, par.C
		if par.Nu > 0 {
			d.offset[t], d.offset[n+t] = z, z
			d.alpha[t] = min(left, par.C)
			d.alpha[n+t] = d.alpha[t]
			left -= d.alpha[t]
		} else {
			d.offset[t], d.offset[n+t] = z-par.Epsilon, z+par.Epsilon
		}
	}
	return d, nil
}

// resolve checks the parameters and fills in the default.
func (par *Regression) resolve() error {
	if par.C == 0 {
		par.C = 1
	}
	switch {
	case !(par.C > 0) || math.IsInf(par.C, 0):
		return errUser("C is %v, expected a positive number", par.C)
	case !(par.Epsilon >= 0) || math.IsInf(par.Epsilon, 0):
		return errUser("ε is %v, expected a number of at least 0", par.Epsilon)
	case !(par.Nu >= 0 && par.Nu <= 1):
		return errUser("ν is %v, expected 0 < ν <= 1, or 0 for ε-SVR", par.Nu)
	}
	return nil
}

// TrainOneClass solves the problem of one class, to tell what is like the documents docs, different
// rows of the matrix, from what isn't,
//
//	minimise ½ Σ_s Σ_t α[s]α[t]·K[s][t]  subject to 0 <= α[t] <= 1, Σ_t α[t] = ν·n,
//
// 0 < ν <= 1, a bound on the part of the documents that are taken for strangers. The result is
// positive where it takes an object for one of them. Source: Schölkopf and others, Neural
// Computation 13 (2001).
func TrainOneClass(ctx context.Context, m Matrix, docs []int, nu float64, opt Options) (*Machine, error) {
	src, err := newSource(m)
	if err != nil {
		return nil, err
	}
	if opt, err = opt.resolve(); err != nil {
		return nil, err
	}
	if !(nu > 0 && nu <= 1) {
		return nil, errUser("ν is %v, expected 0 < ν <= 1", nu)
	}
	if len(docs) == 0 {
		return nil, errUser("no document to train on")
	}
	order, err := inOrder(docs, src.n)
	if err != nil {
		return nil, err
	}
	if order != nil {
		docs = pick(docs, order)
	}
	d := newDual(docs, 1, src)
	left := nu * float64(len(docs))
	for t := range docs {
		d.sign[t], d.upper[t] = 1, 1
		d.alpha[t] = min(left, 1)
		left -= d.alpha[t]
	}
	return solveOne(ctx, src, d, &opt)
}
