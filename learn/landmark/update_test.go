package landmark

import (
	"math"
	"slices"
	"testing"

	"github.com/gramengine/gram/internal/musttest"
	"github.com/gramengine/gram/learn/internal/task"
	"github.com/gramengine/gram/sparse"
)

// With documents added and a landmark removed an update ends where one from coefficients of 0 does, in fewer passes.
func TestUpdateFromAnyCoefficients(t *testing.T) {
	const source = "synthetic:docs=300,terms=200,length=15,classes=3,seed=4"
	all := musttest.Get(sparse.Read(t.Context(), source, sparse.Options{}))(t)
	for _, loss := range []Loss{Square, Logistic, Hinge2} {
		s := Settings{Landmarks: 40, Loss: loss, Tolerance: 1e-6}
		old := musttest.Get(Train(t.Context(), all.Select(numbers(0, 280)), s, Options{}))(t)
		zero := *old
		zero.Machines = nil
		for _, m := range old.Machines {
			own := *m
			own.Coefficients, own.Bias = make([]float64, len(m.Coefficients)), 0
			zero.Machines = append(zero.Machines, &own)
		}
		first := numbers(1, 300)
		if loss == Square { // without the first landmark
			terms, values := old.Landmarks.Row(0)
			first = slices.DeleteFunc(numbers(0, 300), func(i int) bool {
				other, counts := all.Documents.Row(i)
				return slices.Equal(terms, other) && slices.Equal(values, counts)
			})
		}
		c := all.Select(first)
		from := func(old *Model) (objective float64, passes, found int) {
			at := musttest.Get(task.Match(t.Context(), old.Landmarks, old.Embedder, nil, nil, c))(t)
			for _, d := range at {
				found += min(d+1, 1)
			}
			m := musttest.Get(Update(t.Context(), c, s, old, at, Options{}))(t)
			for _, q := range m.Machines {
				objective += q.Objective
			}
			return objective, m.Passes, found
		}
		want, most, found := from(&zero)
		got, passes, _ := from(old)
		fewer := passes < most || loss == Square && passes == most // few passes as it is
		if !(math.Abs(got-want) <= 1e-5*want) || !fewer || loss == Square && found != 39 {
			t.Errorf("%s: objective %v in %d passes with %d landmarks found, from 0 %v in %d", loss, got, passes, found, want,
				most)
		}
	}
}

func numbers(from, to int) (out []int) {
	for i := from; i < to; i++ {
		out = append(out, i)
	}
	return out
}
