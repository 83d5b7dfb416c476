package jet

import (
	"math"
	"testing"
)

// Derivatives of functions that are known: each is a few operations of values of some size, which
// round by 1e-13 at most.
func TestDerivatives(t *testing.T) {
	x := Variable(1.5)
	e := math.Exp(2.25)
	for name, c := range map[string]struct {
		got  Jet
		want [3]float64
	}{
		"x³":         {x.Times(x).Times(x), [3]float64{3.375, 6.75, 9}},
		"x⁻²":        {x.Power(-2), [3]float64{1 / 2.25, -2 / 3.375, 6 / 5.0625}},
		"exp(x²)":    {x.Times(x).Exp(), [3]float64{e, 3 * e, 11 * e}},
		"2 x + 7":    {x.Scaled(2).Plus(Constant(7)), [3]float64{10, 2, 0}},
		"(x³)'":      {x.Power(3).Slope(), [3]float64{6.75, 9, 6}},
		"∫x² + 1":    {x.Times(x).Integral(1), [3]float64{1, 2.25, 3}},
		"√x by x¼ ²": {x.Power(0.25).Times(x.Power(0.25)), x.Power(0.5).Derivatives()},
	} {
		got := c.got.Derivatives()
		for i, want := range c.want {
			if !(math.Abs(got[i]-want) <= 1e-13*math.Max(1, math.Abs(want))) {
				t.Errorf("%s: derivative %d is %v, expected %v", name, i, got[i], want)
			}
		}
	}
}
