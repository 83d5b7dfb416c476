package logistic

import (
	"context"
	"math"

	"github.com/gramengine/gram/internal/learn/lbfgs"
	"github.com/gramengine/gram/internal/learn/task"
	"github.com/gramengine/gram/sparse"
)

// Machine is the binary classifier of a class; P(class | x) is 1/(1 + e^-f(x)).
type Machine struct {
	Weights     []float64 `json:"-"`             // w, by column of the embedding
	Value       float64   `json:"objective"`     // value of the objective
	Gap         float64   `json:"gap,omitempty"` // upper bound on the objective minus its minimum, for finite C
	Gradient    float64   `json:"gradient"`      // gradient norm
	Iterations  int       `json:"iterations"`
	Evaluations int       `json:"evaluations"` // number of evaluations of the objective and its gradient
	Converged   bool      `json:"converged"`   // whether the tolerance was reached
	Bias        float64   `json:"bias"`        // b
}

// train trains the binary classifier of a class for each C of prices, ascending, with warm starts.
// columns is the number of columns of the embedding, and positive reports for each document whether
// it has the class. If no or every document has it, the weights are 0, and the bias gives
// probability (n+1)/(n+2) to the correct answer (Laplace's rule of succession).
func train(
	ctx context.Context, p *task.Points, columns int, positive []bool, prices []float64, s Settings, workers int,
	told func(),
) ([]*Machine, error) {
	count := 0
	for _, is := range positive {
		if is {
			count++
		}
	}
	var out []*Machine
	if n := len(positive); count == 0 || count == n {
		bias := math.Log(float64(n + 1))
		if count == 0 {
			bias = -bias
		}
		for range prices {
			out = append(out, &Machine{Weights: make([]float64, columns), Bias: bias, Converged: true})
		}
		return out, nil
	}
	o := newObjective(p, &s, positive, workers)
	reference, err := o.reference(ctx)
	if err != nil {
		return nil, err
	}
	stop := lbfgs.Stopping{
		Gradient: s.Tolerance * reference, Gained: s.Tolerance * gainedPart, Iterations: s.Iterations, Told: told,
	}
	w := make([]float64, o.size())
	if !s.NoBias {
		sum := o.sides()
		w[len(w)-1] = math.Log(o.prices[1] * sum[1] / (o.prices[0] * sum[0]))
	}
	for _, c := range prices {
		s.C = c
		machine, err := o.search(ctx, w, stop, columns)
		if err != nil {
			return nil, err
		}
		out = append(out, machine)
	}
	return out, nil
}

// search runs L-BFGS from w. If C is finite, the gap must be within the tolerance, too.
func (o *objective) search(ctx context.Context, w []float64, stop lbfgs.Stopping, columns int) (*Machine, error) {
	if o.s.Loose || math.IsInf(o.s.C, 1) {
		m, err := lbfgs.Minimise(ctx, o.value, w, stop)
		return o.machine(m, columns), err
	}
	o.dual = 0
	settled := func(m *lbfgs.Minimum) bool { return m.Value-o.dual <= o.s.Tolerance*m.Value }
	stop.Settled = func(m *lbfgs.Minimum) bool {
		return o.bound(ctx) == nil && settled(m) // the next pass, or the call below, returns the error
	}
	m, err := lbfgs.Minimise(ctx, o.value, w, stop)
	if err == nil {
		err = o.bound(ctx)
	}
	m.Converged = settled(&m)
	machine := o.machine(m, columns)
	machine.Gap = max(m.Value-o.dual, 0)
	return machine, err
}

// reference returns the gradient norm at w = 0 with the optimal b.
func (o *objective) reference(ctx context.Context) (float64, error) {
	sum := o.sides()
	positive := o.prices[1] * sum[1]
	share := positive / (positive + float64(o.prices[0]*sum[0]))
	for i, is := range o.positive {
		if o.coef[i] = o.price(i) * share; is {
			o.coef[i] = o.price(i) * (share - 1)
		}
	}
	g := make([]float64, len(o.Terms))
	err := o.Gather(ctx, o.workers, o.coef, g)
	length := 0.0
	for _, v := range g {
		length += float64(v * v)
	}
	return math.Sqrt(length), err
}

// gainedPart times Tolerance is the relative decrease at which a search may end.
const gainedPart = 1e-3

// machine converts the result of a search.
func (o *objective) machine(m lbfgs.Minimum, columns int) *Machine {
	out := &Machine{
		Weights: make([]float64, columns), Value: m.Value, Gradient: m.Gradient, Iterations: m.Iterations,
		Evaluations: m.Evaluations, Converged: m.Converged,
	}
	if !o.s.NoBias {
		out.Bias = m.W[len(o.Terms)]
	}
	for j, t := range o.Terms {
		out.Weights[t] = m.W[j]
	}
	return out
}

// decide returns f for row i.
func (m *Machine) decide(x *sparse.Embedded, i int) float64 {
	terms, values := x.Row(i)
	return task.Dot(terms, values, m.Weights)*x.Norms[i] + m.Bias
}
