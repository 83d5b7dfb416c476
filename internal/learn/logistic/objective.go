package logistic

import (
	"context"

	"github.com/gramengine/gram/internal/learn/lbfgs"
	"github.com/gramengine/gram/internal/learn/task"
)

// objective is the function that training minimises, see the package documentation. A point is w,
// followed by b unless b is fixed at 0.
type objective struct {
	*Losses
	s           *Settings
	blockLosses []float64 // sum of the losses per block of documents
	blockBiases []float64 // sum of the derivatives per block
	lowerBound  float64   // lower bound on the minimum, see raiseLowerBound
}

func newObjective(p *task.TrainingMatrix, s *Settings, k task.BinaryProblem) *objective {
	n := len(p.RowBlocks)
	return &objective{Losses: NewLosses(p, k), s: s, blockLosses: make([]float64, n), blockBiases: make([]float64, n)}
}

func (o *objective) numVariables() int {
	if o.s.NoBias {
		return len(o.Terms)
	}
	return len(o.Terms) + 1
}

func sum(values []float64) (s float64) {
	for _, v := range values {
		s += v
	}
	return s
}

// evaluate returns the objective at w and sets g to its gradient. Sums over documents use fixed
// blocks, so that they are bit-identical for any number of workers.
func (o *objective) evaluate(ctx context.Context, w, g []float64) (float64, error) {
	n, b := len(o.Terms), 0.0
	if !o.s.NoBias {
		b = w[n]
	}
	err := task.ForEachBlock(ctx, o.Workers, o.RowBlocks, func(_, block, lo, hi int) {
		total, bias := 0.0, 0.0
		for i := lo; i < hi; i++ {
			terms, values := o.Rows.Row(i)
			l, c := o.Eval(i, task.Dot(terms, values, w)+b)
			o.Derivatives[i] = c
			total += l
			bias += c
		}
		o.blockLosses[block], o.blockBiases[block] = total, bias
	})
	if err != nil {
		return 0, err
	}
	err = o.MultiplyTransposed(ctx, o.Workers, o.Derivatives, g)
	for j, v := range w[:n] {
		g[j] += v / o.s.C
	}
	if !o.s.NoBias {
		g[n] = sum(o.blockBiases)
	}
	return sum(o.blockLosses) + lbfgs.Dot(w[:n], w[:n])/(2*o.s.C), err
}
