package solver

import (
	"context"
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/gramengine/gram/internal/musttest"
	"github.com/gramengine/gram/internal/run"
)

// argument is a call with an invalid argument, and the expected error text.
type argument struct {
	name, want string
	call       func() error
}

func checkArguments(t *testing.T, arguments []argument) {
	t.Helper()
	for _, d := range arguments {
		t.Run(d.name, func(t *testing.T) {
			musttest.WantError(d.call())(t, d.name, d.want)
		})
	}
}

// panicOf returns the value that a call panics with, or nil.
func panicOf(call func()) (v any) {
	defer func() { v = recover() }()
	call()
	return nil
}

// trainersOf returns calls of every function with a matrix argument. The other arguments select all
// n documents, or several scattered documents in ascending order.
func trainersOf(n int) map[string]func(m Matrix) error {
	ctx := context.Background()
	labels, few, targets := make([]int, n), slices.Repeat([]int{-1}, n), make([]float64, n)
	parts, sets := make([]int, n), make([][]int, n)
	for i := range n {
		labels[i], targets[i], parts[i], sets[i] = i%3, float64(i%5), i%4, []int{i % 3}
		if i%3 == 1 {
			few[i] = i % 2
		}
	}
	opt := Options{Workers: 2, MaxIterations: 1000}
	train := func(t Training) func(m Matrix) error {
		return func(m Matrix) error { _, err := Train(ctx, m, t, opt); return err }
	}
	validate := func(t CrossValidation) func(m Matrix) error {
		return func(m Matrix) error { _, err := t.Run(ctx, m, []Parameters{{}}, nil, opt); return err }
	}
	return map[string]func(m Matrix) error{
		"classes":          train(Training{Labels: labels, Classes: 3}),
		"classes of a few": train(Training{Labels: few, Classes: 2}),
		"labels":           train(Training{LabelSets: sets, Classes: 3}),
		"regression":       train(Training{Targets: targets}),
		"one class": train(Training{Labels: labels, OneClass: true,
			Parameters: Parameters{Regularization: Regularization{Nu: 0.5}}}),
		"classes in parts":    validate(CrossValidation{Labels: labels, Classes: 3, Folds: parts}),
		"regression in parts": validate(CrossValidation{Targets: targets, Folds: parts}),
	}
}

// packed is the lower triangle of a matrix: a row has the values up to the diagonal.
type packed struct{ *Dense }

func (p packed) Row(i int) []float32 { return p.Dense.Row(i)[: i+1 : i+1] }

// wide has an extra value in each row. narrow lacks a value of the diagonal.
type (
	wide   struct{ *Dense }
	narrow struct{ *Dense }
	sized  struct {
		*Dense
		n int
	}
)

func (w wide) Row(i int) []float32 {
	return append(slices.Clone(w.Dense.Row(i)), 1)
}

func (s narrow) Diagonal() []float32                                             { return s.Dense.Diagonal()[1:] }
func (s sized) Len() int                                                         { return s.n }
func (s sized) Diagonal() []float32                                              { return nil }
func (s sized) Row(int) []float32                                                { return nil }
func (p panicking) Row(int) []float32                                            { panic(errOwn) }
func (p panickingRows) Row()                                                     {}
func (p panickingRows) Rows(context.Context, []int, [][2]int, [][]float32) error { panic(errOwn) }

type (
	panicking     struct{ *Dense }
	panickingRows struct{ *Dense }
)

var errOwn = errors.New("the caller's own")

// Every function with a matrix argument rejects a matrix whose rows or diagonal have the wrong
// length. The error names the row.
func TestMatrixArguments(t *testing.T) {
	const n = 256
	m, _ := gaussian(t, 31, n, 3, 0.3)
	for name, train := range trainersOf(n) {
		if err := train(m); err != nil {
			t.Errorf("%s: error %v of a matrix that is in order", name, err)
		}
		checkArguments(t, []argument{
			{name + "/packed triangle", "values, but there are 256 documents", func() error { return train(packed{m}) }},
			{name + "/packed triangle, its row", "solver: row ", func() error { return train(packed{m}) }},
			{name + "/long rows", "has 257 values, but there are 256 documents", func() error { return train(wide{m}) }},
			{name + "/diagonal", "the diagonal of the matrix has 255 values, but there are 256 documents",
				func() error { return train(narrow{m}) }},
			{name + "/nil", "the matrix is nil", func() error { return train(nil) }},
			{name + "/negative", "1073741823, got -1", func() error { return train(sized{m, -1}) }},
			{name + "/huge", "1073741823, got 4294967296", func() error { return train(sized{m, 1 << 32}) }},
		})
	}
}

