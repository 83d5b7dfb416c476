package logistic

import (
	"context"
	"math"

	"github.com/gramengine/gram/internal/learn/task"
)

// Losses are the weighted losses of a binary classifier's training documents.
type Losses struct {
	*task.Points
	task.Class
	Coef []float64 // derivatives of the losses with respect to f
}

// NewLosses returns the losses for class k. If both class weights are 0, they are set to 1.
func NewLosses(p *task.Points, k task.Class) *Losses {
	if k.Weights == [2]float64{} {
		k.Weights = [2]float64{1, 1}
	}
	return &Losses{p, k, make([]float64, p.Rows.Rows())}
}

// Price returns the weight of the loss of document i.
func (o *Losses) Price(i int) float64 {
	s := o.Class.Weights[0]
	if o.Positive[i] {
		s = o.Class.Weights[1]
	}
	return s * o.Weight(i)
}

// Sides returns the sums of the document weights over negative documents and over positive
// documents.
func (o *Losses) Sides() (sum [2]float64) {
	for i, is := range o.Positive {
		if is {
			sum[1] += o.Weight(i)
		} else {
			sum[0] += o.Weight(i)
		}
	}
	return sum
}

func loss(m float64) (value, derivative float64) {
	if m > 0 {
		e := math.Exp(-m)
		return math.Log1p(e), -e / (1 + e)
	}
	e := math.Exp(m)
	return math.Log1p(e) - m, -1 / (1 + e)
}

// Of returns the loss of document i with decision value f, and the derivative with respect to f.
func (o *Losses) Of(i int, f float64) (value, derivative float64) {
	s := o.Price(i)
	if o.Positive[i] {
		value, derivative = loss(f)
		return s * value, s * derivative
	}
	value, derivative = loss(-f)
	return s * value, -s * derivative
}

// Reference returns the gradient norm at w = 0 with the optimal b. It overwrites Coef.
func (o *Losses) Reference(ctx context.Context) (float64, error) {
	sum := o.Sides()
	positive := o.Class.Weights[1] * sum[1]
	share := positive / (positive + float64(o.Class.Weights[0]*sum[0]))
	for i, is := range o.Positive {
		if o.Coef[i] = o.Price(i) * share; is {
			o.Coef[i] = o.Price(i) * (share - 1)
		}
	}
	g := make([]float64, len(o.Terms))
	err := o.Gather(ctx, o.Workers, o.Coef, g)
	length := 0.0
	for _, v := range g {
		length += float64(v * v)
	}
	return math.Sqrt(length), err
}

// Bias returns the bias of a constant classifier, for documents that are all positive or all
// negative. By Laplace's rule of succession, P(correct answer) = (n+1)/(n+2). If there are positive
// and negative documents, ok is false.
func Bias(positive []bool) (bias float64, ok bool) {
	count := 0
	for _, is := range positive {
		if is {
			count++
		}
	}
	n := len(positive)
	if bias = math.Log(float64(n + 1)); count == 0 {
		bias = -bias
	}
	return bias, count == 0 || count == n
}
