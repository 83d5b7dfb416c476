package logistic

import (
	"context"
	"math"

	"github.com/gramengine/gram/internal/learn/lbfgs"
	"github.com/gramengine/gram/internal/learn/task"
	"github.com/gramengine/gram/sparse"
)

// DecisionFunction is the binary classifier of a class. P(class | x) is 1/(1 + e^-f(x)).
type DecisionFunction struct {
	Weights      []float64 `json:"-"` // w, indexed by column of the embedding
	Objective    float64   `json:"objective"`
	Gap          float64   `json:"gap,omitempty"` // upper bound on the objective minus its minimum, for finite C
	GradientNorm float64   `json:"gradient"`
	Iterations   int       `json:"iterations"`
	Evaluations  int       `json:"evaluations"` // number of evaluations of the objective and its gradient
	Converged    bool      `json:"converged"`   // true if the tolerance was reached
	Bias         float64   `json:"bias"`        // b
}

// train trains the binary classifier of class k for each C in cValues, in ascending order, with
// warm starts. columns is the number of columns of the embedding. If all documents are positive or
// all are negative, the weights are 0, see [ConstantBias].
func train(
	ctx context.Context, p *task.TrainingMatrix, columns int, k task.BinaryProblem, cValues []float64, s Settings,
) (out []*DecisionFunction, err error) {
	if bias, ok := ConstantBias(k.Positive); ok {
		for range cValues {
			out = append(out, &DecisionFunction{Weights: make([]float64, columns), Bias: bias, Converged: true})
		}
		return out, nil
	}
	o := newObjective(p, &s, k)
	reference, err := o.ZeroGradientNorm(ctx)
	if err != nil {
		return nil, err
	}
	stop := lbfgs.Criteria{
		GradientThreshold: s.Tolerance * reference, MinDecrease: s.Tolerance * minDecreaseFactor,
		MaxIterations: s.Iterations, OnStep: k.OnStep,
	}
	w := make([]float64, o.numVariables())
	if !s.NoBias {
		sum, by := o.WeightSums(), o.BinaryProblem.Weights
		w[len(w)-1] = math.Log(by[1] * sum[1] / (by[0] * sum[0]))
	}
	for _, c := range cValues {
		s.C = c
		machine, err := o.minimise(ctx, w, stop, columns)
		if err != nil {
			return nil, err
		}
		out = append(out, machine)
	}
	return out, nil
}

// minimise runs L-BFGS from w, which it overwrites. If C is finite, convergence also requires that
// the duality gap is within the tolerance, unless SkipGap is set.
func (o *objective) minimise(
	ctx context.Context, w []float64, stop lbfgs.Criteria, columns int,
) (*DecisionFunction, error) {
	if o.s.SkipGap || math.IsInf(o.s.C, 1) {
		m, err := lbfgs.Minimise(ctx, o.evaluate, w, stop)
		return o.decisionFunction(m, columns), err
	}
	o.lowerBound = 0
	settled := func(m *lbfgs.Minimum) bool { return m.Value-o.lowerBound <= o.s.Tolerance*m.Value }
	stop.MayStop = func(m *lbfgs.Minimum) bool {
		return o.raiseLowerBound(ctx) == nil && settled(m) // the next pass or raiseLowerBound below returns the error
	}
	m, err := lbfgs.Minimise(ctx, o.evaluate, w, stop)
	if err == nil {
		err = o.raiseLowerBound(ctx)
	}
	m.Converged = settled(&m)
	machine := o.decisionFunction(m, columns)
	machine.Gap = max(m.Value-o.lowerBound, 0)
	return machine, err
}

// minDecreaseFactor times Tolerance is MinDecrease of [lbfgs.Criteria].
const minDecreaseFactor = 1e-3

func (o *objective) decisionFunction(m lbfgs.Minimum, columns int) *DecisionFunction {
	out := &DecisionFunction{
		Weights: make([]float64, columns), Objective: m.Value, GradientNorm: m.GradientNorm, Iterations: m.Iterations,
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

func (m *DecisionFunction) decide(x *sparse.Embedded, i int) float64 {
	terms, values := x.Row(i)
	return task.Dot(terms, values, m.Weights)*x.Norms[i] + m.Bias
}
