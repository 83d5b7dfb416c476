package learners

import "testing"

func TestNearLabels(t *testing.T) {
	for _, c := range []struct {
		a, b string
		near bool
	}{
		{"shiping", "shipping", true}, {"shippping", "shipping", true}, {"shopping", "shipping", true},
		{"shippign", "shipping", true}, {"Shipping", "shipping", true}, {"ship ping", "shipping", true},
		{"class1", "class2", false}, {"-1", "1", false}, {"shpng", "shipping", false},
		{"comp.os", "comp.so", true}, {"returns", "refunds", false},
	} {
		if got := similarLabels(c.a, c.b); got != c.near {
			t.Errorf("%q and %q: %v, expected %v", c.a, c.b, got, c.near)
		}
	}
}
