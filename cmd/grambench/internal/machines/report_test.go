package machines

import (
	"strings"
	"testing"

	"github.com/gramengine/gram/solver"
)

// Equal thresholds are one, whose value is said.
func TestThresholdsLine(t *testing.T) {
	for _, c := range []struct {
		t    *solver.Thresholds
		want string
	}{
		{nil, ""},
		{&solver.Thresholds{Above: []float64{-0.25, -0.25}, F1: 0.5, Sign: 0.25},
			"one threshold, -0.25, by micro F1 on folds: 50.00%, by the signs 25.00%\n"},
		{&solver.Thresholds{Above: []float64{-0.25, 0.5}, F1: 0.5, Sign: 0.25, AtLeastOne: true},
			"thresholds and at least one label by micro F1 on folds: 50.00%, by the signs 25.00%\n"},
	} {
		var got strings.Builder
		if newThresholdsLine(c.t).write(&got); got.String() != c.want {
			t.Errorf("%q, expected %q", got.String(), c.want)
		}
	}
}
