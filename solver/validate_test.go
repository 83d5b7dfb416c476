package solver

import (
	"context"
	"math"
	"reflect"
	"slices"
	"testing"

	"github.com/gramengine/gram/internal/musttest"
	"github.com/gramengine/gram/internal/run"
)

// masked returns the labels of t, with the documents of fold f excluded.
func masked(t *CrossValidation, f int) []int {
	out := slices.Clone(t.Labels)
	for i, own := range t.Folds {
		if own == f || own < 0 {
			out[i] = -1
		}
	}
	return out
}

func decisionsOf(t *testing.T, m Matrix, c *Classifier, docs []int) [][]float64 {
	t.Helper()
	opt := musttest.Get(Options{Workers: 1}.resolve())(t)
	out := make([][]float64, m.Len())
	copied := func(i int, decisions []float64) { out[i] = slices.Clone(decisions) }
	musttest.NoError(t, c.predictRows(t.Context(), sourceOf(t, m), docs, &opt, copied))
	return out
}

func heldOut(parts []int, f int) []int {
	var out []int
	for i, own := range parts {
		if own == f {
			out = append(out, i)
		}
	}
	return out
}

// Cross-validating several values of C gives the same optima as separate training runs. Predicted
// classes agree unless a decision value is within the tolerance of 0. Documents are predicted only
// by classifiers that weren't trained on them.
func TestValidateLikeSeparateTrainings(t *testing.T) {
	const n, k = 500, 4
	ctx := context.Background()
	m, x := gaussian(t, 22, n, 2, 1)
	labels := classes(x, k)
	labels[7] = -1
	for _, matrix := range []Matrix{m, &counted{Dense: m, t: t}} {
		for _, scheme := range []Scheme{OneVsOne, OneVsRest} {
			trial := &CrossValidation{Labels: labels, Classes: k, Scheme: scheme, Folds: StratifiedFolds(labels, 4, 9)}
			trial.Folds[11] = -1
			pars := []Parameters{withC(50), withC(0.5),
				withC(2), {Regularization: Regularization{C: 2}, Weights: []float64{3, 1, 1, 1}}}
			got := musttest.Get(trial.Run(ctx, matrix, pars, nil, Options{}))(t)
			for at, v := range got {
				if v.PredictedClasses[7] != -1 || v.PredictedClasses[11] != -1 {
					t.Errorf("documents that were left out have classes %d and %d", v.PredictedClasses[7], v.PredictedClasses[11])
				}
				differ, right := 0, 0
				for f := range 4 {
					own := musttest.Get(Train(ctx, matrix,
						Training{Labels: masked(trial, f), Classes: k, Scheme: scheme, Parameters: pars[at]}, Options{}))(t)
					held := heldOut(trial.Folds, f)
					want := decisionsOf(t, matrix, own, held)
					have := decisionsOf(t, matrix, v.Classifiers[f], held)
					for i, machine := range v.Classifiers[f].Functions {
						for _, doc := range machine.Support {
							if trial.Folds[doc] == f || trial.Folds[doc] < 0 || labels[doc] < 0 {
								t.Fatalf("document %d is in the machine that it is predicted by", doc)
							}
						}
						if !machine.Converged ||
							!(math.Abs(machine.Objective-own.Functions[i].Objective) <= defaultTolerance*sizeOf(own.Functions[i])) {
							t.Errorf("%v C=%v: objective %v, alone %v", scheme, pars[at].C, machine.Objective,
								own.Functions[i].Objective)
						}
					}
					for _, i := range held {
						if v.PredictedClasses[i] != v.Classifiers[f].PredictClass(have[i]) {
							t.Fatalf("document %d has class %d, its decisions say %d", i, v.PredictedClasses[i],
								v.Classifiers[f].PredictClass(have[i]))
						}
						if v.PredictedClasses[i] == labels[i] {
							right++
						}
						if v.PredictedClasses[i] != own.PredictClass(want[i]) {
							differ++
							near := math.Inf(1) // change of a decision value that would explain the difference
							for j := range want[i] {
								near = min(near, math.Max(math.Abs(want[i][j]), math.Abs(have[i][j])))
							}
							if scheme == OneVsOne && near > 0.05 {
								t.Errorf("C=%v: document %d has class %d, alone %d, with decisions %v and %v",
									pars[at].C, i, v.PredictedClasses[i], own.PredictClass(want[i]), have[i], want[i])
							}
						}
					}
				}
				if differ > n/100 || right < n*8/10 {
					t.Errorf("%v C=%v: %d of %d documents in another class than alone, %d right", scheme, pars[at].C,
						differ, n, right)
				}
			}
		}
	}
}

