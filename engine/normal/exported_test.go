package normal_test

import (
	"testing"

	"github.com/gramengine/gram/engine/normal"
	"github.com/gramengine/gram/internal/doortest"
	"github.com/gramengine/gram/internal/musttest"
	"github.com/gramengine/gram/sparse"
)

func TestDoors(t *testing.T) {
	points := musttest.Get(sparse.FromDense(5, 2, []float32{1, 2, 2, 1, 3, 3, 5, 4, 1, 1}))(t)
	of := []int32{0, 0, 1, 1, 1}
	d := musttest.Get(normal.Fit(t.Context(), points, of, 2))(t)
	vectors := musttest.Get(d.Vectors(7))(t)
	x := musttest.Get(sparse.Embedding{}.Fit(vectors).Transform(vectors))(t)
	heat := musttest.Get(normal.NewHeat(t.Context(), 0.5, 3, false, d))(t)
	doortest.Run(t, doortest.Package{
		Good: []any{points, d, x, heat, &normal.SpreadError{}, &normal.DeviationError{}},
		Calls: [][]any{
			{normal.NewHeat, 0.5, 3, false}, {normal.Fit, points, of, 2}, {normal.FitIn, points, of, 2, []uint32{0, 1}},
			{normal.Of}, {"Distributions.Vectors", 7}, {"Heat.Against", d, 1, []float32{0, 0}},
		},
	})
}
