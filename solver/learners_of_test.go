package solver

import (
	"context"
	"slices"
	"time"
)

// learner trains a decision function on a matrix.
type learner func(ctx context.Context, m Matrix, opt Options) (*DecisionFunction, error)

// learnersOf returns a learner of each kind on points, some of which are excluded or permuted.
func learnersOf(x [][]float64) map[string]learner {
	var docs []int
	for i := range x {
		if i%7 != 3 {
			docs = append(docs, i)
		}
	}
	all := noisySigns(5, x)
	signs := make([]bool, len(docs))
	labels := slices.Repeat([]int{-1}, len(x))
	targets := make([]float64, len(docs))
	for t, d := range docs {
		signs[t], targets[t] = all[d], x[d][0]*x[d][1]+0.1*x[d][2]
		if labels[d] = 1; all[d] {
			labels[d] = 0
		}
	}
	classes := func(par Parameters) learner {
		return func(ctx context.Context, m Matrix, opt Options) (*DecisionFunction, error) {
			return trainBinary(ctx, m, docs, signs, par, opt)
		}
	}
	numbers := func(par Parameters, most int) learner {
		return func(ctx context.Context, m Matrix, opt Options) (*DecisionFunction, error) {
			opt.MaxIterations = most
			return trainRegression(ctx, m, docs, targets, par, opt)
		}
	}
	return map[string]learner{
		"C-SVC": classes(Parameters{Regularization: Regularization{C: 3}, Probabilities: true}),
		"C-SVC from near": func(ctx context.Context, m Matrix, opt Options) (*DecisionFunction, error) {
			of := Training{Labels: labels, Classes: 2, Parameters: withC(2)}
			near, err := Train(ctx, m, of, opt)
			if err != nil {
				return nil, err
			}
			of.C, of.StartFrom = 3, near
			return first(Train(ctx, m, of, opt))
		},
		"nu-SVC":      classes(Parameters{Regularization: Regularization{Nu: 0.4}}),
		"epsilon-SVR": numbers(Parameters{Regularization: Regularization{C: 2, Epsilon: 0.05}}, 0),
		// This problem needs many more steps than the others.
		"epsilon-SVR, both variables of a document": numbers(Parameters{Regularization: Regularization{C: 100,
			Epsilon: 1e-5}}, 3000),
		"nu-SVR": numbers(Parameters{Regularization: Regularization{C: 2, Nu: 0.3}}, 0),
		"one class": func(ctx context.Context, m Matrix, opt Options) (*DecisionFunction, error) {
			return trainOneClass(ctx, m, docs, Parameters{Regularization: Regularization{Nu: 0.3}}, opt)
		},
	}
}

func setReportEvery(d time.Duration) func() {
	before := reportInterval
	reportInterval = d
	return func() { reportInterval = before }
}
