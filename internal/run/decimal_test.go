package run

import (
	"math"
	"testing"
)

func TestRoundToDigits(t *testing.T) {
	for _, c := range []struct {
		v      float64
		digits int
		want   float64
	}{
		{3 * 0.1, 12, 0.3}, {2.4000000000000004, 12, 2.4}, {77.08, 1, 80}, {0.0449, 1, 0.04}, {-1234567, 6, -1.23457e6},
		{0, 3, 0},
		{5, 0, 5}, {math.MaxFloat64, 1, math.Inf(1)}, {math.Inf(-1), 2, math.Inf(-1)},
	} {
		if got := RoundSignificant(c.v, c.digits); got != c.want {
			t.Errorf("%v with %d digits is %v, expected %v", c.v, c.digits, got, c.want)
		}
	}
	if got := RoundSignificant(math.NaN(), 3); got == got {
		t.Errorf("NaN is %v", got)
	}
}
