package solver

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/gramengine/gram/internal/musttest"
)

// rowless is a matrix without the method Row.
type rowless struct{ Matrix }

// Separately trained groups give the same decision functions as a full training run, bit for bit.
// One-vs-one has a group for each pair of classes with documents.
func TestGroups(t *testing.T) {
	const n, k = 240, 5
	m, x := gaussian(t, 31, n, 3, 0.5)
	labels := classes(x, k-1) // the last class has no documents
	labels[7] = -1
	sets, parts := make([][]int, n), make([]int, n)
	for i, l := range labels {
		parts[i] = i % 3
		if sets[i] = []int{}; l >= 0 {
			sets[i] = []int{l, (l + 1 + i%2) % (k - 1)}
			slices.Sort(sets[i])
		}
	}
	const pairs = (k - 1) * (k - 2) / 2
	for name, c := range map[string]struct {
		matrix Matrix
		Training
		groups, machines int
	}{
		"one-vs-one": {m, Training{Labels: labels, Classes: k, Parameters: withC(3)}, pairs, pairs},
		"probabilities": {
			m, Training{Labels: labels, Classes: k, Parameters: Parameters{Probabilities: true}}, pairs, pairs,
		},
		"one-vs-rest":            {m, Training{Labels: labels, Classes: k, Scheme: OneVsRest}, 2, k},
		"labels":                 {m, Training{LabelSets: sets, Classes: k}, k, k},
		"labels, rows elsewhere": {rowless{m}, Training{LabelSets: sets, Classes: k}, 2, k},
		"labels, each alone":     {rowless{m}, Training{LabelSets: sets, Classes: k, IndependentLabels: true}, k, k},
		"thresholds":             {m, Training{LabelSets: sets, Classes: k, Folds: parts}, 1, k},
	} {
		t.Run(name, func(t *testing.T) {
			_, inMemory := c.matrix.(*Dense)
			groups := musttest.Get(c.Groups(n, inMemory))(t)
			whole := musttest.Get(Train(t.Context(), c.matrix, c.Training, Options{Workers: 2}))(t)
			if all := slices.Concat(groups...); len(groups) != c.groups || len(all) != c.machines {
				t.Fatalf("groups %v, expected %d of %d machines", groups, c.groups, c.machines)
			}
			for _, group := range groups {
				if !slices.IsSorted(group) {
					t.Errorf("group %d, expected ascending numbers", group)
				}
			}
			rand.New(rand.NewPCG(1, 1)).Shuffle(len(groups), func(a, b int) { groups[a], groups[b] = groups[b], groups[a] })
			half := (len(groups) + 1) / 2
			got := make([]*DecisionFunction, len(whole.Functions))
			for _, some := range [][][]int{groups[:half], groups[half:]} {
				own := c.Training
				own.OnlyFunctions = slices.Concat(some...)
				part, err := Train(t.Context(), c.matrix, own, Options{Workers: 1})
				if len(some) == 0 {
					continue
				}
				musttest.NoError(t, err)
				for i, machine := range part.Functions {
					if (machine != nil) != slices.Contains(own.OnlyFunctions, i) {
						t.Fatalf("machine %d of Only %v is %v", i, own.OnlyFunctions, machine)
					}
					if machine != nil {
						got[i] = machine
					}
				}
			}
			if !reflect.DeepEqual(got, whole.Functions) {
				t.Fatal("machines by groups differ from those of the whole training")
			}
		})
	}
}

// Functions that must be trained together can't be trained separately.
func TestOnlyRefuses(t *testing.T) {
	const n = 60
	m, x := gaussian(t, 32, n, 3, 0.5)
	labels := classes(x, 3)
	for name, c := range map[string]Training{
		"part of a multiSMO": {Labels: labels, Classes: 3, Scheme: OneVsRest, OnlyFunctions: []int{0, 2}},
		"none such":          {Labels: labels, Classes: 3, OnlyFunctions: []int{3}},
		"below 0":            {Labels: labels, Classes: 3, OnlyFunctions: []int{-1}},
		"twice":              {Labels: labels, Classes: 3, OnlyFunctions: []int{1, 1}},
		"of thresholds":      {LabelSets: make([][]int, n), Classes: 3, OnlyFunctions: []int{1}, Folds: make([]int, n)},
		"nothing together":   {Labels: labels, Classes: 3, Scheme: OneVsRest, OnlyFunctions: []int{0}},
	} {
		for i := range c.LabelSets {
			c.LabelSets[i], c.Folds[i] = []int{labels[i]}, i%2
		}
		musttest.WantError(Train(t.Context(), m, c, Options{}))(t, name)
	}
	for _, parts := range [][]int{make([]int, n-1), make([]int, n), slices.Repeat([]int{-2, 1}, n/2)} {
		musttest.WantError((&Training{LabelSets: make([][]int, n), Classes: 3, Folds: parts}).Groups(n, true))(t,
			fmt.Sprintf("parts %d", parts))
	}
	none, err := Train(t.Context(), m, Training{Labels: labels, Classes: 3, OnlyFunctions: []int{}}, Options{})
	if err != nil || !slices.Equal(none.Functions, make([]*DecisionFunction, 3)) {
		t.Errorf("no machine: %v, %v", none, err)
	}
}