// sizeOf returns the sum of a decision function's α.
func sizeOf(m *DecisionFunction) (size float64) {
	for _, v := range m.Coef {
		size += math.Abs(v)
	}
	return size
}

func steps(v *Validation) int {
	sum := 0
	for _, fit := range v.Classifiers {
		for _, m := range fit.Functions {
			sum += m.Iterations
		}
	}
	return sum
}

// Training for each C is warm-started from the previous C, and for each kernel from the previous
// kernels. Warm starts need fewer steps to the same optimum.
func TestValidateStartsNear(t *testing.T) {
	const n, k = 400, 3
	ctx := context.Background()
	wide, x := gaussian(t, 22, n, 4, 0.4)
	middle, _ := gaussian(t, 22, n, 4, 0.5)
	narrow, _ := gaussian(t, 22, n, 4, 0.6)
	trial := &CrossValidation{Labels: classes(x, k), Classes: k, Folds: StratifiedFolds(classes(x, k), 3, 9)}
	validate := func(m Matrix, start []WarmStart, c ...float64) []*Validation {
		t.Helper()
		var pars []Parameters
		for _, v := range c {
			pars = append(pars, withC(v))
		}
		return musttest.Get(trial.Run(ctx, m, pars, start, Options{}))(t)
	}
	same := func(what string, got, want *Validation) {
		t.Helper()
		for f, fit := range got.Classifiers {
			for i, m := range fit.Functions {
				own := want.Classifiers[f].Functions[i]
				if !(math.Abs(m.Objective-own.Objective) <= defaultTolerance*sizeOf(own)) {
					t.Errorf("%s: objective %v, expected %v", what, m.Objective, own.Objective)
				}
			}
		}
	}
	cold := validate(narrow, nil, 20)[0]
	rising := validate(narrow, nil, 10, 20)[1]
	same("from C = 10", rising, cold)
	a, b := validate(wide, nil, 20)[0], validate(middle, nil, 20)[0]
	from := validate(narrow, []WarmStart{{b, 1}}, 20)[0]
	same("from the last kernel", from, cold)
	ahead := validate(narrow, []WarmStart{{b, 2}, {a, -1}}, 20)[0]
	same("from two kernels", ahead, cold)
	if steps(rising) >= steps(cold)*3/4 || steps(from) >= steps(cold)*3/4 || steps(ahead) >= steps(cold)*3/4 {
		t.Errorf("%d steps from nothing, %d from another C, %d from another kernel, %d from two", steps(cold),
			steps(rising), steps(from), steps(ahead))
	}
	// If no coefficient is at its bound, a larger C doesn't change the solution. The remaining
	// steps correct rounding errors of the scaling.
	if loose := validate(narrow, nil, 1e5, 2e5); steps(loose[1]) > steps(loose[0])/100 {
		t.Errorf("%d steps where the solution is known, %d before", steps(loose[1]), steps(loose[0]))
	}
}

