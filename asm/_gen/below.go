package main

import (
	"github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// below adds the search for small elements, in AVX2 alone: it reads 32 elements at a time, and nearly always finds nothing.
func below(c *build.Context) {
	g := &gen{Context: c, isa: isas[0], data: &constants{at: map[uint32]operand.Mem{}}}
	g.function("belowAVX2", "func(index []uint32, c []float32, limit float32) int")
	g.Doc("belowAVX2 is belowGeneric for AVX2.")
	index := g.Load(g.Param("index").Base(), g.GP64())
	from := g.Load(g.Param("c").Base(), g.GP64())
	n := g.Load(g.Param("c").Len(), g.GP64())
	limit, all := g.XMM(), g.YMM()
	g.Load(g.Param("limit"), limit)
	g.VBROADCASTSS(limit, all)
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
		g.VMOVUPS(block(i), masks[i])
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
	g.VMOVSS(operand.Mem{Base: from, Index: at, Scale: 4}, x)
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
