package solver

import (
	"context"
	"math"
	"slices"
	"testing"

	"github.com/gramengine/gram/internal/musttest"
	"github.com/gramengine/gram/internal/run"
)

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
	pars := []Regression{{C: 10, Epsilon: 0.05}, {C: 0.1, Epsilon: 0.05}, {C: 1, Nu: 0.4}, {C: 5, Epsilon: 0.2}}
	got := musttest.Get((&RegressionTrial{Targets: targets, Parts: parts}).Validate(ctx, m, pars, nil, Options{}))(t)
	for at, e := range got {
		if !math.IsNaN(e.Values[9]) {
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
			own := musttest.Get(TrainRegression(
				ctx, m, RegressionTraining{Docs: docs, Targets: run.Pick(targets, docs), Regression: pars[at]}, Options{},
			))(t)
			if machine := e.Fits[f]; !(math.Abs(machine.Objective-own.Objective) <= defaultTolerance*sizeOf(own)) {
				t.Errorf("%+v: objective %v, alone %v", pars[at], machine.Objective, own.Objective)
			}
			for _, i := range heldOut(parts, f) {
				row := make([]float32, 0, n)
				for _, s := range own.Support {
					row = append(row, m.Row(i)[s])
				}
				// Two solutions of gap ε have objectives that are less than ε·Σ|β| apart, so ‖w -
				// w'‖² < 2ε·Σ|β|, and K = 1 on the diagonal.
				bound := 2 * math.Sqrt(2*defaultTolerance*sizeOf(own))
				if !(math.Abs(own.Decide(row)-e.Values[i]) <= bound) {
					t.Errorf("document %d is estimated as %v, alone %v", i, e.Values[i], own.Decide(row))
				}
				loss += (e.Values[i] - targets[i]) * (e.Values[i] - targets[i])
			}
		}
		if loss/n > 0.2 {
			t.Errorf("%+v: mean squared error %v", pars[at], loss/n)
		}
	}
	cold := musttest.Get((&RegressionTrial{Targets: targets, Parts: parts}).Validate(ctx, m, pars[:1], nil, Options{}))(t)
	warm, err := (&RegressionTrial{Targets: targets, Parts: parts}).Validate(ctx, m, pars[:1], cold[0], Options{})
	if err != nil {
		t.Fatal(err)
	}
	for f, machine := range warm[0].Fits {
		if machine.Iterations > cold[0].Fits[f].Iterations/10 {
			t.Errorf("%d steps from the solution, %d from nothing", machine.Iterations, cold[0].Fits[f].Iterations)
		}
	}
	for what, run := range map[string]func() error{
		"C": func() error {
			_, err := (&RegressionTrial{Targets: targets, Parts: parts}).Validate(
				ctx, m, []Regression{{C: -1}}, nil, Options{},
			)
			return err
		},
		"targets": func() error {
			_, err := (&RegressionTrial{Targets: targets[1:], Parts: parts}).Validate(ctx, m, pars, nil, Options{})
			return err
		},
		"NaN": func() error {
			_, err := (&RegressionTrial{
				Targets: slices.Repeat([]float64{math.NaN()}, n), Parts: parts,
			}).Validate(ctx, m, pars, nil, Options{})
			return err
		},
		"parts": func() error {
			_, err := (&RegressionTrial{Targets: targets, Parts: make([]int, n)}).Validate(ctx, m, pars, nil, Options{})
			return err
		},
		"a start": func() error {
			_, err := (&RegressionTrial{Targets: targets, Parts: parts}).Validate(ctx, m, pars, &Estimates{}, Options{})
			return err
		},
		"no choice": func() error {
			_, err := (&RegressionTrial{Targets: targets, Parts: parts}).Validate(ctx, m, nil, nil, Options{})
			return err
		},
	} {
		if run() == nil {
			t.Errorf("%s: no error", what)
		}
	}
}