// This tests labels, ν-SVC, classes with all documents in one fold, and errors.
func TestValidateOthers(t *testing.T) {
	const n = 240
	ctx := context.Background()
	m, x := gaussian(t, 23, n, 2, 1)
	sets := make([][]int, n)
	labels := make([]int, n)
	parts := make([]int, n)
	for i := range sets {
		parts[i] = i % 3
		sets[i] = []int{2}
		if x[i][0] > 0 {
			sets[i] = []int{0, 2}
		}
		if i%3 == 0 && x[i][1] > 1 {
			sets[i] = append(sets[i], 1) // only in fold 0
		}
		if x[i][0] > 0 {
			labels[i] = 1
		}
	}
	sets[5] = nil
	v := musttest.Get((&CrossValidation{LabelSets: sets, Classes: 3, Folds: parts}).Run(ctx, m,
		[]Parameters{withC(10), withC(1)}, nil, Options{}))(t)
	for _, own := range v {
		wrong := 0
		for i, got := range own.LabelSets {
			if i == 5 {
				if got != nil {
					t.Errorf("a document that was left out has labels %v", got)
				}
				continue
			}
			if !slices.Contains(got, 2) || parts[i] == 0 && slices.Contains(got, 1) {
				t.Fatalf("document %d of part %d has labels %v: all have 2, none outside part 0 has 1", i, parts[i],
					got)
			}
			if slices.Contains(got, 0) != (x[i][0] > 0) {
				wrong++
			}
		}
		if wrong > n/20 {
			t.Errorf("%d of %d documents with a wrong label", wrong, n)
		}
	}

	nu := musttest.Get((&CrossValidation{Labels: labels, Classes: 2, Folds: parts}).Run(ctx, m,
		[]Parameters{{Regularization: Regularization{Nu: 0.3}}, {Regularization: Regularization{Nu: 0.1}}}, nil,
		Options{}))(t)
	for at, par := range []Parameters{{Regularization: Regularization{Nu: 0.3}},
		{Regularization: Regularization{Nu: 0.1}}} {
		own := musttest.Get(Train(ctx, m,
			Training{Labels: masked(&CrossValidation{Labels: labels, Folds: parts}, 1), Classes: 2, Parameters: par},
			Options{}))(t)
		if got, want := nu[at].Classifiers[1].Functions[0], own.Functions[0]; !slices.Equal(got.Coef, want.Coef) ||
			got.Rho != want.Rho {
			t.Errorf("ν = %v: another machine than alone", par.Nu)
		}
	}

	few := slices.Clone(labels) // class 2 occurs only in fold 0, so other folds don't contain it
	for i := range few {
		if i%3 == 0 && i < 30 {
			few[i] = 2
		}
	}
	lost, err := (&CrossValidation{Labels: few, Classes: 3, Folds: parts}).Run(ctx, m, []Parameters{{}}, nil, Options{})
	musttest.NoError(t, err)
	for i, c := range lost[0].PredictedClasses {
		if parts[i] == 0 && c == 2 {
			t.Fatalf("document %d has a class that its classifier doesn't know", i)
		}
	}
	if machines := lost[0].Classifiers[0].Functions; machines[0] == nil || machines[1] != nil || machines[2] != nil {
		t.Error("machines for a class without documents")
	}
}

// The classifiers of a validation have the same bits for any number of workers.
func TestValidateWorkers(t *testing.T) {
	const n = 300
	ctx := context.Background()
	m, x := gaussian(t, 24, n, 2, 1)
	trial := &CrossValidation{Labels: classes(x, 4), Classes: 4, Folds: StratifiedFolds(classes(x, 4), 3, 1)}
	pars := []Parameters{withC(1), withC(30)}
	one := musttest.Get(trial.Run(ctx, m, pars, nil, Options{Workers: 1}))(t)
	three := musttest.Get(trial.Run(ctx, m, pars, nil, Options{Workers: 3}))(t)
	for c := range one {
		if !reflect.DeepEqual(one[c].Classifiers, three[c].Classifiers) {
			t.Fatalf("machines of choice %d differ", c)
		}
	}
}

