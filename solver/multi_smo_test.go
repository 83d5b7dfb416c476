package solver

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gramengine/gram/internal/musttest"
	"github.com/gramengine/gram/internal/run"
)

// Problems over the same documents share rows. For one-vs-rest and label sets, fewer rows are
// requested than by separate training runs, and the objectives are the same up to the tolerance.
func TestTeam(t *testing.T) {
	const n, k, tolerance = 700, 6, 1e-3
	m, _ := gaussian(t, 3, n, 8, 2)
	r := rand.New(rand.NewPCG(1, 1))
	labels := make([]int, n) // random labels: nearly every document is a support vector of every class
	for i := range labels {
		labels[i] = r.IntN(k)
	}
	sets := make([][]int, n)
	for i, l := range labels {
		sets[i] = []int{l}
		if i%5 == 0 {
			sets[i] = []int{l, (l + 1) % k}
		}
	}
	docs := run.Range(0, n)
	for name, training := range map[string]Training{
		"one-vs-rest": {Labels: labels, Classes: k, Scheme: OneVsRest, Parameters: withC(5)},
		"weights": {
			Labels: labels, Classes: k, Scheme: OneVsRest, Parameters: Parameters{Regularization: Regularization{C: 2},
				Weights: []float64{1, 3, 0.5}},
		},
		"labels": {LabelSets: sets, Classes: k, Parameters: withC(5)},
		"nu": {Labels: labels, Classes: k, Scheme: OneVsRest,
			Parameters: Parameters{Regularization: Regularization{Nu: 0.1}}},
	} {
		opt := Options{Workers: 2, Tolerance: tolerance, RowBytes: 128 * n * 4}
		together, alone := &counted{Dense: m, t: t}, &counted{Dense: m, t: t}
		c := musttest.Get(Train(t.Context(), together, training, opt))(t)
		for class, got := range c.Functions {
			positive := make([]bool, n)
			for i := range positive {
				positive[i] = labels[i] == class || training.LabelSets != nil && slices.Contains(sets[i], class)
			}
			par := training.Parameters
			par.Weights = nil
			if class < len(training.Weights) {
				par.Weights = []float64{training.Weights[class]}
			}
			want := musttest.Get(trainBinary(t.Context(), alone, docs, positive, par, opt))(t)
			// If a point violates the conditions by the tolerance, its objective exceeds the
			// minimum by at most the tolerance times the distance to the optimum, Σ|Δα| / 2 <= Σ α.
			way := sizeOf(want)
			if !got.Converged || !(math.Abs(got.Objective-want.Objective) <= 2*tolerance*way) {
				t.Errorf("%s: class %d: objective %v, alone %v, converged %v",
					name, class, got.Objective, want.Objective, got.Converged)
			}
		}
		if together.rows > alone.rows {
			t.Errorf("%s: %d rows were asked for together, %d alone", name, together.rows, alone.rows)
		}
	}
}

// A multiSMO takes at most the maximum number of steps for each problem.
func TestTeamEnds(t *testing.T) {
	const n, k, most = 300, 3, 40
	m, x := gaussian(t, 5, n, 4, 0.3)
	c := musttest.Get(Train(t.Context(), m, Training{Labels: classes(x, k), Classes: k, Scheme: OneVsRest}, Options{
		MaxIterations: most,
	}))(t)
	for class, machine := range c.Functions {
		if machine.Converged || machine.Iterations > most || machine.Iterations == 0 {
			t.Errorf("class %d: %d steps, expected at most %d", class, machine.Iterations, most)
		}
	}
}
