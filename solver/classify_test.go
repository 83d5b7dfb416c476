package solver

import (
	"cmp"
	"context"
	"math"
	"testing"

	"github.com/gramengine/gram/internal/musttest"
	"github.com/gramengine/gram/internal/run"
)

// checkOptimal checks a decision function against the definition of its problem: box constraints,
// equality constraint, and a violation of the optimality conditions below the tolerance. It
// recomputes all values in float64 from the coefficients.
func checkOptimal(
	t *testing.T, m *Dense, docs []int, positive []bool, c [2]float64, got *DecisionFunction, tol float64,
) {
	t.Helper()
	coef := map[int]float64{}
	for s, doc := range got.Support {
		coef[doc] = got.Coef[s]
	}
	hi, lo, sum, size, objective := math.Inf(-1), math.Inf(1), 0.0, 0.0, 0.0
	for i, doc := range docs {
		y, bound := -1.0, c[1]
		if positive[i] {
			y, bound = 1, c[0]
		}
		alpha := y * coef[doc]
		if !(alpha >= 0 && alpha <= bound) {
			t.Fatalf("α of document %d is %v, expected 0 to %v", doc, alpha, bound)
		}
		sum += coef[doc]
		size += alpha
		score := y
		for s, other := range got.Support {
			score -= got.Coef[s] * float64(m.Row(doc)[other])
		}
		objective -= coef[doc] * (score + y) / 2
		if y > 0 && alpha < bound || y < 0 && alpha > 0 {
			hi = max(hi, score)
		}
		if y > 0 && alpha > 0 || y < 0 && alpha < bound {
			lo = min(lo, score)
		}
	}
	// Each of about a thousand steps rounds a sum of this size.
	slack := 1e-11 * (1 + size)
	if !(math.Abs(sum) <= slack) {
		t.Errorf("Σ yα is %v, expected 0 within %v", sum, slack)
	}
	if !(hi-lo <= tol+slack) {
		t.Errorf("violation %v, expected at most %v", hi-lo, tol)
	}
	if !(math.Abs(objective-got.Objective) <= slack) {
		t.Errorf("objective %v, by the coefficients it is %v", got.Objective, objective)
	}
	if !got.Converged {
		t.Errorf("not converged after %d iterations, gap %v", got.Iterations, got.Gap)
	}
}

func TestBinaryIsOptimal(t *testing.T) {
	m, x := gaussian(t, 1, 300, 5, 0.2)
	positive, docs := noisySigns(1, x), run.Range(0, 300)
	for _, opt := range []Options{{}, {Tolerance: 1e-7}, {workingSet: 4}, {workingSet: 10, DisableShrinking: true}} {
		for _, c := range []float64{1e-6, 0.1, 1, 10, 1000} {
			par := Parameters{Regularization: Regularization{C: c}, Weights: []float64{1, 2}}
			got := musttest.Get(trainBinary(context.Background(), m, docs, positive, par, opt))(t)
			checkOptimal(t, m, docs, positive, [2]float64{c, 2 * c}, got, cmp.Or(opt.Tolerance, defaultTolerance))
		}
	}
}
