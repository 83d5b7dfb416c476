package solver

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gramengine/gram/internal/musttest"
)

// gaussian returns the matrix exp(-gamma·|x-y|²) of random points in dims dimensions, and the
// points.
func gaussian(t *testing.T, seed uint64, n, dims int, gamma float64) (*Dense, [][]float64) {
	t.Helper()
	r := rand.New(rand.NewPCG(seed, 7))
	x := make([][]float64, n)
	for i := range x {
		x[i] = make([]float64, dims)
		for j := range x[i] {
			x[i][j] = r.NormFloat64()
		}
	}
	return matrixOf(t, n, func(i, j int) float64 {
		var d float64
		for k := range x[i] {
			d += (x[i][k] - x[j][k]) * (x[i][k] - x[j][k])
		}
		return math.Exp(-gamma * d)
	}), x
}

// matrixOf returns the matrix of a function, symmetric bit for bit.
func matrixOf(t *testing.T, n int, k func(i, j int) float64) *Dense {
	t.Helper()
	data := make([]float32, n*n)
	for i := range n {
		for j := range i + 1 {
			v := float32(k(i, j))
			data[i*n+j], data[j*n+i] = v, v
		}
	}
	return musttest.Get(NewDense(n, data))(t)
}

// noisySigns labels points by whether they are inside a sphere. A tenth of the labels are wrong.
func noisySigns(seed uint64, x [][]float64) []bool {
	r := rand.New(rand.NewPCG(seed, 8))
	out := make([]bool, len(x))
	for i, p := range x {
		var s float64
		for _, v := range p {
			s += v * v
		}
		out[i] = (s > float64(len(p))) != (r.Float64() < 0.1)
	}
	return out
}

// sourceOf returns a matrix as a checkedMatrix.
func sourceOf(t *testing.T, m Matrix) *checkedMatrix {
	t.Helper()
	return musttest.Get(newCheckedMatrix(m))(t)
}

// trainBinary trains a binary classifier on docs; class 0 is the positive class.
func trainBinary(
	ctx context.Context, m Matrix, docs []int, positive []bool, par Parameters, opt Options,
) (*DecisionFunction, error) {
	labels := slices.Repeat([]int{-1}, lengthOf(m))
	for i, doc := range docs[:min(len(docs), len(labels))] {
		if labels[doc] = 1; positive[i] {
			labels[doc] = 0
		}
	}
	return first(Train(ctx, m, Training{Labels: labels, Classes: 2, Parameters: par}, opt))
}

// lengthOf returns the size of a matrix, or 0 if Train rejects the matrix.
func lengthOf(m Matrix) int {
	if m == nil || m.Len() > 1<<20 {
		return 0
	}
	return max(m.Len(), 0)
}

// trainRegression trains a regression on docs and targets.
func trainRegression(
	ctx context.Context, m Matrix, docs []int, targets []float64, par Parameters, opt Options,
) (*DecisionFunction, error) {
	all := slices.Repeat([]float64{math.NaN()}, lengthOf(m))
	for i, doc := range docs[:min(len(docs), len(all))] {
		all[doc] = targets[i]
	}
	return first(Train(ctx, m, Training{Targets: all, Parameters: par}, opt))
}

// trainOneClass trains a one-class SVM on docs.
func trainOneClass(ctx context.Context, m Matrix, docs []int, par Parameters, opt Options) (*DecisionFunction, error) {
	labels := slices.Repeat([]int{-1}, lengthOf(m))
	for _, doc := range docs[:min(len(docs), len(labels))] {
		labels[doc] = 0
	}
	return first(Train(ctx, m, Training{Labels: labels, OneClass: true, Parameters: par}, opt))
}

func first(c *Classifier, err error) (*DecisionFunction, error) {
	if err != nil {
		return nil, err
	}
	return c.Functions[0], nil
}

// withC returns parameters with the regularization parameter C.
func withC(c float64) Parameters {
	var p Parameters
	p.C = c
	return p
}
