package solver

import (
	"context"
	"fmt"
	"math"
	"slices"
)

// Parameters says which problem is solved. C and the tolerance have no unit of their own: they scale with the kernel's values.
type Parameters struct {
	// C bounds the coefficients: the price of a violated margin. Default: 1.
	C float64

	// Weights multiplies C for the documents of a class, by number of the class, as LIBSVM's -w does. Default: 1 each.
	Weights []float64
}

func (p Parameters) resolve() (Parameters, error) {
	if p.C == 0 {
		p.C = 1
	}
	if !(p.C > 0) || math.IsInf(p.C, 0) {
		return p, errUser("C is %v, expected a positive number", p.C)
	}
	for c, w := range p.Weights {
		if !(w > 0) || math.IsInf(w, 0) {
			return p, errUser("weight %v of class %d, expected a positive number", w, c)
		}
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

// TrainBinary solves the C-SVC problem of two classes,
//
//	minimise ½ Σ_s Σ_t y[s]y[t]α[s]α[t]·K[s][t] - Σ_t α[t]  subject to 0 <= α[t] <= C[t], Σ_t y[t]α[t] = 0,
//
// over the documents docs, different rows of the matrix; y[t] = +1 where positive says so of docs[t], otherwise -1. Weights[0] is for the
// positive documents, Weights[1] for the others. The result has all documents whose α isn't 0 as support, and is positive where the
// positive class is. start, if not nil, is the machine of the same documents for another C: its coefficients, scaled to the new bound, are where the
// search begins. Documents of one class only are an error.
func TrainBinary(ctx context.Context, m Matrix, docs []int, positive []bool, par Parameters, start *Machine, opt Options) (*Machine, error) {
	opt, err := opt.resolve()
	if err != nil {
		return nil, err
	}
	if par, err = par.resolve(); err != nil {
		return nil, err
	}
	if len(docs) != len(positive) {
		return nil, errUser("%d documents with %d signs", len(docs), len(positive))
	}
	p := problem{docs: docs, positive: positive, bounds: [2]float64{par.bound(0), par.bound(1)}, start: start, classes: [2]int{0, 1}}
	if err := p.sort(m.Len()); err != nil {
		return nil, err
	}
	s := &search{opt: &opt, m: m, threads: opt.Workers, tell: newTeller(opt.Progress, 1)}
	return p.solve(ctx, s, opt.RowBytes)
}

// problem is one problem of two classes.
type problem struct {
	docs     []int
	positive []bool
	bounds   [2]float64 // of positive and other documents
	start    *Machine
	classes  [2]int // what the signs stand for, for errors; the second is -1 for all the rest
}

// sort brings the documents into the order of the matrix, in which rows are pieces of memory.
func (p *problem) sort(n int) error {
	if !slices.IsSorted(p.docs) {
		order := make([]int, len(p.docs))
		for i := range order {
			order[i] = i
		}
		slices.SortFunc(order, func(a, b int) int { return p.docs[a] - p.docs[b] })
		docs, positive := make([]int, len(order)), make([]bool, len(order))
		for to, from := range order {
			docs[to], positive[to] = p.docs[from], p.positive[from]
		}
		p.docs, p.positive = docs, positive
	}
	for i, d := range p.docs {
		if d < 0 || d >= n {
			return errUser("document %d of a matrix of %d", d, n)
		}
		if i > 0 && d == p.docs[i-1] {
			return errUser("document %d is in the problem twice", d)
		}
	}
	return nil
}

// solve trains the machine.
func (p *problem) solve(ctx context.Context, s *search, bytes int64) (*Machine, error) {
	d := newDual(p.docs, 1, s.m)
	count := [2]int{}
	for t, pos := range p.positive {
		side := 1
		d.sign[t] = -1
		if pos {
			side, d.sign[t] = 0, 1
		}
		count[side]++
		d.upper[t], d.offset[t] = p.bounds[side], float64(d.sign[t])
	}
	if count[0] == 0 || count[1] == 0 {
		return nil, errUser("%d documents of class %s against %d of %s, expected some of each",
			count[0], className(p.classes[0]), count[1], className(p.classes[1]))
	}
	copy(d.score, d.offset)
	warm := p.start != nil && d.scaled(p.start, p.bounds)
	s.prepare(d, bytes)
	if warm {
		if err := s.start(ctx, d); err != nil {
			return nil, err
		}
	}
	o, err := s.descend(ctx, d)
	if err != nil {
		return nil, err
	}
	if !d.finite() {
		return nil, errUser("a kernel value of class %s or %s is not a finite number", className(p.classes[0]), className(p.classes[1]))
	}
	s.tell.solved()
	machine := d.machine(o)
	machine.bounds = p.bounds
	return machine, nil
}

// scaled sets the variables to those of another machine of the same documents, times the quotient of the bounds: what was at its bound stays there, and
// the equation holds as before. It says whether that can be done.
func (d *dual) scaled(m *Machine, bounds [2]float64) bool {
	by := bounds[0] / m.bounds[0]
	if m.bounds[0] == 0 || !(math.Abs(bounds[1]-by*m.bounds[1]) <= 1e-12*bounds[1]) {
		return false
	}
	at := 0
	for t, doc := range d.docs {
		for at < len(m.Support) && m.Support[at] < doc {
			at++
		}
		if at == len(m.Support) || m.Support[at] != doc {
			continue
		}
		old := m.bounds[0]
		if d.sign[t] < 0 {
			old = m.bounds[1]
		}
		if a := float64(d.sign[t]) * m.Coef[at]; a >= old {
			d.alpha[t] = d.upper[t]
		} else {
			d.alpha[t] = min(max(a*by, 0), d.upper[t])
		}
	}
	return true
}

func className(c int) string {
	if c < 0 {
		return "all others"
	}
	return fmt.Sprint(c)
}
