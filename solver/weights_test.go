package solver

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gramengine/gram/internal/musttest"
	"github.com/gramengine/gram/internal/run"
)

// weighing is a problem on points, solved with weights and with repeated documents. Document i of
// the matrix is point docs[i].
type weighing struct {
	problemKind
	Parameters
	most float64 // maximum of the sum of α / Σ weights
}

func (w weighing) train(
	x [][]float64, m Matrix, weights []float64, docs []int, opt Options,
) (*DecisionFunction, error) {
	w.DocumentWeights = weights
	of := Training{Parameters: w.Parameters, OneClass: w.problemKind == oneClass, Classes: 2}
	signs := noisySigns(5, x)
	for _, d := range docs {
		if w.problemKind == regression {
			of.Targets = append(of.Targets, x[d][0]*x[d][1]+0.1*x[d][2])
		} else {
			of.Labels = append(of.Labels, signIndexOf(signs[d]))
		}
	}
	return first(Train(context.Background(), m, of, opt))
}

var weighings = map[string]weighing{
	"C-SVC": {twoClasses, withC(3), 3},
	"C-SVC, class weights": {twoClasses, Parameters{Regularization: Regularization{C: 0.7}, Weights: []float64{2, 0.5}},
		1.4},
	"C-SVC, one bound": {twoClasses, withC(1e-3), 1e-3}, // most variables are at their bounds
	"nu-SVC":           {twoClasses, Parameters{Regularization: Regularization{Nu: 0.4}}, 0.4},
	"epsilon-SVR":      {regression, Parameters{Regularization: Regularization{C: 2, Epsilon: 0.05}}, 4},
	"nu-SVR":           {regression, Parameters{Regularization: Regularization{C: 2, Nu: 0.3}}, 0.6},
	"one class":        {oneClass, Parameters{Regularization: Regularization{Nu: 0.3}}, 0.3},
}

// decision returns f for document i of a matrix.
func decision(m *Dense, of *DecisionFunction, i int) float64 {
	sum := -of.Rho
	for s, doc := range of.Support {
		sum += of.Coef[s] * float64(m.Row(i)[doc])
	}
	return sum
}

// decisions returns f for the first n documents of a matrix.
func decisions(m *Dense, of *DecisionFunction, n int) []float64 {
	return musttest.MakeSlice(n, func(i int) float64 { return decision(m, of, i) })
}

// A document of integer weight w is equivalent to w documents.
//
// A violation of at most ε changes the objective by at most ε·Σα, 10⁻⁹ of a sum of at most 10³. D
// is a quadratic form, so ½‖w - w*‖² <= D - D* <= ε·Σα. For k(x,x) = 1 this changes ⟨w,φ(x)⟩ by at
// most ‖w - w*‖, and rho and a margin by at most ‖w - w*‖ + ε. ν-SVC divides by the margin.
func TestWeightsRepeatDocuments(t *testing.T) {
	const n, tolerance = 60, 1e-10
	m, x := gaussian(t, 3, n, 4, 0.4)
	r := rand.New(rand.NewPCG(3, 1))
	weights, all, sum := make([]float64, n), run.Range(0, n), 0.0
	docs := run.Range(0, n) // each document once, then repeated according to its weight
	for i := range weights {
		weights[i] = float64(1 + r.IntN(4))
		sum += weights[i]
		for range int(weights[i]) - 1 {
			docs = append(docs, i)
		}
	}
	repeated := matrixOf(t, len(docs), func(i, j int) float64 { return float64(m.Row(docs[i])[docs[j]]) })
	opt := Options{Tolerance: tolerance}
	for name, w := range weighings {
		a := musttest.Get(w.train(x, m, weights, all, opt))(t)
		b := musttest.Get(w.train(x, repeated, nil, docs, opt))(t)
		plain := musttest.Get(w.train(x, m, nil, all, opt))(t)
		if !a.Converged || !b.Converged {
			t.Fatalf("%s: converged %v and %v", name, a.Converged, b.Converged)
		}
		if d := math.Abs(a.Objective - b.Objective); !(d <= 1e-6*math.Abs(b.Objective)) {
			t.Errorf("%s: objective %v with weights, %v of repeated documents", name, a.Objective, b.Objective)
		}
		bound := 4*math.Sqrt(2*tolerance*w.most*sum) + 2*tolerance
		margin, divided := 1.0, w.problemKind == twoClasses && w.Nu > 0 // ν-SVC functions are divided by the margin
		if divided {
			margin = w.Nu * sum / sizeOf(b)
		}
		fa, fb, most, moved := decisions(m, a, n), decisions(repeated, b, n), 0.0, 0.0
		fp := decisions(m, plain, n)
		for i := range fa {
			limit := bound
			if divided {
				limit *= (1 + math.Abs(fb[i])) / margin
			}
			if d := math.Abs(fa[i] - fb[i]); !(d <= limit) {
				t.Errorf("%s: document %d: %v with weights, %v of repeated documents, at most %v apart", name, i, fa[i],
					fb[i], limit)
			}
			most, moved = max(most, math.Abs(fa[i]-fb[i])), max(moved, math.Abs(fa[i]-fp[i]))
		}
		if !(moved > 10*bound/margin) {
			t.Errorf("%s: weights move decision values by %v, which the bound %v doesn't see", name, moved, bound/margin)
		}
		t.Logf("%s: %.2g apart, bound %.2g, weights move %.2g", name, most, bound/margin, moved)
	}
}

