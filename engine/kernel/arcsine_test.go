package kernel

import (
	"math"
	"testing"
)

// The kernel is 2 k₀ - 1 by (2.20) of Cho's thesis, and ngd:shift=pi divided by π. Other tests
// cover maps, bounds, programs and definiteness of all families.
func TestArcsine(t *testing.T) {
	k := MustParse("arcsine").(*kernel)
	degree0, ngd := MustParse("arccos:n=0"), MustParse("ngd:shift=pi")
	for _, c := range distances() {
		got := k.Eval(c, 1, 1)
		if want := 2*degree0.Eval(c, 1, 1) - 1; !(math.Abs(got-want) <= 4*ulp) {
			t.Errorf("at c = %v: found %v, expected %v", c, got, want)
		}
		if want := ngd.Eval(c, 1, 1) / math.Pi; !(math.Abs(got-want) <= 4*ulp*math.Abs(want)) {
			t.Errorf("at c = %v: found %v, expected %v", c, got, want)
		}
		c2, x2, y2 := k.feature(c, 3, 4)
		if !(math.Abs(1-c2-got) <= 4*ulp) || x2 != 1 || y2 != 1 {
			t.Errorf("at c = %v: the feature is %v, %v, %v, expected 1 less %v", c, c2, x2, y2, got)
		}
	}
}
