package main

import (
	"github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// finish adds the turn from cosines to c, in AVX2 alone, which keeps up with memory: it takes 32 elements at a time, and nearly always finds
// none that is small.
func finish(c *build.Context) {
	g := &gen{Context: c, isa: isas[0], data: &constants{at: map[uint32]operand.Mem{}}}
	g.function("finishAVX2", "func(index []uint32, c []float32, limit float32) int")
	g.Doc("finishAVX2 is finishGeneric for AVX2.")
	index := g.Load(g.Param("index").Base(), g.GP64())
	from := g.Load(g.Param("c").Base(), g.GP64())
	n := g.Load(g.Param("c").Len(), g.GP64())
	limit, all := g.XMM(), g.YMM()
	g.Load(g.Param("limit"), limit)
	g.VBROADCASTSS(limit, all)
	zero, one, two := g.YMM(), g.YMM(), g.YMM()
	g.VXORPS(zero, zero, zero)
	g.VMOVUPS(g.mem(1), one)
	g.VMOVUPS(g.mem(2), two)
	found, at := g.GP64(), g.GP64()
	g.XORQ(found, found)
	g.XORQ(at, at)
	bits, rest := g.GP32(), g.GP32()

	const less = operand.U8(0x11) // ordered a < b
	block := func(i int) operand.Mem { return operand.Mem{Base: from, Index: at, Scale: 4, Disp: 32 * i} }
	g.Label("block")
	left := g.GP64()
	g.MOVQ(n, left)
	g.SUBQ(at, left)
	g.CMPQ(left, operand.U8(32))
	g.JLT(operand.LabelRef("single"))
	masks := make([]reg.VecVirtual, 4)
	for i := range masks {
		masks[i] = g.YMM()
		g.VSUBPS(block(i), one, masks[i])
		g.VMAXPS(masks[i], zero, masks[i]) // the second operand where one is NaN
		g.VMINPS(masks[i], two, masks[i])
		g.VMOVUPS(masks[i], block(i))
		g.VCMPPS(less, all, masks[i], masks[i])
	}
	any := g.YMM()
	either := g.YMM()
	g.VORPS(masks[0], masks[1], any)
	g.VORPS(masks[2], masks[3], either)
	g.VORPS(any, either, any)
	g.VMOVMSKPS(any, bits)
	g.TESTL(bits, bits)
	g.JNE(operand.LabelRef("some"))
	g.ADDQ(operand.U8(32), at)
	g.JMP(operand.LabelRef("block"))

	g.Label("some")
	for i, m := range masks {
		next := g.label("next")
		top := g.label("bit")
		g.VMOVMSKPS(m, bits)
		g.Label(top)
		g.TESTL(bits, bits)
		g.JZ(operand.LabelRef(next))
		place := g.GP64()
		g.BSFL(bits, place.As32())
		g.LEAQ(operand.Mem{Base: at, Index: place, Scale: 1, Disp: 8 * i}, place)
		g.MOVL(place.As32(), operand.Mem{Base: index, Index: found, Scale: 4})
		g.INCQ(found)
		g.LEAL(operand.Mem{Base: bits.As64(), Disp: -1}, rest)
		g.ANDL(rest, bits)
		g.JMP(operand.LabelRef(top))
		g.Label(next)
	}
	g.ADDQ(operand.U8(32), at)
	g.JMP(operand.LabelRef("block"))

	g.Label("single")
	g.CMPQ(at, n)
	g.JGE(operand.LabelRef("done"))
	x := g.XMM()
	g.VSUBSS(operand.Mem{Base: from, Index: at, Scale: 4}, one.AsX(), x)
	g.VMAXSS(x, zero.AsX(), x)
	g.VMINSS(x, two.AsX(), x)
	g.VMOVSS(x, operand.Mem{Base: from, Index: at, Scale: 4})
	g.VUCOMISS(x, limit) // limit above x
	g.JLS(operand.LabelRef("skip"))
	g.MOVL(at.As32(), operand.Mem{Base: index, Index: found, Scale: 4})
	g.INCQ(found)
	g.Label("skip")
	g.INCQ(at)
	g.JMP(operand.LabelRef("single"))
	g.Label("done")
	g.Store(found, g.ReturnIndex(0))
	g.VZEROUPPER()
	g.RET()
}
