package solver

import (
	"context"
	"fmt"
	"math"
)

// Regularization controls the trade-off between training loss and model complexity.
type Regularization struct {
	// C is the upper bound on α. A larger C fits the training data more closely. A suitable C
	// depends on the scale of the kernel values. Default: 1.
	C float64 `json:"c,omitempty"`

	// Nu in (0, 1] selects ν-SVC or ν-SVR. ν-SVC ignores C and Weights. ν-SVR ignores Epsilon. Nu
	// is an upper bound on the fraction of margin errors and a lower bound on the fraction of
	// support vectors. Both fractions are weighted by DocumentWeights. One-class SVMs require Nu.
	Nu float64 `json:"nu,omitempty"`

	// Epsilon is the half-width of the ε-insensitive zone in units of the targets. Default: 0, which
	// makes nearly all documents support vectors.
	Epsilon float64 `json:"epsilon,omitempty"`
}

// Parameters selects the problem to solve.
type Parameters struct {
	Regularization

	// Weights multiplies C for the documents of each class, like LIBSVM's -w. With [MultiLabel],
	// and in one-vs-rest with three or more classes, the weight of a class applies only in the
	// problem in which the class is positive, as in LIBLINEAR. Default: 1 each.
	Weights []float64

	// DocumentWeights multiplies C for each document, by row of the matrix. A document of weight w
	// is equivalent to w copies. Excluded documents also have an element. Default: 1 each.
	DocumentWeights []float64

	// Probabilities fits a [Sigmoid] to each binary decision function by five-fold
	// cross-validation. Default: no sigmoids.
	Probabilities bool

	// Seed is the random seed of the folds for Probabilities.
	Seed uint64

	// ClassNames holds the name of each class for error messages. Default: the class indices.
	ClassNames []string
}

func (p Parameters) resolve(classes, n int) (Parameters, error) {
	if p.C == 0 {
		p.C = 1
	}
	switch {
	case !(p.C > 0) || math.IsInf(p.C, 0):
		return p, userError("C must be positive and finite, got %v", p.C)
	case !(p.Epsilon >= 0) || math.IsInf(p.Epsilon, 0):
		return p, userError("ε must be nonnegative and finite, got %v", p.Epsilon)
	case !(p.Nu >= 0 && p.Nu <= 1):
		return p, userError("ν must be in (0, 1], or 0 for C-SVC or ε-SVR, got %v", p.Nu)
	case len(p.Weights) > classes:
		return p, userError("got %d class weights for %d classes", len(p.Weights), classes)
	case p.DocumentWeights != nil && len(p.DocumentWeights) != n:
		return p, userError("%d document weights, but %d documents", len(p.DocumentWeights), n)
	}
	for c, w := range p.Weights {
		if !(w > 0) || math.IsInf(w, 0) {
			return p, userError("weight of class %d must be positive and finite, got %v", c, w)
		}
		if by := p.C * w; by == 0 || math.IsInf(by, 0) {
			return p, userError("C = %v times the weight %v of class %d must be positive and finite, got %v", p.C, w, c, by)
		}
	}
	for i, w := range p.DocumentWeights {
		if !(w > 0) || math.IsInf(w, 0) {
			return p, userError("weight of document %d must be positive and finite, got %v", i, w)
		}
	}
	return p, nil
}

// upperBound returns C times the weight of a class. Class -1 has weight 1.
func (p *Parameters) upperBound(class int) float64 {
	if class >= 0 && class < len(p.Weights) {
		return p.C * p.Weights[class]
	}
	return p.C
}

type problemKind int

const (
	twoClasses problemKind = iota
	oneClass
	regression
)

type problem struct {
	kind                problemKind
	docs                []int // rows of the matrix, increasing
	positive            []bool
	targets             []float64
	params              *Parameters
	bounds              [2]float64 // upper bounds by sign index, for documents of weight 1
	initial             initialSolution
	classes             [2]int // classes by sign index; classes[1] is -1 if it stands for all other classes
	negativeWeightClass int    // class whose weight applies to negative documents, or -1 for weight 1
	index               int    // index of the decision function in the classifier
}

// setParameters sets params and bounds. The bounds are 1 in ν-SVC and one-class SVM.
func (p *problem) setParameters(par *Parameters) {
	p.params, p.bounds = par, [2]float64{1, 1}
	switch {
	case p.kind == regression:
		p.bounds = [2]float64{par.C, par.C}
	case par.Nu == 0:
		p.bounds = [2]float64{par.upperBound(p.classes[0]), par.upperBound(p.negativeWeightClass)}
	}
}

func (p *problem) weight(t int) float64 {
	if p.params.DocumentWeights == nil {
		return 1
	}
	return p.params.DocumentWeights[p.docs[t]]
}

