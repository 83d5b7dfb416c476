package normal_test

import (
	"testing"

	"github.com/gramengine/gram/engine/normal"
	"github.com/gramengine/gram/internal/doortest"
	"github.com/gramengine/gram/sparse"
)

func TestDoors(t *testing.T) {
	points, err := sparse.FromDense(5, 2, []float32{1, 2, 2, 1, 3, 3, 5, 4, 1, 1})
	if err != nil {
		t.Fatal(err)
	}
	of := []int32{0, 0, 1, 1, 1}
	d, err := normal.Fit(t.Context(), points, of, 2)
	if err != nil {
		t.Fatal(err)
	}
	vectors, err := d.Vectors(7)
	if err != nil {
		t.Fatal(err)
	}
	x, err := sparse.Embedding{}.Fit(vectors).Transform(vectors)
	if err != nil {
		t.Fatal(err)
	}
	heat, err := normal.NewHeat(t.Context(), 0.5, 3, false, d)
	if err != nil {
		t.Fatal(err)
	}
	doortest.Run(t, doortest.Package{
		Good: []any{points, d, x, heat, &normal.SpreadError{}, &normal.DeviationError{}},
		Calls: [][]any{
			{normal.NewHeat, 0.5, 3, false}, {normal.Fit, points, of, 2}, {normal.FitIn, points, of, 2, []uint32{0, 1}},
			{normal.Of}, {"Distributions.Vectors", 7}, {"Heat.Against", d, 1, []float32{0, 0}},
		},
	})
}
