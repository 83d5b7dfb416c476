package asm

import "sync"

// Of returns what so many of each part cost, Σ counts·c, in nanoseconds.
func (c Cost) Of(counts Cost) float64 {
	return counts.HeadValue*c.HeadValue + counts.HeadFar*c.HeadFar + counts.HeadDocument*c.HeadDocument +
		counts.TailMatch*c.TailMatch + counts.TailList*c.TailList + counts.L3Byte*c.L3Byte
}

var usedCosts sync.Map // of dot products: an ISA's Cost

// UseCost has engines that are made from now on choose the head for dot products by another cost, as one measured on
// this machine; nil is the table's own. The order of sums goes by the head, so results differ in their bits from those
// by another cost. It may be called at any time, and stays for the process.
func UseCost(isa ISA, c *Cost) {
	if c == nil {
		usedCosts.Delete(isa)
		return
	}
	usedCosts.Store(isa, *c)
}

// UsedCost returns the cost of dot products that engines go by, nothing for no table.
func UsedCost(k *Kernels) Cost {
	if k == nil {
		return Cost{}
	}
	if c, is := usedCosts.Load(k.ISA); is {
		return c.(Cost)
	}
	return k.Cost
}