// Validating each fold separately gives the same classifiers, predictions and decision values as
// validating all folds, also with a warm start that contains only this fold.
func TestTrialOnly(t *testing.T) {
	const n = 200
	m, x := gaussian(t, 33, n, 3, 0.5)
	wide, _ := gaussian(t, 33, n, 3, 0.2)
	labels := classes(x, 4)
	pars := []Parameters{{Regularization: Regularization{C: 10, Epsilon: 0.1}}, {Regularization: Regularization{C: 1,
		Epsilon: 0.1}}}
	trial := CrossValidation{Labels: labels, Classes: 4, Folds: StratifiedFolds(labels, 3, 1), StoreDecisions: true}
	numbers := CrossValidation{Targets: make([]float64, n), Folds: trial.Folds}
	for i := range numbers.Targets {
		numbers.Targets[i] = x[i][0]
	}
	validate := func(trial CrossValidation, only []int) []*Validation {
		t.Helper()
		trial.OnlyFolds = only
		first := musttest.Get(trial.Run(t.Context(), wide, pars, nil, Options{Workers: 2}))(t)
		return musttest.Get(trial.Run(t.Context(), m, pars, []WarmStart{{first[1], 1.5}}, Options{Workers: 2}))(t)
	}
	whole, values := validate(trial, nil), validate(numbers, nil)
	for f := range 3 {
		part, value := validate(trial, []int{f}), validate(numbers, []int{f})
		for c := range part {
			if !reflect.DeepEqual(part[c].Classifiers[f], whole[c].Classifiers[f]) {
				t.Fatalf("part %d: machines differ", f)
			}
			for i, of := range trial.Folds {
				want, decisions := -1, []float64(nil)
				if of == f {
					want, decisions = whole[c].PredictedClasses[i], whole[c].Decisions[i]
				}
				if part[c].PredictedClasses[i] != want || !slices.Equal(part[c].Decisions[i], decisions) {
					t.Fatalf("part %d: document %d is of class %d, expected %d", f, i, part[c].PredictedClasses[i], want)
				}
			}
		}
		if !reflect.DeepEqual(value[0].Classifiers[f], values[0].Classifiers[f]) {
			t.Fatalf("part %d: the machine of regression differs", f)
		}
		for i, of := range trial.Folds {
			if v := value[0].Estimates[i]; (v == v) != (of == f) || v == v && v != values[0].Estimates[i] {
				t.Fatalf("part %d: document %d has the value %v, expected %v", f, i, v, values[0].Estimates[i])
			}
		}
	}
	for _, only := range [][]int{{3}, {-1}, {0, 0}} {
		trial.OnlyFolds = only
		musttest.WantError(trial.Run(t.Context(), m, pars, nil, Options{}))(t, fmt.Sprintf("parts %v", only))
	}
}

// With IndependentLabels, the bits don't depend on whether rows are in memory. Without it, they do.
func TestAlone(t *testing.T) {
	const n, k = 240, 3
	m, x := gaussian(t, 31, n, 3, 0.5)
	sets := make([][]int, n)
	for i, l := range classes(x, k) {
		sets[i] = []int{l}
	}
	train := func(m Matrix, alone bool) *Classifier {
		return musttest.Get(Train(t.Context(), m, Training{LabelSets: sets, Classes: k, IndependentLabels: alone},
			Options{}))(t)
	}
	want := train(m, false)
	if !reflect.DeepEqual(train(m, true), want) || !reflect.DeepEqual(train(rowless{m}, true), want) {
		t.Error("alone, where rows are makes a difference")
	}
	if reflect.DeepEqual(train(rowless{m}, false), want) {
		t.Error("by a multiSMO the bits are the same: the test shows nothing")
	}
}
