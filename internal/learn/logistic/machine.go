package logistic

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/gramengine/gram/internal/learn/lbfgs"
	"github.com/gramengine/gram/internal/learn/sphere"
	"github.com/gramengine/gram/internal/learn/task"
	"github.com/gramengine/gram/internal/run"
	"github.com/gramengine/gram/sparse"
)

// Machine is a trained decision function of one class against others; P(class | x) is
// 1/(1 + e^-f(x)).
type Machine struct {
	Weights []float64 // by column of the embedding: w, or the unit vector û of spherical margins
	Bias    float64   // b; 0 of spherical margins
	Theta   float64   // θ of spherical margins, else 0

	Value       float64 // of the objective
	Gap         float64 // Euclidean, finite C: what that is above its minimum, at most; files don't keep it: 0
	Gradient    float64 // length of its gradient
	Iterations  int
	Evaluations int  // of objective and gradient
	Converged   bool // whether the tolerance was reached; spherical: or the value fell no more
	Bounded     bool // spherical: θ is at its greatest value, for the documents are separable
}

// Documents are embedded documents, checked once. It may be used concurrently.
type Documents struct {
	x     *sparse.Embedded
	norm2 []float64 // of the unit vectors as float32 has them
	below int       // the first row with a value below 0, -1 for none
}

// NewDocuments checks embedded documents, which must not change any more.
func NewDocuments(x *sparse.Embedded) (*Documents, error) {
	if x.Norms == nil {
		return nil, errors.New("logistic: documents without norms, expected them")
	}
	if x.Embedder.Pairing != sparse.Dot {
		return nil, fmt.Errorf("logistic: embedding %s, expected one whose documents are compared by their dot product",
			x.Embedder)
	}
	return newDocuments(x), nil
}

func newDocuments(x *sparse.Embedded) *Documents {
	d := &Documents{x: x, norm2: make([]float64, x.Rows()), below: -1}
	for i := range d.norm2 {
		_, values := x.Row(i)
		for _, v := range values {
			if d.norm2[i] += float64(v) * float64(v); v < 0 && d.below < 0 {
				d.below = i
			}
		}
	}
	return d
}

// check reports the first value that a margin can't take, as one of row first and the rows after it.
func (d *Documents) check(m Margin, first int) error {
	if m != Spherical || d.below < 0 {
		return nil
	}
	terms, values := d.x.Row(d.below)
	at := slices.IndexFunc(values, func(v float32) bool { return v < 0 })
	return &sparse.ValueError{
		Row: first + d.below, Term: d.x.Embedder.Terms[terms[at]], Value: values[at],
		Expected: fmt.Sprintf("no value below 0 in the embedding %s: the positive sphere has no such points", d.x.Embedder),
	}
}

// pick returns rows, all of them for nil.
func (d *Documents) pick(rows []int) []int {
	if rows == nil {
		return run.Numbers(0, d.x.Rows())
	}
	return rows
}

// Problem is a set of documents to train machines on. It may be used concurrently.
type Problem struct {
	p    *points
	cols int
}

// Problem takes some rows of the documents, nil for all, to train on. It copies what it needs: 16
// bytes per value.
func (d *Documents) Problem(rows []int) *Problem {
	return &Problem{p: newPoints(d.x, d.pick(rows)), cols: d.x.Cols}
}

// Train trains a machine for each C of prices, ascending, each from the one before; nil stands for
// Settings.C. positive says by document whether it is of the class. A class that has no document, or
// all of them, gets a machine that always says so, with 0 for weights, and the bias at which it is
// right for n+1 of n+2 documents (Laplace's rule of succession).
func (p *Problem) Train(
	ctx context.Context, positive []bool, prices []float64, s Settings, opt Options,
) ([]*Machine, error) {
	s, err := s.resolve()
	if err != nil {
		return nil, err
	}
	if len(positive) != p.p.rows.Rows() {
		return nil, fmt.Errorf("logistic: %d labels of %d documents", len(positive), p.p.rows.Rows())
	}
	if prices == nil {
		prices = []float64{s.C}
	}
	if err := task.CheckPrices(prices); err != nil {
		return nil, fmt.Errorf("logistic: %w", err)
	}
	return p.train(ctx, positive, prices, s, run.Workers(opt.Workers), nil)
}

// train is Train with arguments that were checked.
func (p *Problem) train(
	ctx context.Context, positive []bool, prices []float64, s Settings, workers int, told func(),
) ([]*Machine, error) {
	if s.Margin == Spherical && p.p.least < 0 {
		return nil, fmt.Errorf("logistic: a value of %v, expected none below 0: the positive sphere has no such points",
			p.p.least)
	}
	count := 0
	for _, is := range positive {
		if is {
			count++
		}
	}
	if n := len(positive); count == 0 || count == n {
		bias := math.Log(float64(n + 1))
		if count == 0 {
			bias = -bias
		}
		return p.constant(bias, len(prices)), nil
	}
	o := newObjective(p.p, &s, positive, workers)
	stop := lbfgs.Stopping{
		Gradient: s.Tolerance * o.reference(), Gained: s.Tolerance * gainedPart, Iterations: s.Iterations, Told: told,
	}
	w := make([]float64, o.size())
	if s.Margin == Euclidean && !s.NoBias {
		sum := o.sides()
		w[len(w)-1] = math.Log(o.prices[1] * sum[1] / (o.prices[0] * sum[0]))
	}
	var out []*Machine
	for i, c := range prices {
		s.C = c
		var machine *Machine
		var err error
		if s.Margin == Euclidean {
			machine, err = p.convex(ctx, o, w, stop)
		} else {
			if i == 0 {
				err = o.plain(ctx, w)
			}
			if err == nil {
				var m lbfgs.Minimum
				m, err = lbfgs.Minimise(ctx, o.value, w, stop)
				machine = p.machine(o, m)
			}
		}
		if err != nil {
			return nil, err
		}
		out = append(out, machine)
	}
	return out, nil
}

