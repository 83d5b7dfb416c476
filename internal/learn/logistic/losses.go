package logistic

import (
	"context"
	"math"

	"github.com/gramengine/gram/internal/learn/task"
)

// Losses are the weighted losses of a binary classifier's training documents.
type Losses struct {
	*task.TrainingMatrix
	task.BinaryProblem
	Derivatives []float64 // derivatives of the losses with respect to f
}

// NewLosses returns the losses for class k. If both class weights are 0, they are set to 1.
func NewLosses(p *task.TrainingMatrix, k task.BinaryProblem) *Losses {
	if k.Weights == [2]float64{} {
		k.Weights = [2]float64{1, 1}
	}
	return &Losses{p, k, make([]float64, p.Rows.Rows())}
}

// LossWeight returns the weight of the loss of document i.
func (o *Losses) LossWeight(i int) float64 {
	s := o.BinaryProblem.Weights[0]
	if o.Positive[i] {
		s = o.BinaryProblem.Weights[1]
	}
	return s * o.Weight(i)
}

// WeightSums returns the sums of the document weights over negative documents and over positive
// documents.
func (o *Losses) WeightSums() (sum [2]float64) {
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

// Eval returns the loss of document i with decision value f, and the derivative with respect to f.
func (o *Losses) Eval(i int, f float64) (value, derivative float64) {
	s := o.LossWeight(i)
	if o.Positive[i] {
		value, derivative = loss(f)
		return s * value, s * derivative
	}
	value, derivative = loss(-f)
	return s * value, -s * derivative
}

// ZeroGradientNorm returns the gradient norm at w = 0 with the optimal b. It overwrites
// Derivatives.
func (o *Losses) ZeroGradientNorm(ctx context.Context) (float64, error) {
	sum := o.WeightSums()
	positive := o.BinaryProblem.Weights[1] * sum[1]
	share := positive / (positive + float64(o.BinaryProblem.Weights[0]*sum[0]))
	for i, is := range o.Positive {
		if o.Derivatives[i] = o.LossWeight(i) * share; is {
			o.Derivatives[i] = o.LossWeight(i) * (share - 1)
		}
	}
	g := make([]float64, len(o.Terms))
	err := o.MultiplyTransposed(ctx, o.Workers, o.Derivatives, g)
	length := 0.0
	for _, v := range g {
		length += float64(v * v)
	}
	return math.Sqrt(length), err
}

// ConstantBias returns the bias of a constant classifier, for documents that are all positive or
// all negative. For n documents, the probability of the correct class is (n+1)/(n+2) (Laplace's
// rule of succession). If there are positive and negative documents, ok is false.
func ConstantBias(positive []bool) (bias float64, ok bool) {
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
