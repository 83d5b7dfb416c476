package asm

import "testing"

// A cost is used until it is taken back, by its instruction set alone.
func TestUseCost(t *testing.T) {
	k := Best()
	t.Cleanup(func() { UseCost(k.ISA, nil) })
	own := Cost{1, 2, 3, 4, 5, 6}
	UseCost(k.ISA, &own)
	if got := UsedCost(k); got != own {
		t.Errorf("%+v, expected %+v", got, own)
	}
	if other := (&Kernels{ISA: "other", Cost: Cost{HeadValue: 9}}); UsedCost(other) != other.Cost {
		t.Errorf("another set has %+v", UsedCost(other))
	}
	UseCost(k.ISA, nil)
	if got := UsedCost(k); got != k.Cost {
		t.Errorf("%+v, expected that of the table", got)
	}
	if got := own.Of(Cost{1, 10, 100, 1e3, 1e4, 1e5}); got != 654321 {
		t.Errorf("the cost of some parts is %v, expected 654321", got)
	}
}
