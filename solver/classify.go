package solver

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/gramengine/gram/internal/run"
)

// Parameters says which problem of classes is solved. C and the tolerance scale with the kernel's
// values.
type Parameters struct {
	// C bounds the coefficients: the price of a violated margin. Default: 1.
	C float64

	// Weights multiplies C for the documents of a class, by number of the class, as LIBSVM's -w
	// does. In one-vs-rest of three classes and more, and for labels, it counts where the class is
	// the positive one, as in LIBLINEAR. Default: 1 each.
	Weights []float64

	// DocumentWeights multiplies C once more, by row of the matrix: a document of the weight w counts as w
	// equal ones of the weight 1. Rows that take no part have one, too. Default: 1 each.
	DocumentWeights []float64

	// Nu, if not 0, asks for ν-SVC, which ignores C and Weights: a bound, from 0 to 1, on the share
	// of documents, by their weights, that violate their margin, and the least share that are support vectors.
	Nu float64

	// Probabilities asks for a sigmoid with each machine, for which five more are trained, each
	// without a fifth of the documents. Default: none.
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
	if !(p.C > 0) || math.IsInf(p.C, 0) {
		return p, errUser("C is %v, expected a positive number", p.C)
	}
	if !(p.Nu >= 0 && p.Nu <= 1) {
		return p, errUser("ν is %v, expected 0 < ν <= 1, or 0 for C-SVC", p.Nu)
	}
	for c, w := range p.Weights {
		if !(w > 0) || math.IsInf(w, 0) {
			return p, errUser("weight %v of class %d, expected a positive number", w, c)
		}
		if by := p.C * w; by == 0 || math.IsInf(by, 0) {
			return p, errUser("C = %v times weight %v of class %d is %v, expected a positive number", p.C, w, c, by)
		}
	}
	if len(p.Weights) > max(classes, 0) {
		return p, errUser("%d weights, expected at most %d, one for each class", len(p.Weights), classes)
	}
	return p, checkWeights(p.DocumentWeights, n)
}

// checkWeights checks that weights are there for n documents, or none.
func checkWeights(weights []float64, n int) error {
	if weights != nil && len(weights) != n {
		return errUser("weights of %d documents, of a matrix of %d", len(weights), n)
	}
	for i, w := range weights {
		if !(w > 0) || math.IsInf(w, 0) {
			return errUser("weight %v of document %d, expected a positive number", w, i)
		}
	}
	return nil
}

// bound is C times the weight of a class; -1 has none.
func (p *Parameters) bound(class int) float64 {
	if class >= 0 && class < len(p.Weights) {
		return p.C * p.Weights[class]
	}
	return p.C
}

// begin checks what all learners are given, and fills in the defaults of the options.
func begin(m Matrix, opt Options) (*source, Options, error) {
	src, err := newSource(m)
	if err == nil {
		opt, err = opt.resolve()
	}
	return src, opt, err
}

// problem is one problem of two classes.
type problem struct {
	docs     []int // increasing
	positive []bool
	bounds   [2]float64 // of positive and other documents of the weight 1
	weights  []float64  // by row of the matrix; nil for 1 each
	nu       float64    // if not 0: ν-SVC
	probable bool       // with a sigmoid
	seed     uint64     // of its folds
	start    start
	classes  [2]int   // what the signs stand for; the second is -1 for all others
	weighs   int      // the class whose weight the negative documents have; -1 for 1
	names    []string // of all classes, for errors; nil for numbers
	place    int      // of its machine in a classifier
}

// set makes parameters those of the problem.
func (p *problem) set(par *Parameters) {
	p.nu, p.probable, p.seed, p.weights = par.Nu, par.Probabilities, par.Seed, par.DocumentWeights
	p.names = par.ClassNames
	p.bounds = [2]float64{par.bound(p.classes[0]), par.bound(p.weighs)}
}

// weight is that of document t.
func (p *problem) weight(t int) float64 { return weightOf(p.weights, p.docs[t]) }

// weightOf is the weight of a row of the matrix; nil weights are 1.
func weightOf(weights []float64, row int) float64 {
	if weights == nil {
		return 1
	}
	return weights[row]
}

