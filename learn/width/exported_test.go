package width_test

import (
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/gramengine/gram/internal/doortest"
	"github.com/gramengine/gram/learn/width"
)

func TestDoors(t *testing.T) {
	points := mat.NewDense(6, 2, []float64{1, 2, 3, 1, 2, 1, 5, 5, 6, 5, 5, 6})
	set := width.Set{Features: points, Labels: []int32{0, 0, 0, 1, 1, 1}}
	table := doortest.Must(width.Search(t.Context(), set, set, width.Options{}))
	doortest.Run(t, doortest.Package{
		Good:  []any{set, points, table},
		Calls: [][]any{{width.Classify, set, points, 1, 1}, {width.Search}},
	})
}
