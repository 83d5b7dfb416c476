package solver

import (
	"math"
	"testing"

	"github.com/gramengine/gram/internal/musttest"
)

// A warm start from a solution for nearly the same documents is feasible. Variables at a bound stay
// there if the others can satisfy Σ yα = 0.
func TestBeginAt(t *testing.T) {
	for _, q := range []struct {
		name        string
		coef, upper []float64 // positive and negative documents alternate
		want        []float64
	}{
		{"balanced", []float64{1, -1, 0.5, -0.5}, []float64{1, 1, 1, 1}, []float64{1, 1, 0.5, 0.5}},
		{"free ones make up", []float64{1, -0.75, 0.5, -0.5}, []float64{1, 1, 1, 1}, []float64{1, 0.75, 0.25, 0.5}},
		{"all make up", []float64{1, -0.5, 0.25, 0}, []float64{1, 1, 1, 1}, []float64{0.4, 0.5, 0.1, 0}},
		{"lesser C", []float64{2, -1, 0.25, -1.25}, []float64{0.5, 1, 0.5, 0.5}, []float64{0.5, 0.5, 0.25, 0.25}},
		{"other sign", []float64{-1, -1, 0.5, -0.5}, []float64{1, 1, 1, 1}, []float64{0, 1. / 3, 0.5, 0.5 / 3}},
		{"one class", []float64{1, 0, 1, 0}, []float64{1, 1, 1, 1}, []float64{0, 0, 0, 0}},
		{"a rounding", []float64{1, -1, 1, -(1 - 1e-15)}, []float64{1, 1, 1, 1 - 1e-15}, []float64{1, 1, 1, 1 - 1e-15}},
	} {
		d := emptyDual([]int{0, 1, 2, 3}, 1)
		copy(d.upper, q.upper)
		copy(d.sign, []int8{1, -1, 1, -1})
		d.applyStart(initialSolutionFrom(&DecisionFunction{Support: d.docs, Coef: q.coef}), true)
		var sum float64
		for i, a := range d.alpha {
			sum += float64(d.sign[i]) * a
			if !(math.Abs(a-q.want[i]) <= 1e-12) {
				t.Errorf("%s: α = %v, expected %v", q.name, d.alpha, q.want)
				break
			}
		}
		if !(math.Abs(sum) <= 1e-12) {
			t.Errorf("%s: Σ yα = %v, expected 0", q.name, sum)
		}
	}
}

// If all variables end at their bounds, rho is the midpoint of the allowed interval for any warm
// start. A variable within rounding error of its bound counts as bounded.
func TestStartEndsAtBounds(t *testing.T) {
	const n = 300
	bounded := 0
	for seed := range uint64(12) {
		m, _ := gaussian(t, seed, n, 20, 0.01)
		labels := musttest.MakeSlice(n, func(i int) int { return i % 2 })
		of := func(c float64, start *Classifier) *Classifier {
			p := Training{Labels: labels, Classes: 2, Parameters: withC(c), StartFrom: start}
			return musttest.Get(Train(t.Context(), m, p, Options{}))(t)
		}
		c := 0.003 * float64(seed+1)
		want, got := of(c, nil).Functions[0], of(c, of(300*c, nil)).Functions[0]
		free := false
		for _, a := range want.Coef {
			free = free || math.Abs(a) != c
		}
		if free || len(want.Coef) < n {
			continue
		}
		bounded++
		if !(math.Abs(got.Rho-want.Rho) <= 1e-9) {
			t.Errorf("C = %v: offset %v from a start, %v without", c, got.Rho, want.Rho)
		}
	}
	if bounded < 4 {
		t.Errorf("all variables are at their bounds in %d problems: the test doesn't reach what it should", bounded)
	}
}