// Cross-validations and sigmoids use classifiers trained on the other folds with document weights,
// also for problems trained together and for warm starts from a smaller C.
func TestWeightsInParts(t *testing.T) {
	const n, tolerance = 90, 1e-10
	m, x := gaussian(t, 6, n, 3, 0.5)
	r := rand.New(rand.NewPCG(6, 1))
	labels, targets, weights, parts := make([]int, n), make([]float64, n), make([]float64, n), make([]int, n)
	for i := range labels {
		labels[i], parts[i], weights[i] = (i+r.IntN(2))%3, i%2, 0.25+2*r.Float64()
		targets[i] = x[i][0]
	}
	opt, greatest := Options{Tolerance: tolerance}, 2.5*n*3
	near := func(what string, a, b *DecisionFunction) {
		fa, fb := decisions(m, a, n), decisions(m, b, n)
		for i := range fa {
			if !(math.Abs(fa[i]-fb[i]) <= 4*math.Sqrt(2*tolerance*greatest)+2*tolerance) {
				t.Fatalf("%s: document %d: %v, expected %v", what, i, fa[i], fb[i])
			}
		}
	}
	for _, scheme := range []Scheme{OneVsOne, OneVsRest} {
		pars := []Parameters{{Regularization: Regularization{C: 0.5}, DocumentWeights: weights},
			{Regularization: Regularization{C: 3}, DocumentWeights: weights}}
		trial := &CrossValidation{Labels: labels, Classes: 3, Scheme: scheme, Folds: parts}
		found := musttest.Get(trial.Run(t.Context(), m, pars, nil, opt))(t)
		for p, par := range pars {
			for part := range 2 {
				some := make([]int, n)
				for i := range some {
					if some[i] = labels[i]; parts[i] == part {
						some[i] = -1
					}
				}
				of := Training{Labels: some, Classes: 3, Scheme: scheme, Parameters: par}
				c := musttest.Get(Train(t.Context(), m, of, opt))(t)
				for k := range c.Functions {
					near(scheme.String(), found[p].Classifiers[part].Functions[k], c.Functions[k])
					var docs []int
					var positive []bool
					for i, l := range some {
						if first := (map[int][2]int{0: {0, 1}, 1: {0, 2}, 2: {1, 2}})[k]; scheme == OneVsOne {
							if l == first[0] || l == first[1] {
								docs, positive = append(docs, i), append(positive, l == first[0])
							}
						} else if l >= 0 {
							docs, positive = append(docs, i), append(positive, l == k)
						}
					}
					one := musttest.Get(trainBinary(t.Context(), m, docs, positive, par, opt))(t)
					near(scheme.String()+" alone", c.Functions[k], one)
				}
			}
		}
	}
	numbers := []Parameters{
		{Regularization: Regularization{C: 0.5, Epsilon: 0.1}, DocumentWeights: weights},
		{Regularization: Regularization{C: 3, Epsilon: 0.1}, DocumentWeights: weights},
	}
	trial := &CrossValidation{Targets: targets, Folds: parts}
	found := musttest.Get(trial.Run(t.Context(), m, numbers, nil, opt))(t)
	for p, par := range numbers {
		for part := range 2 {
			var docs []int
			for i := range parts {
				if parts[i] != part {
					docs = append(docs, i)
				}
			}
			one := musttest.Get(trainRegression(t.Context(), m, docs, run.Select(targets, docs), par, opt))(t)
			near("regression", found[p].Classifiers[part].Functions[0], one)
		}
	}
}