func TestTrainingArguments(t *testing.T) {
	const n = 60
	ctx := context.Background()
	m, x := gaussian(t, 7, n, 2, 1)
	positive, docs := noisySigns(7, x), run.Range(0, n)
	nan := math.NaN()
	three := musttest.MakeSlice(n, func(i int) int { return i % 3 })
	binary := func(par Parameters) func() error {
		return func() error { _, err := trainBinary(ctx, m, docs, positive, par, Options{}); return err }
	}
	of := func(m Matrix, n int, positive func(i int) bool, par Parameters) func() error {
		signs := musttest.MakeSlice(n, func(i int) bool { return positive(i) })
		return func() error { _, err := trainBinary(ctx, m, run.Range(0, n), signs, par, Options{}); return err }
	}
	endless := math.Inf(1)
	train := func(k int, par Parameters, start ...*DecisionFunction) func() error {
		of := Training{Labels: three, Classes: k, Parameters: par}
		if start != nil {
			of.StartFrom = &Classifier{Functions: start}
		}
		return func() error { _, err := Train(ctx, m, of, Options{}); return err }
	}
	labels := func(labels [][]int, k int) func() error {
		return func() error { _, err := Train(ctx, m, Training{LabelSets: labels, Classes: k}, Options{}); return err }
	}
	regression := func(docs []int, targets []float64) func() error {
		return func() error {
			_, err := trainRegression(ctx, m, docs, targets, Parameters{}, Options{})
			return err
		}
	}
	oneClass := func(docs []int, par Parameters) func() error {
		return func() error { _, err := trainOneClass(ctx, m, docs, par, Options{}); return err }
	}
	from := func(support []int, coef []float64) *DecisionFunction {
		return &DecisionFunction{Support: support, Coef: coef}
	}
	sets := make([][]int, n)
	sets[3] = []int{0, 7}
	checkArguments(t, []argument{
		{"one class", "at least two classes, got 1", of(m, n, func(int) bool { return true },
			Parameters{})},
		{"label out of range", "label of document 2 must be between 0 and 1, got 2", train(2, Parameters{})},
		{"C", "C must be positive and finite, got -1", binary(withC(-1))},
		{"infinite weight", "weight of class 1 must be positive and finite, got +Inf",
			binary(Parameters{Weights: []float64{1, endless}})},
		{"infeasible ν", "ν = 0.9 exceeds the maximum of 0.3333",
			of(m, n, func(i int) bool { return i < 10 }, Parameters{Regularization: Regularization{Nu: 0.9}})},
		{"infinite everywhere", "is not finite", of(matrixOf(t, 2, func(i, j int) float64 {
			return endless * float64(1-2*((i+j)%2))
		}), 2, func(i int) bool { return i == 0 }, Parameters{})},
		{"NaN", "is not finite", of(matrixOf(t, 4, func(i, j int) float64 {
			if i == 2 && j == 1 {
				return nan
			}
			return float64(1 / (1 + i - j))
		}), 4, func(i int) bool { return i < 2 }, Parameters{})},
		{"weight is NaN", "weight of class 1 must be positive and finite, got NaN",
			binary(Parameters{Weights: []float64{1, nan}})},
		{"weight overflows", "C = 1e+200 times the weight 1e+200 of class 0 must be",
			binary(Parameters{Regularization: Regularization{C: 1e200}, Weights: []float64{1e200}})},
		{"weight underflows", "of class 0 must be positive and finite, got 0",
			binary(Parameters{Regularization: Regularization{C: 1e-200},
				Weights: []float64{1e-200}})},
		{"weights", "got 3 class weights for 2 classes", binary(Parameters{Weights: []float64{1, 1, 1}})},
		{"start without coefficients",
			"decision function 0 of the warm start: solver: 2 support vectors, but 1 coefficients",
			train(3, Parameters{}, from([]int{0, 1}, []float64{1}), nil, nil)},
		{"start of a larger matrix",
			"decision function 0 of the warm start: solver: indices of support vectors must increase and be below 60, got 60",
			train(3, Parameters{}, from([]int{0, 60}, []float64{1, -1}), nil, nil)},
		{"start out of order",
			"decision function 0 of the warm start: solver: indices of support vectors must increase and be below 60, " +
				"got 1 after 2",
			train(3, Parameters{}, from([]int{2, 1}, []float64{1, -1}), nil, nil)},
		{"start of NaN",
			"decision function 0 of the warm start: solver: coefficient of support vector 1 must be finite, got NaN",
			train(3, Parameters{}, from([]int{1}, []float64{nan}), nil, nil)},
		{"too many pairs", "one-vs-one with 20000 classes needs 199990000 decision", train(20000, Parameters{})},
		{"start of other classes", "the warm start has 1 decision functions", train(3, Parameters{}, nil)},
		{"machine of a start", "decision function 2 of the warm start: solver: 1 support vectors, but 0",
			train(3, Parameters{}, nil, nil, from([]int{1}, nil))},
		{"weights of classes", "got 4 class weights for 3 classes", train(3, Parameters{Weights: []float64{1, 1, 1, 1}})},

		{"sets", "1 labels, label sets or targets", labels([][]int{{0}}, 2)},
		{"label", "label of document 3 must be between 0 and 1, got 7", labels(sets, 2)},
		{"no labels", "number of classes must be between 1 and 2147483647, got 0", labels(make([][]int, n), 0)},
		{"nothing to train on", "no documents to train on", labels(make([][]int, n), 2)},

		{"no target", "no document", regression(nil, nil)},
		{"infinite target", "target of document 1 must be finite", regression([]int{0, 1}, []float64{0, math.Inf(1)})},
		{"no ν of one class", "ν must be in (0, 1], got 0", oneClass(docs, Parameters{})},
		{"one class of nothing", "no document", oneClass(nil, Parameters{Regularization: Regularization{Nu: 0.5}})},
	})
}

