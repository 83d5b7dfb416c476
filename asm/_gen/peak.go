package main

import (
	"github.com/gramengine/gram/asm/internal/layout"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// peaks adds what measures the machine itself: multiply-adds in registers, and reading.
func peaks(f file) {
	for _, set := range isas {
		g := f.gen(set)
		g.peak()
		g.read()
	}
}

// peak keeps 12 sums in registers, more than the eight that hide a latency of four cycles at two multiply-adds a cycle. All sums take part, 12 registers after
// the other.
func (g *gen) peak() {
	const chains = layout.PeakSums / 16
	g.function("peak"+g.suffix, "func(sum []float32, x, y float32, rounds int)")
	g.Doc("peak" + g.suffix + " is peakGeneric for " + g.suffix + ".")
	sum := g.Load(g.Param("sum").Base(), g.GP64())
	left := g.Load(g.Param("sum").Len(), g.GP64())
	scalar, x, y := g.XMM(), g.reg(), g.reg()
	g.Load(g.Param("x"), scalar)
	g.VBROADCASTSS(scalar, x)
	g.Load(g.Param("y"), scalar)
	g.VBROADCASTSS(scalar, y)
	rounds := g.Load(g.Param("rounds"), g.GP64())
	n := g.GP64()
	s := g.regs(chains)

	g.Label("group")
	g.SUBQ(operand.U32(chains*g.lanes), left)
	g.JLT(operand.LabelRef("done"))
	for i, r := range s {
		g.VMOVUPS(operand.Mem{Base: sum, Disp: 4 * g.lanes * i}, r)
	}
	g.MOVQ(rounds, n)
	g.Label("round")
	g.DECQ(n)
	g.JLT(operand.LabelRef("store"))
	for _, r := range s {
		g.VFMADD213PS(y, x, r)
	}
	g.JMP(operand.LabelRef("round"))
	g.Label("store")
	for i, r := range s {
		g.VMOVUPS(r, operand.Mem{Base: sum, Disp: 4 * g.lanes * i})
	}
	g.ADDQ(operand.U32(4*chains*g.lanes), sum)
	g.JMP(operand.LabelRef("group"))
	g.Label("done")
	g.VZEROUPPER()
	g.RET()
}

// read takes eight registers a turn. An OR is the cheapest operation that uses what was loaded, and is the same in any order.
func (g *gen) read() {
	const chains = 8
	g.function("read"+g.suffix, "func(src []float32) uint32")
	g.Doc("read" + g.suffix + " is readGeneric for " + g.suffix + ".")
	from := g.Load(g.Param("src").Base(), g.GP64())
	left := g.Load(g.Param("src").Len(), g.GP64())
	or := func(a operand.Op, b, dst reg.Register) {
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
	g.SUBQ(operand.U32(chains*g.lanes), left)
	g.JLT(operand.LabelRef("rest"))
	for i, r := range s {
		or(operand.Mem{Base: from, Disp: 4 * g.lanes * i}, r, r)
	}
	g.ADDQ(operand.U32(4*chains*g.lanes), from)
	g.JMP(operand.LabelRef("block"))

	g.Label("rest")
	for n := chains / 2; n > 0; n /= 2 {
		for i := range n {
			or(s[i+n], s[i], s[i])
		}
	}
	if g.lanes == 16 {
		high := g.YMM()
		g.VEXTRACTI64X4(operand.U8(1), s[0], high)
		g.VPOR(high, s[0].AsY(), s[0].AsY())
	}
	half := g.XMM()
	g.VEXTRACTI128(operand.U8(1), s[0].AsY(), half)
	all := s[0].AsX()
	g.VPOR(half, all, all)
	for _, order := range []operand.U8{0x4e, 0xb1} { // swap halves, swap neighbours
		g.VPSHUFD(order, all, half)
		g.VPOR(half, all, all)
	}
	bits := g.GP32()
	g.VMOVD(all, bits)
	g.ADDQ(operand.U32(chains*g.lanes), left)
	g.Label("single")
	g.DECQ(left)
	g.JLT(operand.LabelRef("done"))
	g.ORL(operand.Mem{Base: from}, bits)
	g.ADDQ(operand.U8(4), from)
	g.JMP(operand.LabelRef("single"))
	g.Label("done")
	g.Store(bits, g.ReturnIndex(0))
	g.VZEROUPPER()
	g.RET()
}
