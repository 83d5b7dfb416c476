package learn

import (
	"slices"
	"testing"

	"github.com/gramengine/gram/learn/model"
)

// With probabilities a document gets the most probable class whatever the votes say; of several its own, or else
// the first.
func TestMostProbable(t *testing.T) {
	p := &model.Prediction{
		Class: []int{0, 2, 1, 2, 0},
		Probabilities: [][]float64{{0.25, 0.5, 0.25}, {0.5, 0.125, 0.375}, {0.25, 0.375, 0.375},
			{0.25, 0.375, 0.375}, {0.25, 0.375, 0.375}},
	}
	MostProbable(p)
	if want := []int{1, 0, 1, 2, 1}; !slices.Equal(p.Class, want) {
		t.Errorf("classes %v, expected %v", p.Class, want)
	}
}