// convex searches a Euclidean machine from w until its gap is within the tolerance, too. Without
// regularisation there is none to measure.
func (p *Problem) convex(ctx context.Context, o *objective, w []float64, stop lbfgs.Stopping) (*Machine, error) {
	if o.s.Loose || math.IsInf(o.s.C, 1) {
		m, err := lbfgs.Minimise(ctx, o.value, w, stop)
		return p.machine(o, m), err
	}
	o.dual = 0
	settled := func(m *lbfgs.Minimum) bool { return m.Value-o.dual <= o.s.Tolerance*m.Value }
	stop.Settled = func(m *lbfgs.Minimum) bool {
		return o.bound(ctx) == nil && settled(m) // the next pass, or the last, returns the error
	}
	m, err := lbfgs.Minimise(ctx, o.value, w, stop)
	if err == nil {
		err = o.bound(ctx)
	}
	m.Converged = settled(&m)
	machine := p.machine(o, m)
	machine.Gap = max(m.Value-o.dual, 0)
	return machine, err
}

// plain sets w to where a search for spherical margins begins: the solution with Euclidean margins
// without an offset, roughly, which is convex, and halved since f has a 2. From the means of classes of
// unequal size a search may take a thousand times as long and end higher.
func (o *objective) plain(ctx context.Context, w []float64) error {
	s := *o.s
	s.Margin, s.NoBias = Euclidean, true
	begin := newObjective(o.points, &s, o.positive, o.workers)
	stop := lbfgs.Stopping{Gradient: 0.01 * begin.reference(), Iterations: 100}
	if _, err := lbfgs.Minimise(ctx, begin.value, w, stop); err != nil {
		return err
	}
	if lbfgs.Scale(w, 0.5); lbfgs.Product(w, w) == 0 {
		copy(w, o.centroids())
	}
	return nil
}

// reference is the length of the gradient at w = 0, with the best b, of Euclidean margins; 2θ takes
// the place of 1 in spherical ones.
func (o *objective) reference() float64 {
	sum := o.sides()
	positive := o.prices[1] * sum[1]
	share := positive / (positive + float64(o.prices[0]*sum[0]))
	for i, is := range o.positive {
		if o.coef[i] = o.price(i) * share; is {
			o.coef[i] = o.price(i) * (share - 1)
		}
	}
	length := 0.0
	for _, g := range o.combine(o.coef) {
		length += float64(g * g)
	}
	if o.s.Margin == Spherical {
		length *= 4
	}
	return math.Sqrt(length)
}

// gainedPart is which part of the tolerance of the gradient the value must gain in ten steps.
const gainedPart = 1e-3

// constant returns machines that always say the same.
func (p *Problem) constant(bias float64, n int) []*Machine {
	var out []*Machine
	for range n {
		out = append(out, &Machine{Weights: make([]float64, p.cols), Bias: bias, Converged: true})
	}
	return out
}

// machine reads the result of a search.
func (p *Problem) machine(o *objective, m lbfgs.Minimum) *Machine {
	out := &Machine{
		Weights: make([]float64, p.cols), Value: m.Value, Gradient: m.Gradient, Iterations: m.Iterations,
		Evaluations: m.Evaluations, Converged: m.Converged,
	}
	by := 1.0
	if o.s.Margin == Spherical {
		length := math.Sqrt(lbfgs.Product(m.W, m.W))
		out.Theta, by = min(length, mostTheta), 1/length
		out.Bounded = length >= mostTheta
	} else if !o.s.NoBias {
		out.Bias = m.W[len(o.terms)]
	}
	for j, t := range o.terms {
		out.Weights[t] = m.W[j] * by
	}
	return out
}

// decider computes decision values of one machine. It may not be used concurrently.
type decider struct {
	m       *Machine
	s       *Settings
	plane   *sphere.Hyperplane
	scratch sphere.Scratch
}

func newDecider(m *Machine, s *Settings) *decider {
	d := &decider{m: m, s: s}
	if s.Margin == Spherical && m.Theta > 0 {
		d.plane = sphere.NewHyperplane(m.Weights)
	}
	return d
}

// decide returns f of a row.
func (d *decider) decide(of *Documents, i int) float64 {
	terms, values := of.x.Row(i)
	if d.s.Margin == Spherical {
		if d.plane == nil {
			return d.m.Bias
		}
		p := d.plane.Project(sphere.Point{Terms: terms, Values: values, Norm2: of.norm2[i]}, &d.scratch)
		return 2 * d.m.Theta * p.Margin
	}
	return dot(terms, values, d.m.Weights)*of.x.Norms[i] + d.m.Bias
}

// Decisions returns f of rows of documents, nil for all, which have the columns that the machine was
// trained on; s are the settings of its training.
func (m *Machine) Decisions(of *Documents, rows []int, s Settings) ([]float64, error) {
	s, err := s.resolve()
	if err != nil {
		return nil, err
	}
	rows = of.pick(rows)
	if err := of.check(s.Margin, 0); err != nil {
		return nil, err
	}
	d := newDecider(m, &s)
	out := make([]float64, len(rows))
	for k, i := range rows {
		out[k] = d.decide(of, i)
	}
	return out, nil
}
