package solver

import (
	"context"
	"fmt"
	"math"
)

// Regularization weighs the loss on the training documents against the size of the solution.
type Regularization struct {
	// C bounds the coefficients; larger fits the training documents more closely. It scales with the kernel's values.
	// Default: 1.
	C float64 `json:"c,omitempty"`

	// Nu, if not 0, asks for ν-SVC, which ignores C and Weights, or ν-SVR, which ignores Epsilon: a bound,
	// from 0 to 1, on the share of documents, by their weights, that violate their margin or lie outside of
	// the zone without loss, and the minimum share that are support vectors. One class needs it.
	Nu float64 `json:"nu,omitempty"`

	// Epsilon is the deviation of regression without loss, in units of the targets. Default: 0,
	// with which every document is a support vector.
	Epsilon float64 `json:"epsilon,omitempty"`
}

// Parameters says which problem is solved.
type Parameters struct {
	Regularization

	// Weights multiplies C for the documents of a class, by number of the class, as LIBSVM's -w
	// does. In one-vs-rest of three classes and more, and for labels, it counts where the class is
	// the positive one, as in LIBLINEAR. Default: 1 each.
	Weights []float64

	// DocumentWeights multiplies C once more, by row of the matrix: a document of the weight w counts as w
	// equal ones of the weight 1. Rows that take no part have one, too. Default: 1 each.
	DocumentWeights []float64

	// Probabilities asks for a sigmoid with each machine of two classes, for which five more are trained,
	// each without a fifth of the documents. Default: none.
	Probabilities bool

	// Seed says which documents go into which fifth.
	Seed uint64

	// ClassNames are what errors call classes. Default: their numbers.
	ClassNames []string
}

// resolve checks the parameters of a problem of so many classes and a matrix of n documents, and fills in the
// default.
func (p Parameters) resolve(classes, n int) (Parameters, error) {
	if p.C == 0 {
		p.C = 1
	}
	switch {
	case !(p.C > 0) || math.IsInf(p.C, 0):
		return p, errUser("C is %v, expected a positive number", p.C)
	case !(p.Epsilon >= 0) || math.IsInf(p.Epsilon, 0):
		return p, errUser("ε is %v, expected a number of at least 0", p.Epsilon)
	case !(p.Nu >= 0 && p.Nu <= 1):
		return p, errUser("ν is %v, expected 0 < ν <= 1, or 0 for C-SVC or ε-SVR", p.Nu)
	case len(p.Weights) > classes:
		return p, errUser("%d weights, expected at most %d, one for each class", len(p.Weights), classes)
	case p.DocumentWeights != nil && len(p.DocumentWeights) != n:
		return p, errUser("weights of %d documents, of a matrix of %d", len(p.DocumentWeights), n)
	}
	for c, w := range p.Weights {
		if !(w > 0) || math.IsInf(w, 0) {
			return p, errUser("weight %v of class %d, expected a positive number", w, c)
		}
		if by := p.C * w; by == 0 || math.IsInf(by, 0) {
			return p, errUser("C = %v times weight %v of class %d is %v, expected a positive number", p.C, w, c, by)
		}
	}
	for i, w := range p.DocumentWeights {
		if !(w > 0) || math.IsInf(w, 0) {
			return p, errUser("weight %v of document %d, expected a positive number", w, i)
		}
	}
	return p, nil
}

// bound is C times the weight of a class; -1 has none.
func (p *Parameters) bound(class int) float64 {
	if class >= 0 && class < len(p.Weights) {
		return p.C * p.Weights[class]
	}
	return p.C
}

// kind is which quadratic problem is solved.
type kind int

const (
	twoClasses kind = iota
	oneClass
	regression
)

// problem is one problem of two classes, of one, or of regression.
type problem struct {
	kind     kind
	docs     []int     // increasing
	positive []bool    // of classes
	targets  []float64 // of regression
	par      *Parameters
	bounds   [2]float64 // by side: of documents of the weight 1
	start    start
	classes  [2]int // what the signs stand for; the second is -1 for all others
	weighs   int    // the class whose weight the negative documents have; -1 for 1
	place    int    // of its machine in a classifier
}

// set makes parameters those of the problem. Its documents' bounds are 1 in ν-SVC and for one class.
func (p *problem) set(par *Parameters) {
	p.par, p.bounds = par, [2]float64{1, 1}
	switch {
	case p.kind == regression:
		p.bounds = [2]float64{par.C, par.C}
	case par.Nu == 0:
		p.bounds = [2]float64{par.bound(p.classes[0]), par.bound(p.weighs)}
	}
}

// weight returns the weight of document t.
func (p *problem) weight(t int) float64 {
	if p.par.DocumentWeights == nil {
		return 1
	}
	return p.par.DocumentWeights[p.docs[t]]
}

