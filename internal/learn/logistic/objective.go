package logistic

import (
	"context"
	"math"

	"github.com/gramengine/gram/internal/learn/lbfgs"
	"github.com/gramengine/gram/internal/learn/task"
)

// objective is the function that training minimises, see the package documentation. A point
// consists of w and then b.
type objective struct {
	*task.Points
	s        *Settings
	positive []bool // by document
	prices   [2]float64
	workers  int

	coef   []float64 // derivatives of the losses with respect to f
	losses []float64 // sums of losses by block of documents
	biases []float64 // sums of coef by block
	dual   float64   // lower bound on the minimum, see bound
}

// newObjective makes the objective of a class.
func newObjective(p *task.Points, s *Settings, positive []bool, workers int) *objective {
	o := &objective{Points: p, s: s, positive: positive, workers: workers, coef: make([]float64, p.Rows.Rows())}
	if o.prices = s.prices; o.prices == [2]float64{} {
		o.prices = [2]float64{1, 1}
	}
	o.losses, o.biases = make([]float64, len(p.RowBlocks)), make([]float64, len(p.RowBlocks))
	return o
}

// size returns the number of variables.
func (o *objective) size() int {
	if o.s.NoBias {
		return len(o.Terms)
	}
	return len(o.Terms) + 1
}

// loss returns log(1 + e^-m) and its derivative with respect to m.
func loss(m float64) (value, derivative float64) {
	if m > 0 {
		e := math.Exp(-m)
		return math.Log1p(e), -e / (1 + e)
	}
	e := math.Exp(m)
	return math.Log1p(e) - m, -1 / (1 + e)
}

// price returns the weight of the loss of document i.
func (o *objective) price(i int) float64 {
	s := o.prices[0]
	if o.positive[i] {
		s = o.prices[1]
	}
	return s * o.Weight(i)
}

// sides returns the total weights of negative and of positive documents.
func (o *objective) sides() (sum [2]float64) {
	for i, is := range o.positive {
		if is {
			sum[1] += o.Weight(i)
		} else {
			sum[0] += o.Weight(i)
		}
	}
	return sum
}

// lossOf returns the loss of document i and its derivative with respect to f.
func (o *objective) lossOf(i int, f float64) (value, derivative float64) {
	s := o.price(i)
	if o.positive[i] {
		value, derivative = loss(f)
		return s * value, s * derivative
	}
	value, derivative = loss(-f)
	return s * value, -s * derivative
}

func sum(values []float64) (s float64) {
	for _, v := range values {
		s += v
	}
	return s
}

// value returns the objective at w and sets g to its gradient. Sums over documents are by fixed
// blocks, so that they are bit-identical for any number of workers.
func (o *objective) value(ctx context.Context, w, g []float64) (float64, error) {
	n, b := len(o.Terms), 0.0
	if !o.s.NoBias {
		b = w[n]
	}
	err := task.EachBlock(ctx, o.workers, o.RowBlocks, func(_, block, lo, hi int) {
		total, bias := 0.0, 0.0
		for i := lo; i < hi; i++ {
			terms, values := o.Rows.Row(i)
			l, c := o.lossOf(i, task.Dot(terms, values, w)+b)
			o.coef[i] = c
			total += l
			bias += c
		}
		o.losses[block], o.biases[block] = total, bias
	})
	if err != nil {
		return 0, err
	}
	err = o.Gather(ctx, o.workers, o.coef, g)
	for j, v := range w[:n] {
		g[j] += v / o.s.C
	}
	if !o.s.NoBias {
		g[n] = sum(o.biases)
	}
	return sum(o.losses) + lbfgs.Product(w[:n], w[:n])/(2*o.s.C), err
}