// A warm start satisfies the bounds and Σ yα = 0. Its objective is minimal among the multiples of
// the warm start.
func TestStart(t *testing.T) {
	const n = 60
	m, x := gaussian(t, 26, n, 2, 1)
	p := &problem{docs: run.Range(0, n), positive: noisySigns(3, x), params: &Parameters{}, bounds: [2]float64{2, 5}}
	d := musttest.Get(p.newDual(sourceOf(t, m), nil))(t)
	from := &DecisionFunction{}
	for i := range n {
		if i%4 != 0 {
			// some coefficients have the wrong sign
			from.Support, from.Coef = append(from.Support, i), append(from.Coef, float64(d.sign[i])*(float64(i)/40-0.1))
		}
	}
	objective := func(by float64) float64 {
		var sum float64
		for i := range n {
			a := by * d.alpha[i]
			sum -= a
			for j := range n {
				sum += 0.5 * a * by * d.alpha[j] * float64(d.sign[i]) * float64(d.sign[j]) * float64(m.Row(i)[j])
			}
		}
		return sum
	}
	d.applyStart(initialSolution{{from, 2}, {from, -0.5}}, false)
	before := slices.Clone(d.alpha)
	copy(d.score, d.offset)
	opt := musttest.Get(Options{Workers: 1}.resolve())(t)
	s := &singleSMO{opt: &opt, m: sourceOf(t, m), threads: 1, report: newReporter(nil, 1)}
	s.prepare(d, opt.RowBytes)
	musttest.NoError(t, s.updateScores(context.Background(), d, nil))
	d.rescale(0)
	var sum float64
	for i, a := range d.alpha {
		sum += float64(d.sign[i]) * a
		if !(a >= 0 && a <= d.upper[i]) || (a > 0) != (i%4 != 0 && i > 4) ||
			!(math.Abs(a*before[5]-before[i]*d.alpha[5]) <= 1e-12) {
			t.Errorf("α[%d] = %v of %v, before %v", i, a, d.upper[i], before[i])
		}
		score := d.offset[i]
		for j, b := range d.alpha {
			score -= float64(d.sign[j]) * b * float64(m.Row(i)[j])
		}
		if !(math.Abs(score-d.score[i]) <= 1e-10) {
			t.Errorf("score %d is %v, expected %v", i, d.score[i], score)
		}
	}
	if !(math.Abs(sum) <= 1e-12) {
		t.Errorf("Σ yα = %v", sum)
	}
	if least := objective(1); objective(0.99) <= least || objective(1.01) <= least {
		t.Errorf("objective %v, %v at 0.99 and %v at 1.01 times the start", least, objective(0.99), objective(1.01))
	}
}

// Regressions agree with separate training runs. Warm starts from the solution take few steps.
func TestValidateRegression(t *testing.T) {
	const n = 200
	ctx := context.Background()
	m, x := gaussian(t, 25, n, 2, 1)
	targets, parts := make([]float64, n), make([]int, n)
	for i := range targets {
		targets[i] = math.Sin(x[i][0]) + 0.1*x[i][1] + 0.3*float64(i%3-1)
		parts[i] = i % 4
	}
	parts[9] = -1
	pars := []Parameters{{Regularization: Regularization{C: 10, Epsilon: 0.05}}, {Regularization: Regularization{C: 0.1,
		Epsilon: 0.05}}, {Regularization: Regularization{C: 1, Nu: 0.4}}, {Regularization: Regularization{C: 5,
		Epsilon: 0.2}}}
	trial := &CrossValidation{Targets: targets, Folds: parts}
	got := musttest.Get(trial.Run(ctx, m, pars, nil, Options{}))(t)
	for at, e := range got {
		if !math.IsNaN(e.Estimates[9]) {
			t.Error("an estimate for a document that was left out")
		}
		var loss float64
		for f := range 4 {
			var docs []int
			for i, own := range parts {
				if own >= 0 && own != f {
					docs = append(docs, i)
				}
			}
			own := musttest.Get(trainRegression(ctx, m, docs, run.Select(targets, docs), pars[at], Options{}))(t)
			machine := e.Classifiers[f].Functions[0]
			if !(math.Abs(machine.Objective-own.Objective) <= defaultTolerance*sizeOf(own)) {
				t.Errorf("%+v: objective %v, alone %v", pars[at], machine.Objective, own.Objective)
			}
			for _, i := range heldOut(parts, f) {
				// For two solutions with gap ε, the objectives differ by less than ε·Σ|β|, so ‖w -
				// w'‖² < 2ε·Σ|β|, and K = 1 on the diagonal.
				bound := 2 * math.Sqrt(2*defaultTolerance*sizeOf(own))
				if !(math.Abs(decision(m, own, i)-e.Estimates[i]) <= bound) {
					t.Errorf("document %d is estimated as %v, alone %v", i, e.Estimates[i], decision(m, own, i))
				}
				loss += (e.Estimates[i] - targets[i]) * (e.Estimates[i] - targets[i])
			}
		}
		if loss/n > 0.2 {
			t.Errorf("%+v: mean squared error %v", pars[at], loss/n)
		}
	}
	cold := musttest.Get(trial.Run(ctx, m, pars[:1], nil, Options{}))(t)
	warm := musttest.Get(trial.Run(ctx, m, pars[:1], []WarmStart{{cold[0], 1}}, Options{}))(t)
	if steps(warm[0]) > steps(cold[0])/10 {
		t.Errorf("%d steps from the solution, %d from nothing", steps(warm[0]), steps(cold[0]))
	}
}
