package svm

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gramengine/gram/internal/learn/model"
	"github.com/gramengine/gram/internal/learn/score"
	"github.com/gramengine/gram/internal/musttest"
	"github.com/gramengine/gram/solver"
)

// divided returns a problem of 90 documents in three classes, with weakly informative decisions.
func divided(scheme solver.Scheme, seed uint64) (f *foldedProblem, c *solver.Classifier, decisions [][]float64) {
	r := rand.New(rand.NewPCG(seed, 1))
	c = &solver.Classifier{Scheme: scheme, Classes: 3, Functions: []*solver.DecisionFunction{{}, {}, {}}}
	f = &foldedProblem{s: &Settings{Scheme: scheme, Calibrated: true}, folds: 3}
	for i := range 90 {
		f.foldOf = append(f.foldOf, i/3%3)
		if scheme == solver.MultiLabel {
			f.sets = append(f.sets, []int{i % 3})
		} else {
			f.labels = append(f.labels, i%3)
		}
		decisions = append(decisions, make([]float64, 3))
	}
	for m, positive := range f.signs(scheme, 3) {
		for i := range decisions {
			decisions[i][m] = r.NormFloat64() + float64(positive(i))/2
		}
	}
	return f, c, decisions
}

// redrawn replaces the decision values for the documents of a fold.
func redrawn(f *foldedProblem, decisions [][]float64, part int) [][]float64 {
	_, _, others := divided(f.s.Scheme, 9)
	out := slices.Clone(decisions)
	for i := range out {
		if f.foldOf[i] == part {
			out[i] = others[i]
		}
	}
	return out
}

// Sigmoids and temperatures for a fold don't depend on the fold's decision values, bit for bit.
// Sigmoids and temperatures for new documents depend on all folds.
func TestCalibrationIsOfOtherParts(t *testing.T) {
	for _, scheme := range []solver.Scheme{solver.OneVsOne, solver.OneVsRest, solver.MultiLabel} {
		f, c, decisions := divided(scheme, 3)
		made := func(decisions [][]float64, without, way int) (sigmoids []solver.Sigmoid, at *solver.Temperature) {
			fit := musttest.Get(f.fit(t.Context(), c, decisions, without))(t)
			if f.sets == nil {
				musttest.NoError(t, f.fitTemperature(fit, decisions, without, way))
			}
			for _, m := range fit.Functions {
				sigmoids = append(sigmoids, *m.Sigmoid)
			}
			return sigmoids, fit.Temperature
		}
		// tempered returns the temperature if other decision values keep the same sigmoids.
		tempered := func(others [][]float64, without, way int) float64 {
			fit := musttest.Get(f.fit(t.Context(), c, decisions, without))(t)
			musttest.NoError(t, f.fitTemperature(fit, others, without, way))
			return fit.Temperature.T
		}
		for part := range f.folds {
			changed := redrawn(f, decisions, part)
			for way := range calibrationMethods {
				s, at := made(decisions, part, way)
				others, then := made(changed, part, way)
				if !slices.Equal(s, others) {
					t.Errorf("%s: sigmoids without part %d are %v, and %v after a change of it", scheme, part, s, others)
				}
				if (at == nil) != (then == nil) || at != nil && *at != *then {
					t.Errorf("%s: temperature without part %d is %v, and %v after a change of it", scheme, part, at, then)
				}
				all, _ := made(decisions, -1, way)
				others, _ = made(changed, -1, way)
				for m := range all {
					if all[m] == others[m] || all[m] == s[m] {
						t.Errorf("%s: sigmoid %d of all is %v whatever part %d is", scheme, m, all[m], part)
					}
				}
				if !calibrationMethods[way].temperature || f.sets != nil {
					continue
				}
				if a, b := tempered(decisions, -1, way), tempered(changed, -1, way); a == b {
					t.Errorf("%s: the temperature of all is %v whatever part %d is", scheme, a, part)
				}
			}
		}
	}
}

// A calibration evaluates each document by probabilities fitted to the other folds.
func TestCalibrationIsHeldOut(t *testing.T) {
	for _, scheme := range []solver.Scheme{solver.OneVsOne, solver.OneVsRest, solver.MultiLabel} {
		f, c, decisions := divided(scheme, 3)
		tried := calibrationMethods
		if f.sets != nil {
			tried = calibrationMethods[:1]
		}
		best, loss := 0, math.Inf(1)
		for way := range tried {
			var sum score.CalibrationAccumulator
			for part := range f.folds {
				fit := musttest.Get(f.fit(t.Context(), c, decisions, part))(t)
				musttest.NoError(t, f.fitTemperature(fit, decisions, part, way))
				p := make([]float64, 3)
				for i, own := range decisions {
					if f.foldOf[i] != part {
						continue
					}
					musttest.NoError(t, fit.Probabilities(p, own))
					if f.sets != nil {
						sum.AddLabels(p, []int{i % 3})
					} else {
						sum.Add(p, []int{i % 3})
					}
				}
			}
			if own := sum.Calibration().LogLoss; own < loss {
				best, loss = way, own
			}
		}
		fits := slices.Repeat([]*solver.Classifier{c}, f.folds)
		held := &mergedFolds{Prediction: model.Prediction{DecisionValues: decisions}, classifiers: fits}
		way, found, _, err := f.calibration(t.Context(), held)
		if err != nil || way != best || found.LogLoss != loss {
			t.Errorf("%s: way %d, %+v, %v, expected way %d of log loss %v", scheme, way, found, err, best, loss)
		}
	}
}