// signIndex returns 0 if variable v has the positive sign, 1 otherwise.
func (p *problem) signIndex(v int) int {
	if p.kind == regression {
		return v / len(p.docs)
	}
	return signIndexOf(p.positive[v])
}

func (p *problem) upperBound(v int) float64 {
	return p.bounds[p.signIndex(v)] * p.weight(v%len(p.docs))
}

func signIndexOf(positive bool) int {
	if positive {
		return 0
	}
	return 1
}

// newDual returns the quadratic program of p. If heldOut returns true for variable t, its upper
// bound is 0. If one of two classes has no other variables, newDual returns nil. If heldOut is nil
// and one of two classes is empty, newDual returns an error.
func (p *problem) newDual(m *checkedMatrix, heldOut func(t int) bool) (*dual, error) {
	copies, n := 1, len(p.docs)
	if p.kind == regression {
		copies = 2
	}
	d := newDual(p.docs, copies, m)
	count, sum := [2]int{}, [2]float64{} // number and total weight of documents by sign
	for v := range d.sign {
		side := p.signIndex(v)
		d.sign[v] = int8(1 - 2*side)
		if heldOut != nil && heldOut(v) {
			continue
		}
		count[side]++
		sum[side] += p.weight(v % n)
		d.upper[v] = p.upperBound(v)
		switch sign := float64(d.sign[v]); {
		case p.kind == regression && p.params.Nu > 0:
			d.offset[v] = p.targets[v%n]
		case p.kind == regression:
			d.offset[v] = p.targets[v%n] - float64(sign*p.params.Epsilon)
		case p.params.Nu == 0:
			d.offset[v] = sign
		}
	}
	switch nu := p.params.Nu; {
	case p.kind == oneClass:
		d.distributeAlpha(nu * sum[0])
	case p.kind == regression:
		if d.perClass = nu > 0; nu > 0 {
			d.distributeAlpha(p.params.C * nu * sum[0] / 2)
		}
	case count[0] == 0 || count[1] == 0:
		if heldOut != nil {
			return nil, nil
		}
		return nil, userError("cannot train with %d documents of class %s against %d of %s; each class needs a document",
			count[0], p.className(0), count[1], p.className(1))
	case nu > 0:
		most := 2 * min(sum[0], sum[1]) / (sum[0] + sum[1])
		if !(nu <= most) {
			return nil, userError("ν = %v exceeds the maximum of %.4g for %d documents of class %s against %d of %s", nu, most,
				count[0], p.className(0), count[1], p.className(1))
		}
		d.perClass = true
		d.distributeAlpha(nu * (sum[0] + sum[1]) / 2)
	}
	return d, nil
}

// distributeAlpha sets α so that the sum is sumPerSign over the variables of each sign. In the
// order of the documents, variables are set to their upper bounds until the sum is reached.
func (d *dual) distributeAlpha(sumPerSign float64) {
	d.fixedSum = true
	left := [2]float64{sumPerSign, sumPerSign}
	for t, s := range d.sign {
		side := signIndexOf(s > 0)
		d.alpha[t] = min(d.upper[t], left[side])
		left[side] -= d.alpha[t]
	}
}

func (p *problem) solve(ctx context.Context, s *singleSMO, bytes int64) (*DecisionFunction, error) {
	d, err := p.newDual(s.m, nil)
	if err != nil {
		return nil, err
	}
	o, err := s.solve(ctx, d, p.initial, true, bytes)
	if err != nil {
		return nil, err
	}
	return p.calibratedFunction(ctx, s, d, o, bytes)
}

func (p *problem) calibratedFunction(
	ctx context.Context, s *singleSMO, d *dual, o runResult, bytes int64,
) (*DecisionFunction, error) {
	machine, err := p.decisionFunction(d, o)
	if err != nil {
		return nil, err
	}
	if p.params.Probabilities && p.kind == twoClasses {
		if machine.Sigmoid, err = p.sigmoid(ctx, s, bytes); err != nil {
			return nil, err
		}
	}
	s.report.countSolved()
	return machine, nil
}

func (p *problem) decisionFunction(d *dual, o runResult) (*DecisionFunction, error) {
	m, err := d.decisionFunction(o)
	if err != nil || p.params.Nu == 0 || p.kind != twoClasses {
		return m, err
	}
	margin := d.margin()
	if margin == 0 {
		return nil, userError("ν-SVC: the margin of class %s against %s is 0, so the classes cannot be separated",
			p.className(0), p.className(1))
	}
	m.divideBy(margin)
	return m, m.checkFinite()
}

func (p *problem) className(sign int) string {
	switch c := p.classes[sign]; {
	case c < 0:
		return "all others"
	case c < len(p.params.ClassNames):
		return fmt.Sprintf("%q", p.params.ClassNames[c])
	default:
		return fmt.Sprint(c)
	}
}