func TestBadWeights(t *testing.T) {
	const n = 12
	m, x := gaussian(t, 8, n, 3, 0.3)
	bad := map[string][]float64{"too few": {1, 2}, "none": {}}
	for name, w := range map[string]float64{"0": 0, "negative": -1, "NaN": math.NaN(), "infinite": math.Inf(1)} {
		bad[name] = make([]float64, n)
		for i := range n {
			bad[name][i] = 1
		}
		bad[name][7] = w
	}
	for kind, w := range weighings {
		for name, weights := range bad {
			musttest.WantError(w.train(x, m, weights, run.Range(0, n), Options{}))(t,
				fmt.Sprintf("%s: weights that are %s", kind, name))
		}
	}
}

// For two classes, one-vs-rest uses the weights of both classes. For three classes, the negative
// class has weight 1.
func TestWeightsOfTheRest(t *testing.T) {
	m, x := gaussian(t, 7, 120, 3, 0.5)
	labels := make([]int, len(x))
	for i, positive := range noisySigns(5, x) {
		if !positive {
			labels[i] = 1
		}
	}
	train := func(s Scheme, classes int) []*DecisionFunction {
		return musttest.Get(Train(t.Context(), m, Training{Labels: labels, Classes: classes, Scheme: s,
			Parameters: Parameters{Regularization: Regularization{C: 2}, Weights: []float64{3, 0.2}}}, Options{}))(t).Functions
	}
	pair := train(OneVsOne, 2)[0]
	near := func(a *DecisionFunction) bool {
		return math.Abs(a.Objective-pair.Objective) <= 1e-3*math.Abs(pair.Objective)
	}
	for c, machine := range train(OneVsRest, 2) {
		if !near(machine) {
			t.Errorf("class %d: objective %v, one-vs-one %v", c, machine.Objective, pair.Objective)
		}
	}
	if machine := train(OneVsRest, 3)[0]; near(machine) { // the third class has no documents
		t.Errorf("of three classes the rest has a weight: objective %v", machine.Objective)
	}
	sets := make([][]int, len(labels))
	for i, l := range labels {
		sets[i] = []int{l}
	}
	par := Parameters{Regularization: Regularization{C: 2}, Weights: []float64{3, 0.2}}
	separate := musttest.Get(Train(t.Context(), m, Training{LabelSets: sets, Classes: 2, Parameters: par}, Options{}))(t)
	if machine := separate.Functions[0]; near(machine) {
		t.Errorf("of two labels the rest has a weight: objective %v", machine.Objective)
	}
	parts := StratifiedFolds(labels, 3, 1)
	without := slices.Clone(labels)
	for i, part := range parts {
		if part == 1 {
			without[i] = -1
		}
	}
	for _, s := range []Scheme{OneVsOne, OneVsRest} {
		trial := &CrossValidation{Labels: labels, Classes: 2, Scheme: s, Folds: parts}
		v := musttest.Get(trial.Run(t.Context(), m, []Parameters{par}, nil, Options{}))(t)
		separate := Training{Labels: without, Classes: 2, Scheme: s, Parameters: par}
		alone := musttest.Get(Train(t.Context(), m, separate, Options{}))(t)
		a, b := v[0].Classifiers[1].Functions[0].Objective, alone.Functions[0].Objective
		if !(math.Abs(a-b) <= 1e-3*math.Abs(b)) {
			t.Errorf("%s, in folds: objective %v, alone %v", s, a, b)
		}
	}
}
