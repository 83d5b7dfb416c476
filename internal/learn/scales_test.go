package learn

import (
	"slices"
	"testing"

	"github.com/gramengine/gram/internal/musttest"
	"github.com/gramengine/gram/sparse"
)

func TestNoCounts(t *testing.T) {
	alike := [][]float32{{1, 2, 0}, {3, 1, 1}, {0, 2, 5}, {2, 2, 2}}
	unlike := [][]float32{{1, 2000, 0}, {3, 100, 1}, {0, 200, 5}, {2, 5000, 2}}
	rare := [][]float32{{0, 2000, 0, 1}, {0, 0, 1, 1}, {1, 0, 0, 1}, {0, 0, 0, 2}, {0, 0, 1, 1}, {1, 0, 0, 1}}
	for _, c := range []struct {
		why, unlike string
		rows        [][]float32
	}{
		{"", "", alike}, {"", "", rare}, {"", "", [][]float32{{}, {}}},
		{"", "standard deviations from 450 (column 2) to 500 (column 1)", [][]float32{{0, 1000}, {1000, 100}}},
		{"fractions", "a mean of 150 and a standard deviation of 0.5 (column 1)", [][]float32{{150, 0.5}, {151, 3}}},
		{"columns with different scales", "standard deviations from 1.12 (column 1) to 1.98e+03 (column 2)", unlike},
		{"one column", "", [][]float32{{1}, {5}, {9}}},
		{"fractions", "", [][]float32{{1, 0.5}, {2, 3}}},
		{ReasonNegative, "", [][]float32{{1, -2}, {2, 3}}},
	} {
		data := slices.Concat(c.rows...)
		m := musttest.Get(sparse.FromDense(len(c.rows), len(c.rows[0]), data))(t)
		if why, unlike := NonCountReason(m), ScalingReason(m); why != c.why || unlike != c.unlike {
			t.Errorf("%v: %q, %q, expected %q, %q", c.rows, why, unlike, c.why, c.unlike)
		}
	}
}
