package main

import (
	"github.com/gramengine/gram/asm/internal/layout"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// peaks adds the kernels that measure the processor: multiply-adds in registers, and memory reads.
func peaks(f file) {
	for _, set := range isas {
		g := f.gen(set)
		g.peak()
		g.read()
	}
}

// peak uses 12 registers of sums, more than the eight that hide a latency of four cycles at two
// multiply-adds per cycle.
func (g *gen) peak() {
	const chains = layout.PeakSums / 16
	g.function("peak"+g.suffix, "func(sum []float32, x, y float32, rounds int)")
	g.Doc("peak" + g.suffix + " is peakGeneric for " + g.suffix + ".")
	sum := g.base("sum")
	left := g.length("sum")
	x, y := g.reg(), g.reg()
	g.VBROADCASTSS(g.address(g.Param("x")), x)
	g.VBROADCASTSS(g.address(g.Param("y")), y)
	rounds := g.param("rounds")
	n := g.GP64()
	s := g.regs(chains)

	g.Label("group")
	g.SUBQ(U32(chains*g.lanes), left)
	g.JLT(LabelRef("done"))
	for i, r := range s {
		g.VMOVUPS(Mem{Base: sum, Disp: 4 * g.lanes * i}, r)
	}
	g.MOVQ(rounds, n)
	g.Label("round")
	g.DECQ(n)
	g.JLT(LabelRef("store"))
	for _, r := range s {
		g.VFMADD213PS(y, x, r)
	}
	g.JMP(LabelRef("round"))
	g.Label("store")
	for i, r := range s {
		g.VMOVUPS(r, Mem{Base: sum, Disp: 4 * g.lanes * i})
	}
	g.ADDQ(U32(4*chains*g.lanes), sum)
	g.JMP(LabelRef("group"))
	g.Label("done")
	g.end()
}

// read loads eight registers at a time. OR is the cheapest operation on loaded values, and its
// result doesn't depend on the order of the values.
func (g *gen) read() {
	const chains = 8
	g.function("read"+g.suffix, "func(src []float32) uint32")
	g.Doc("read" + g.suffix + " is readGeneric for " + g.suffix + ".")
	from := g.base("src")
	left := g.length("src")
	or := func(a Op, b, dst Register) {
		if g.lanes == 16 {
			g.VPORD(a, b, dst)
		} else {
			g.VPOR(a, b, dst)
		}
	}
	s := g.regs(chains)
	for _, r := range s {
		if g.lanes == 16 {
			g.VPXORD(r, r, r)
		} else {
			g.VPXOR(r, r, r)
		}
	}
	g.Label("block")
	g.SUBQ(U32(chains*g.lanes), left)
	g.JLT(LabelRef("rest"))
	for i, r := range s {
		or(Mem{Base: from, Disp: 4 * g.lanes * i}, r, r)
	}
	g.ADDQ(U32(4*chains*g.lanes), from)
	g.JMP(LabelRef("block"))

	g.Label("rest")
	for n := chains / 2; n > 0; n /= 2 {
		for i := range n {
			or(s[i+n], s[i], s[i])
		}
	}
	if g.lanes == 16 {
		high := g.YMM()
		g.VEXTRACTI64X4(U8(1), s[0], high)
		g.VPOR(high, s[0].AsY(), s[0].AsY())
	}
	half := g.XMM()
	g.VEXTRACTI128(U8(1), s[0].AsY(), half)
	all := s[0].AsX()
	g.VPOR(half, all, all)
	for _, order := range []U8{0x4e, 0xb1} { // swap halves, swap neighbours
		g.VPSHUFD(order, all, half)
		g.VPOR(half, all, all)
	}
	bits := g.GP32()
	g.VMOVD(all, bits)
	g.ADDQ(U32(chains*g.lanes), left)
	g.Label("single")
	g.DECQ(left)
	g.JLT(LabelRef("done"))
	g.ORL(Mem{Base: from}, bits)
	g.ADDQ(U8(4), from)
	g.JMP(LabelRef("single"))
	g.Label("done")
	g.Store(bits, g.ReturnIndex(0))
	g.end()
}