func TestValidationArguments(t *testing.T) {
	const n = 60
	ctx := context.Background()
	m, _ := gaussian(t, 7, n, 2, 1)
	labels, parts, targets := make([]int, n), make([]int, n), make([]float64, n)
	for i := range labels {
		labels[i], parts[i] = i%2, i/2%3
	}
	pars := []Parameters{{}}
	trial := &CrossValidation{Labels: labels, Classes: 2, Folds: parts}
	near := musttest.Get(trial.Run(ctx, m, pars, nil, Options{}))(t)
	validate := func(trial *CrossValidation, pars []Parameters, start ...WarmStart) func() error {
		return func() error { _, err := trial.Run(ctx, m, pars, start, Options{}); return err }
	}
	start := func(change func(v *Validation)) WarmStart {
		v := &Validation{}
		for _, c := range near[0].Classifiers {
			own := *c
			own.Functions = slices.Clone(own.Functions)
			v.Classifiers = append(v.Classifiers, &own)
		}
		change(v)
		return WarmStart{v, 1}
	}
	regression := func(change func(t *CrossValidation)) *CrossValidation {
		trial := &CrossValidation{Targets: targets, Folds: parts}
		change(trial)
		return trial
	}
	checkArguments(t, []argument{
		{"nothing", "0 labels, label sets or targets", validate(&CrossValidation{Classes: 2, Folds: parts}, pars)},
		{"both", "120 labels, label sets or targets",
			validate(&CrossValidation{Labels: labels, LabelSets: make([][]int, n), Classes: 2, Folds: parts}, pars)},
		{"one part", "at least 2 folds, got 1",
			validate(&CrossValidation{Labels: labels, Classes: 2, Folds: make([]int, n)}, pars)},
		{"weights", "3 class weights", validate(trial, []Parameters{{Weights: []float64{1, 1, 1}}})},
		{"empty start", "the warm start must have the 3 folds of this trial", validate(trial, pars, WarmStart{nil, 1})},
		{"start of other parts", "must have the 3 folds of this trial",
			validate(trial, pars, start(func(v *Validation) { v.Classifiers = v.Classifiers[1:] }))},
		{"start that lacks a part", "without fold 1",
			validate(trial, pars, start(func(v *Validation) { v.Classifiers[1] = nil }))},
		{"start of other machines", "fold 2: solver: the warm start has 0 decision functions",
			validate(trial, pars, start(func(v *Validation) { v.Classifiers[2].Functions = nil }))},
		{"start of a larger matrix", "fold 2: decision function 0 of the warm start: solver: indices of " +
			"support vectors must increase",
			validate(trial, pars, start(func(v *Validation) {
				v.Classifiers[2].Functions[0] = &DecisionFunction{Support: []int{60}, Coef: []float64{1}}
			}))},

		{"no choice", "no parameters", validate(trial, nil)},
		{"C", "C must be positive and finite, got -1", validate(trial, []Parameters{withC(-1)})},
		{"few parts", "Folds has length 59, but there are 60 documents",
			validate(&CrossValidation{Labels: labels, Classes: 2, Folds: parts[1:]}, pars)},
		{"few labels", "59 labels", validate(&CrossValidation{Labels: labels[1:], Classes: 2, Folds: parts}, pars)},
		{"few classes", "got 1", validate(&CrossValidation{Labels: labels, Classes: 1, Folds: parts}, pars)},
		{"one class is left", "without fold 1 of 3, all documents belong to one class",
			validate(&CrossValidation{Labels: run.Select([]int{0, 1, 1}, parts), Classes: 2, Folds: parts}, pars)},
		{"start of regression", "the warm start has 1 decision functions (one-vs-one), but the problem has 1 (one-vs-rest)",
			validate(regression(func(*CrossValidation) {}), pars, WarmStart{near[0], 1})},
		{"targets", "59 labels", validate(regression(func(t *CrossValidation) { t.Targets = targets[1:] }), pars)},
		{"no targets", "no document", validate(regression(func(t *CrossValidation) {
			t.Targets = slices.Repeat([]float64{math.NaN()}, n)
		}), pars)},
		{"ε", "ε must be nonnegative and finite, got -1", validate(regression(func(*CrossValidation) {}),
			[]Parameters{{Regularization: Regularization{Epsilon: -1}}})},
	})
}