// bound is the greatest α of document t.
func (p *problem) bound(t int) float64 { return p.bounds[sideOf(p.positive[t])] * p.weight(t) }

// inOrder returns documents, different rows of a matrix of n, and what belongs to each, in
// increasing order: then the rows of a problem are pieces of memory.
func inOrder[T any](docs []int, of []T, n int) ([]int, []T, error) {
	if !slices.IsSorted(docs) {
		order := run.Numbers(0, len(docs))
		slices.SortFunc(order, func(a, b int) int { return cmp.Compare(docs[a], docs[b]) })
		docs, of = run.Pick(docs, order), run.Pick(of, order)
	}
	for i, d := range docs {
		if d < 0 || d >= n {
			return nil, nil, errUser("document %d of a matrix of %d", d, n)
		}
		if i > 0 && d == docs[i-1] {
			return nil, nil, errUser("document %d is in the problem twice", d)
		}
	}
	return docs, of, nil
}

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
	d := newDual(p.docs, 1, m)
	count, sum := [2]int{}, [2]float64{} // of documents, of their weights
	for t, pos := range p.positive {
		side := sideOf(pos)
		d.sign[t] = int8(1 - 2*side)
		if out == nil || !out(t) {
			count[side]++
			sum[side] += p.weight(t)
			d.upper[t], d.offset[t] = p.bound(t), float64(d.sign[t])
		}
	}
	if count[0] == 0 || count[1] == 0 {
		if out != nil {
			return nil, nil
		}
		return nil, errUser("%d documents of class %s against %d of %s, expected some of each",
			count[0], p.className(0), count[1], p.className(1))
	}
	if p.nu > 0 {
		most := 2 * min(sum[0], sum[1]) / (sum[0] + sum[1])
		if !(p.nu <= most) {
			return nil, errUser("ν is %v, expected at most %.4g for %d documents of class %s against %d of %s", p.nu,
				most,
				count[0], p.className(0), count[1], p.className(1))
		}
		d.shareOut(p.nu*(sum[0]+sum[1])/2, p.weight)
	}
	return d, nil
}

// leftOver is the decision when all documents outside a fold are of one class, or there are none.
func (p *problem) leftOver(fold []int, f int) float64 {
	for t := range fold {
		if fold[t] != f {
			if p.positive[t] {
				return 1
			}
			return -1
		}
	}
	return 0
}

// shareOut makes a problem of two classes one of ν-SVC: no linear term, weights as bounds for those that
// have one, and a sum of α in each class, shared out from the first document on.
func (d *dual) shareOut(each float64, weight func(t int) float64) {
	d.perClass = true
	left := [2]float64{each, each}
	for t, s := range d.sign {
		side := sideOf(s > 0)
		if d.offset[t] = 0; d.upper[t] > 0 {
			d.upper[t] = weight(t)
		}
		d.alpha[t] = min(d.upper[t], left[side])
		left[side] -= d.alpha[t]
	}
}

// solve trains the machine.
func (p *problem) solve(ctx context.Context, s *search, bytes int64) (*Machine, error) {
	d, err := p.dual(s.m, nil)
	if err != nil {
		return nil, err
	}
	o, err := s.solveAt(ctx, d, p.start, bytes)
	if err != nil {
		return nil, err
	}
	return p.trained(ctx, s, d, o, bytes)
}

// trained is the machine of the solved problem, with its sigmoid where that was asked for.
func (p *problem) trained(ctx context.Context, s *search, d *dual, o outcome, bytes int64) (*Machine, error) {
	machine, err := p.machine(d, o)
	if err != nil {
		return nil, err
	}
	if p.probable {
		if machine.Sigmoid, err = p.sigmoid(ctx, s, bytes); err != nil {
			return nil, err
		}
	}
	s.report.solved()
	return machine, nil
}

// machine reads the result from the solved problem.
func (p *problem) machine(d *dual, o outcome) (*Machine, error) {
	m, err := d.machine(o)
	if err != nil || p.nu == 0 {
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
	case c < len(p.names):
		return fmt.Sprintf("%q", p.names[c])
	default:
		return fmt.Sprint(c)
	}
}
