package solver

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
)

// Parameters says which problem is solved. C and the tolerance have no unit of their own: they
// scale with the kernel's values.
type Parameters struct {
	// C bounds the coefficients: the price of a violated margin. Default: 1.
	C float64

	// Weights multiplies C for the documents of a class, by number of the class, as LIBSVM's -w
	// does. Default: 1 each.
	Weights []float64

	// Nu, if not 0, asks for ν-SVC instead, in which C and Weights have no part: a bound, from 0 to
	// 1, on the part of documents that violate their margin, and the least part of them that are
	// support vectors.
	Nu float64

	// Probabilities asks for a sigmoid with each machine, for which five more are trained, each
	// without a fifth of the documents. Default: none.
	Probabilities bool

	// Seed says which documents go into which fifth.
	Seed uint64
}

// resolve checks the parameters of a problem of so many classes and fills in the default.
func (p Parameters) resolve(classes int) (Parameters, error) {
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
	return p, nil
}

// bound is C times the weight of a class.
func (p *Parameters) bound(class int) float64 {
	if class < len(p.Weights) {
		return p.C * p.Weights[class]
	}
	return p.C
}

// BinaryTraining says what [TrainBinary] trains on.
type BinaryTraining struct {
	Docs     []int  // different rows of the matrix
	Positive []bool // by element of Docs: whether it is of the positive class
	Parameters

	// Start, if not nil, is the machine of a near problem, such as that of the same documents for
	// another C or another width of the kernel. Default: the search begins at 0.
	Start *Machine
}

// TrainBinary solves the C-SVC problem of two classes,
//
//	minimise ½ Σ_s Σ_t y[s]y[t]α[s]α[t]·K[s][t] - Σ_t α[t]  subject to 0 <= α[t] <= C[t], Σ_t y[t]α[t] = 0,
//
// over the documents docs, different rows of the matrix; y[t] = +1 where positive says so of
// docs[t], otherwise -1. Weights[0] is for the positive documents, Weights[1] for the others. The
// result has all documents whose α isn't 0 as support, and is positive where the positive class is.
// start, if not nil, is the machine of a problem with a near solution, such as that of the same
// documents for another C or another width of the kernel: its coefficients, scaled to the least
// objective, are where the search begins (in ν-SVC it is not looked at). Documents of one class
// only are an error.
//
// ν-SVC is the problem without the linear term, with 0 <= α[t] <= 1 and Σ_t α[t] = ν·n in addition,
// whose result is divided by the margin that it has (Schölkopf and others, Neural Computation 12
// (2000), in the form of Chang and Lin). Where the margin is 0, as that of two classes with the
// same documents is, there is nothing to divide by, and that is an error: the two can't be told
// apart. (svm-train of LIBSVM 3.3 writes a model with coefficients ±inf and rho NaN.)
func TrainBinary(ctx context.Context, m Matrix, t BinaryTraining, opt Options) (*Machine, error) {
	docs, positive, par, start := t.Docs, t.Positive, t.Parameters, t.Start
	src, err := newSource(m)
	if err != nil {
		return nil, err
	}
	if opt, err = opt.resolve(); err != nil {
		return nil, err
	}
	if par, err = par.resolve(2); err != nil {
		return nil, err
	}
	if err := checkStart(start, src.n); err != nil {
		return nil, err
	}
	if len(docs) != len(positive) {
		return nil, errUser("%d documents with %d signs", len(docs), len(positive))
	}
	p := problem{docs: docs, positive: positive, bounds: [2]float64{par.bound(0), par.bound(1)}, nu: par.Nu, probable: par.Probabilities, seed: par.Seed, start: startFrom(start), classes: [2]int{0, 1}}
	if err := p.sort(src.n); err != nil {
		return nil, err
	}
	return runOne(ctx, src, &opt, p.solve)
}

// problem is one problem of two classes.
type problem struct {
	docs     []int
	positive []bool
	bounds   [2]float64 // of positive and other documents
	nu       float64    // if not 0: ν-SVC
	probable bool       // with a sigmoid
	seed     uint64     // of its folds
	start    start
	classes  [2]int // what the signs stand for, for errors; the second is -1 for all the rest
}

// sort brings the documents into the order of the matrix, in which rows are pieces of memory.
func (p *problem) sort(n int) error {
	order, err := inOrder(p.docs, n)
	if err != nil || order == nil {
		return err
	}
	p.docs, p.positive = pick(p.docs, order), pick(p.positive, order)
	return nil
}

// inOrder returns the order that makes documents increase, nil where they do. All must be different
// rows of a matrix of n.
func inOrder(docs []int, n int) ([]int, error) {
	var order []int
	sorted := docs
	if !slices.IsSorted(docs) {
		order = make([]int, len(docs))
		for i := range order {
			order[i] = i
		}
		slices.SortFunc(order, func(a, b int) int { return cmp.Compare(docs[a], docs[b]) })
		sorted = pick(docs, order)
	}
	for i, d := range sorted {
		if d < 0 || d >= n {
			return nil, errUser("document %d of a matrix of %d", d, n)
		}
		if i > 0 && d == sorted[i-1] {
			return nil, errUser("document %d is in the problem twice", d)
		}
	}
	return order, nil
}

func pick[T any](from []T, order []int) []T {
	to := make([]T, len(order))
	for i, at := range order {
		to[i] = from[at]
	}
	return to
}

// dual is the quadratic problem with some documents held out, nil if those left are of one class;
// without any held out, that is an error.
func (p *problem) dual(m *source, out func(t int) bool) (*dual, error) {
	d := newDual(p.docs, 1, m)
	count := [2]int{}
	for t, pos := range p.positive {
		side := 1
		d.sign[t] = -1
		if pos {
			side, d.sign[t] = 0, 1
		}
		if out == nil || !out(t) {
			count[side]++
			d.upper[t], d.offset[t] = p.bounds[side], float64(d.sign[t])
		}
	}
	if count[0] == 0 || count[1] == 0 {
		if out != nil {
			return nil, nil
		}
		return nil, errUser("%d documents of class %s against %d of %s, expected some of each",
			count[0], className(p.classes[0]), count[1], className(p.classes[1]))
	}
	if p.nu > 0 {
		most := 2 * float64(min(count[0], count[1])) / float64(count[0]+count[1])
		if !(p.nu <= most) {
			return nil, errUser("ν is %v, expected at most %.4g for %d documents of class %s against %d of %s", p.nu, most,
				count[0], className(p.classes[0]), count[1], className(p.classes[1]))
		}
		d.shareOut(p.nu * float64(count[0]+count[1]) / 2)
	}
	return d, nil
}

// solve trains the machine.
func (p *problem) solve(ctx context.Context, s *search, bytes int64) (*Machine, error) {
	d, err := p.dual(s.m, nil)
	if err != nil {
		return nil, err
	}
	from := p.start
	if p.nu > 0 {
		from = nil // the two equations of its problem would have to hold
	}
	o, err := s.solveFrom(ctx, d, from, bytes)
	if err != nil {
		return nil, err
	}
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
			className(p.classes[0]), className(p.classes[1]))
	}
	m.divide(margin)
	return m, m.finite()
}

func className(c int) string {
	if c < 0 {
		return "all others"
	}
	return fmt.Sprint(c)
}