func TestProbabilityArguments(t *testing.T) {
	sure := func() *DecisionFunction { return &DecisionFunction{Sigmoid: &Sigmoid{-1, 0}} }
	fit := func(positive []bool, decisions ...float64) func() error {
		return func() error { _, err := FitSigmoid(decisions, positive); return err }
	}
	checkArguments(t, []argument{
		{"sigmoid", "decision value 1 of decision function 0 does not give a probability",
			func() error {
				c := &Classifier{Scheme: OneVsRest, Classes: 1, Functions: []*DecisionFunction{{Sigmoid: &Sigmoid{math.NaN(), 0}}}}
				return c.Probabilities(make([]float64, 1), []float64{1})
			}},
		{"missing decision function", "decision function 0 of one-vs-rest is missing",
			(&Classifier{Scheme: OneVsRest, Classes: 1, Functions: []*DecisionFunction{nil}}).Validate},
		{"missing pair", "the decision function for classes 1 and 2 is missing",
			(&Classifier{Classes: 3, Functions: []*DecisionFunction{sure(), sure(), nil}}).Validate},
		{"no function", "all decision functions are missing for 2",
			(&Classifier{Classes: 2, Functions: []*DecisionFunction{nil}}).Validate},
		{"temperature", "temperature must be positive and finite, got 0",
			(&Classifier{
				Scheme: OneVsRest, Classes: 1, Functions: []*DecisionFunction{sure()}, Temperature: &Temperature{T: 0},
			}).Validate},
		{"temperature of labels", "Temperature and Rejection require one class per document, got scheme labels",
			(&Classifier{Scheme: MultiLabel, Classes: 1, Functions: []*DecisionFunction{sure()},
				Temperature: &Temperature{T: 1}}).Validate},

		{"fit, squares overflow", "decision value of document 0 must be between -1e+140 and 1e+140, got 1e+300",
			fit([]bool{true, false}, 1e300, 1)},
	})
	got := make([]float64, 2)
	rest := &Classifier{Scheme: OneVsRest, Classes: 2, Functions: []*DecisionFunction{sure(), sure()}}
	if err := rest.Probabilities(got, []float64{-1e4, -1e4}); err != nil || !slices.Equal(got, []float64{0.5, 0.5}) {
		t.Errorf("probabilities %v, error %v, of two classes that are both impossible, expected equal ones", got, err)
	}
	if err := (&Classifier{Classes: 1}).Probabilities(got[:1], nil); err != nil || got[0] != 1 {
		t.Errorf("probability %v, error %v, of the only class, expected 1", got[0], err)
	}
	// If all decision values are equal, the curvature in A is lost to rounding, but B still
	// maximises the likelihood.
	const n, f = 1 << 17, 1.0
	decisions, positive := slices.Repeat([]float64{f}, n), make([]bool, n)
	for i := range n / 4 {
		positive[i] = true
	}
	s := musttest.Get(FitSigmoid(decisions, positive))(t)
	up, down := float64(n/4+1)/(n/4+2), 1/float64(n*3/4+2)
	if want := (up*(n/4) + down*(n*3/4)) / n; !(math.Abs(s.Probability(f)-want) <= 1e-8) {
		t.Errorf("%+v: probability %v, expected %v", s, s.Probability(f), want)
	}
}
