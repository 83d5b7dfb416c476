package solver

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gramengine/gram/internal/musttest"
	"github.com/gramengine/gram/internal/run"
)

// If a method of a matrix or a Progress function panics on any goroutine, training returns an
// error.
func TestPanicsAreErrors(t *testing.T) {
	const n = 256
	m, x := gaussian(t, 31, n, 3, 0.3)
	defer setReportEvery(0)()
	check := func(what string, err error) {
		t.Helper()
		if failed := (*run.PanicError)(nil); !errors.As(err, &failed) || !errors.Is(err, errOwn) {
			t.Errorf("%s: error %v, expected a PanicError with the caller's own", what, err)
		}
	}
	for name, train := range trainersOf(n) {
		check(name+", Row", train(panicking{m}))
		check(name+", Rows", train(panickingRows{m}))
	}
	for name, train := range learnersOf(x) {
		if name == "C-SVC from near" {
			continue // this learner first trains a C-SVC
		}
		told := 0
		_, err := train(t.Context(), m, Options{Progress: func(Progress) {
			if told++; told == 3 {
				panic(errOwn)
			}
		}})
		check(name+", Progress", err)
	}
	labels := classes(x, 4)
	_, err := Train(
		t.Context(), m, Training{Labels: labels, Classes: 4},
		Options{Workers: 3, Progress: func(Progress) { panic(errOwn) }},
	)
	check("Train, Progress", err)
}

// During a slow progress callback, the other workers continue.
func TestReportsKeepNobodyWaiting(t *testing.T) {
	const n = 300
	m, x := gaussian(t, 23, n, 4, 0.3)
	labels := classes(x, 3)
	defer setReportEvery(0)()
	var told, rounds atomic.Int64
	var late atomic.Bool
	on := make(chan struct{})
	_, err := Train(t.Context(), &counted{Dense: m, t: t, wait: func() {
		if told.Load() > 0 && rounds.Add(1) == 4 {
			close(on)
		}
	}}, Training{
		Labels: labels, Classes: 3, Parameters: withC(10),
	}, Options{Workers: 2, workingSet: 8, RowBytes: 4 * n * 32, Progress: func(Progress) {
		if told.Add(1) == 1 {
			select {
			case <-on:
			case <-time.After(time.Minute):
				late.Store(true)
			}
		}
	}})
	if err != nil || late.Load() {
		t.Errorf("error %v; no other worker went on while the caller took time over a report: %v", err, late.Load())
	}
}

// If two classes have the same documents, the margin is 0, so the solution can't be divided by the
// margin.
func TestNoMargin(t *testing.T) {
	const n = 40
	m, _ := gaussian(t, 7, n/2, 2, 1)
	signs := musttest.MakeSlice(n, func(i int) bool { return i%2 == 0 })
	ctx := context.Background()
	for name, same := range map[string]*Dense{
		"twins":    matrixOf(t, n, func(i, j int) float64 { return float64(m.Row(i / 2)[j/2]) }),
		"constant": matrixOf(t, n, func(i, j int) float64 { return 0.3 }),
		"small":    matrixOf(t, n, func(i, j int) float64 { return 1e-30 * float64(m.Row(i / 2)[j/2]) }),
		"nothing":  matrixOf(t, n, func(i, j int) float64 { return 0 }),
	} {
		for _, nu := range []float64{0.1, 0.37, 1} {
			musttest.WantError(trainBinary(ctx, same, run.Range(0, n), signs, Parameters{Regularization: Regularization{Nu: nu}},
				Options{}))(t, fmt.Sprintf("%s, ν = %v", name, nu), "the margin of class 0 against 1 is 0")
		}
		labels := musttest.MakeSlice(n, func(i int) int { return i % 2 })
		trial := &CrossValidation{Labels: labels, Classes: 2, Folds: StratifiedFolds(make([]int, n/2), 2, 1)}
		trial.Folds = append(trial.Folds, trial.Folds...)
		for i := range trial.Folds {
			trial.Folds[i] = i / 2 % 2
		}
		musttest.WantError(trial.Run(ctx, same, []Parameters{{Regularization: Regularization{Nu: 0.4}}}, nil,
			Options{}))(t, name+": validation", "the margin of class")
	}

	// A problem with a margin may have a fold without a margin: without document 0 the classes
	// can't be separated. The probabilities must still be numbers.
	few := matrixOf(t, 12, func(i, j int) float64 {
		if i == 0 && j == 0 {
			return 5
		}
		if i == 0 || j == 0 {
			return 0
		}
		return 1
	})
	positive := musttest.MakeSlice(12, func(i int) bool { return i%2 == 0 })
	par := Parameters{Regularization: Regularization{Nu: 0.88}, Probabilities: true}
	some := musttest.Get(trainBinary(ctx, few, run.Range(0, 12), positive, par, Options{}))(t)
	if s := some.Sigmoid; math.IsNaN(s.A) || math.IsNaN(s.B) {
		t.Errorf("sigmoid %+v", *s)
	}

	// If all variables are at their bounds, none of them can change. The gap is then 0 rather than
	// -Inf, which model files can't represent.
	got, err := trainBinary(ctx, m, []int{0, 1}, []bool{true, false}, Parameters{Regularization: Regularization{Nu: 1}},
		Options{})
	if err != nil || got.Gap != 0 || !got.Converged {
		t.Errorf("%+v, error %v, expected a gap of 0", got, err)
	}
}

// A result that overflows float64 is an error.
func TestResultIsFinite(t *testing.T) {
	for what, m := range map[string]*DecisionFunction{
		"coefficient": {
			Support: []int{3}, Coef: []float64{math.Inf(1)},
		}, "rho": {Rho: math.NaN()}, "objective": {Objective: math.Inf(-1)}, "gap": {Gap: math.Inf(1)},
	} {
		if m.checkFinite() == nil {
			t.Errorf("%s: no error", what)
		}
	}
	if err := (&DecisionFunction{
		Support: []int{3}, Coef: []float64{1}, Rho: 1e308, Objective: 1e308, Gap: 1e308,
	}).checkFinite(); err != nil {
		t.Error(err)
	}
}