// side is 0 or 1: whether variable v has the positive sign or the negative one.
func (p *problem) side(v int) int {
	if p.kind == regression {
		return v / len(p.docs)
	}
	return sideOf(p.positive[v])
}

// bound returns the upper bound of variable v.
func (p *problem) bound(v int) float64 { return p.bounds[p.side(v)] * p.weight(v%len(p.docs)) }

// sideOf is 0 for positive documents and 1 for others.
func sideOf(positive bool) int {
	if positive {
		return 0
	}
	return 1
}

// dual is the quadratic problem with some documents held out, nil if those left are of one class;
// without any held out, that is an error.
func (p *problem) dual(m *source, out func(t int) bool) (*dual, error) {
	copies, n := 1, len(p.docs)
	if p.kind == regression {
		copies = 2
	}
	d := newDual(p.docs, copies, m)
	count, sum := [2]int{}, [2]float64{} // of documents, of their weights
	for v := range d.sign {
		side := p.side(v)
		d.sign[v] = int8(1 - 2*side)
		if out != nil && out(v) {
			continue
		}
		count[side]++
		sum[side] += p.weight(v % n)
		d.upper[v] = p.bound(v)
		switch sign := float64(d.sign[v]); {
		case p.kind == regression && p.par.Nu > 0:
			d.offset[v] = p.targets[v%n]
		case p.kind == regression:
			d.offset[v] = p.targets[v%n] - float64(sign*p.par.Epsilon)
		case p.par.Nu == 0:
			d.offset[v] = sign
		}
	}
	switch nu := p.par.Nu; {
	case p.kind == oneClass:
		d.shareOut(nu * sum[0])
	case p.kind == regression:
		if d.perClass = nu > 0; nu > 0 {
			d.shareOut(p.par.C * nu * sum[0] / 2)
		}
	case count[0] == 0 || count[1] == 0:
		if out != nil {
			return nil, nil
		}
		return nil, errUser("%d documents of class %s against %d of %s, expected some of each",
			count[0], p.className(0), count[1], p.className(1))
	case nu > 0:
		most := 2 * min(sum[0], sum[1]) / (sum[0] + sum[1])
		if !(nu <= most) {
			return nil, errUser("ν is %v, expected at most %.4g for %d documents of class %s against %d of %s", nu, most,
				count[0], p.className(0), count[1], p.className(1))
		}
		d.perClass = true
		d.shareOut(nu * (sum[0] + sum[1]) / 2)
	}
	return d, nil
}

// shareOut makes the sum of α of each sign that of a ν-form, from the first document on.
func (d *dual) shareOut(each float64) {
	d.fixed = true
	left := [2]float64{each, each}
	for t, s := range d.sign {
		side := sideOf(s > 0)
		d.alpha[t] = min(d.upper[t], left[side])
		left[side] -= d.alpha[t]
	}
}

// solve trains the machine.
func (p *problem) solve(ctx context.Context, s *search, bytes int64) (*DecisionFunction, error) {
	d, err := p.dual(s.m, nil)
	if err != nil {
		return nil, err
	}
	o, err := s.solve(ctx, d, p.start, true, bytes)
	if err != nil {
		return nil, err
	}
	return p.trained(ctx, s, d, o, bytes)
}

// trained is the machine of the solved problem, with its sigmoid where that was asked for.
func (p *problem) trained(ctx context.Context, s *search, d *dual, o outcome, bytes int64) (*DecisionFunction, error) {
	machine, err := p.machine(d, o)
	if err != nil {
		return nil, err
	}
	if p.par.Probabilities && p.kind == twoClasses {
		if machine.Sigmoid, err = p.sigmoid(ctx, s, bytes); err != nil {
			return nil, err
		}
	}
	s.report.solved()
	return machine, nil
}

// machine reads the result from the solved problem.
func (p *problem) machine(d *dual, o outcome) (*DecisionFunction, error) {
	m, err := d.machine(o)
	if err != nil || p.par.Nu == 0 || p.kind != twoClasses {
		return m, err
	}
	margin := d.margin()
	if margin == 0 {
		return nil, errUser("ν-SVC: the margin of class %s against %s is 0: they can't be told apart",
			p.className(0), p.className(1))
	}
	m.divide(margin)
	return m, m.finite()
}

// className is what errors call the class of a sign.
func (p *problem) className(sign int) string {
	switch c := p.classes[sign]; {
	case c < 0:
		return "all others"
	case c < len(p.par.ClassNames):
		return fmt.Sprintf("%q", p.par.ClassNames[c])
	default:
		return fmt.Sprint(c)
	}
}
