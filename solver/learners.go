package solver

import (
	"context"
	"math"
)

// Regression says which problem of regression is solved.
type Regression struct {
	// C bounds the coefficients: the price of a deviation. Default: 1.
	C float64

	// Epsilon is the deviation that costs nothing, in units of the targets. Default: 0, which makes
	// every document a support vector.
	Epsilon float64

	// Nu, if not 0, asks for ν-SVR, which finds Epsilon by itself: a bound, from 0 to 1, on the
	// share of documents outside of it, by their weights.
	Nu float64

	// DocumentWeights multiplies C by row of the matrix, as that of [Parameters] does. Default: 1 each.
	DocumentWeights []float64
}

// RegressionTraining says what [TrainRegression] trains on.
type RegressionTraining struct {
	Docs    []int     // different rows of the matrix
	Targets []float64 // by element of Docs
	Regression
}

// TrainRegression solves the ε-SVR problem of the targets z of documents,
//
//	minimise ½ Σ_s Σ_t β[s]β[t]·K[s][t] + ε·Σ_t |β[t]| - Σ_t z[t]β[t]  subject to |β[t]| <= C·w[t], Σ_t β[t] = 0,
//
// for the weights w of documents, or that of ν-SVR, which has Σ_t |β[t]| <= C·ν·Σ_t w[t] in place of the term
// in ε. The result's decision value estimates the target. Source: Schölkopf and others, Neural Computation 12
// (2000), in the forms of Chang and Lin.
func TrainRegression(ctx context.Context, m Matrix, t RegressionTraining, opt Options) (*Machine, error) {
	src, opt, err := begin(m, opt)
	if err != nil {
		return nil, err
	}
	d, err := regressionDual(src, t.Docs, t.Targets, &t.Regression)
	if err != nil {
		return nil, err
	}
	return solveOne(ctx, src, d, &opt)
}

// solveOne solves one problem with all workers.
func solveOne(ctx context.Context, m *source, d *dual, opt *Options) (machine *Machine, err error) {
	err = runAll(ctx, m, []job{{run: func(ctx context.Context, s *search, bytes int64) error {
		out, err := s.solveAt(ctx, d, nil, bytes)
		if err != nil {
			return err
		}
		if machine, err = d.machine(out); err == nil {
			s.report.solved()
		}
		return err
	}}}, newReporter(opt.Progress, 1), opt)
	if err != nil {
		return nil, err
	}
	return machine, nil
}

// regressionDual is the problem of regression, with its variables where the search begins.
func regressionDual(m *source, docs []int, targets []float64, par *Regression) (*dual, error) {
	if err := par.resolve(m.n); err != nil {
		return nil, err
	}
	switch {
	case len(docs) != len(targets):
		return nil, errUser("%d documents with %d targets", len(docs), len(targets))
	case len(docs) == 0:
		return nil, errUser("no document to train on")
	}
	docs, targets, err := inOrder(docs, targets, m.n)
	if err != nil {
		return nil, err
	}
	n := len(docs)
	d := newDual(docs, 2, m)
	d.perClass = par.Nu > 0
	sum := 0.0
	for _, doc := range docs {
		sum += weightOf(par.DocumentWeights, doc)
	}
	left := par.C * par.Nu * sum / 2
	for t, z := range targets {
		if math.IsNaN(z) || math.IsInf(z, 0) {
			return nil, errUser("target %v of document %d, expected a finite number", z, docs[t])
		}
		d.sign[t], d.sign[n+t] = 1, -1
		most := par.C * weightOf(par.DocumentWeights, docs[t])
		d.upper[t], d.upper[n+t] = most, most
		if par.Nu > 0 {
			d.offset[t], d.offset[n+t] = z, z
			d.alpha[t] = min(left, most)
			d.alpha[n+t] = d.alpha[t]
			left -= d.alpha[t]
		} else {
			d.offset[t], d.offset[n+t] = z-par.Epsilon, z+par.Epsilon
		}
	}
	return d, nil
}

// resolve checks the parameters, for a matrix of n documents, and fills in the default.
func (par *Regression) resolve(n int) error {
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
	return checkWeights(par.DocumentWeights, n)
}

// OneClassTraining says what [TrainOneClass] trains on.
type OneClassTraining struct {
	Docs            []int     // different rows of the matrix
	Nu              float64   // above 0, at most 1: bounds the share of Docs, by their weights, that are taken for others
	DocumentWeights []float64 // by row of the matrix, as those of [Parameters]; default 1 each
}

// TrainOneClass solves the problem of one class, which tells documents like t.Docs from others,
//
//	minimise ½ Σ_s Σ_t α[s]α[t]·K[s][t]  subject to 0 <= α[t] <= w[t], Σ_t α[t] = ν·Σ_t w[t],
//
// for the weights w of documents. The decision value of a document like t.Docs is positive. Source: Schölkopf
// and others, Neural Computation 13 (2001).
func TrainOneClass(ctx context.Context, m Matrix, t OneClassTraining, opt Options) (*Machine, error) {
	src, opt, err := begin(m, opt)
	if err != nil {
		return nil, err
	}
	if !(t.Nu > 0 && t.Nu <= 1) {
		return nil, errUser("ν is %v, expected 0 < ν <= 1", t.Nu)
	}
	if len(t.Docs) == 0 {
		return nil, errUser("no document to train on")
	}
	docs, _, err := inOrder(t.Docs, t.Docs, src.n)
	if err != nil {
		return nil, err
	}
	if err := checkWeights(t.DocumentWeights, src.n); err != nil {
		return nil, err
	}
	d := newDual(docs, 1, src)
	sum := 0.0
	for i, doc := range docs {
		d.sign[i], d.upper[i] = 1, weightOf(t.DocumentWeights, doc)
		sum += d.upper[i]
	}
	left := t.Nu * sum
	for i, most := range d.upper {
		d.alpha[i] = min(left, most)
		left -= d.alpha[i]
	}
	return solveOne(ctx, src, d, &opt)
}
