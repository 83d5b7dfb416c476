package main

import (
	"github.com/gramengine/gram/asm/internal/layout"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// selects adds the kernels that select a tile's small values. They test layout.SelectBlock values
// of a line at a time, and usually select none.
func selects(f file) {
	for _, set := range isas {
		f.gen(set).selectSmall()
	}
}

func (g *gen) selectSmall() {
	g.begin("select", "func(index []uint32, c []float32, stride int, lines, places []float32) int",
		"is selectGeneric for a multiple of 32 places.")
	index := g.base("index")
	from := g.base("c")
	stride := g.param("stride")
	limits := g.base("lines")
	lines := g.length("lines")
	places := g.base("places")
	n := g.length("places")
	g.SHLQ(U8(2), stride)
	found, line := g.GP64(), g.GP64()
	g.XORQ(found, found)
	g.XORQ(line, line) // line index << 16
	bits := g.GP32()

	const atLeast = U8(0x1d) // ordered a >= b
	g.Label("line")
	g.DECQ(lines)
	g.JL(LabelRef("done"))
	limit := g.reg()
	g.VBROADCASTSS(Mem{Base: limits}, limit)
	at := g.GP64()
	g.XORQ(at, at)

	g.Label("block")
	g.CMPQ(at, n)
	g.JGE(LabelRef("next"))
	masks := make([]Register, layout.SelectBlock/g.lanes)
	for i := range masks {
		most := g.reg()
		g.VMAXPS(element(places, at, 4).Offset(4*g.lanes*i), limit, most)
		value := element(from, at, 4).Offset(4 * g.lanes * i)
		if g.lanes == 16 {
			masks[i] = g.K()
		} else {
			masks[i] = most
		}
		g.VCMPPS(atLeast, value, most, masks[i])
	}
	if g.lanes == 16 {
		g.KORTESTW(masks[0], masks[1])
	} else {
		any, either := g.reg(), g.reg()
		g.VORPS(masks[0], masks[1], any)
		g.VORPS(masks[2], masks[3], either)
		g.VORPS(any, either, any)
		g.VMOVMSKPS(any, bits)
		g.TESTL(bits, bits)
	}
	g.JNE(LabelRef("some"))
	g.ADDQ(U8(layout.SelectBlock), at)
	g.JMP(LabelRef("block"))

	g.Label("some")
	for i, m := range masks {
		if g.lanes == 16 {
			g.KMOVW(m, bits)
		} else {
			g.VMOVMSKPS(m, bits)
		}
		g.eachBit(bits, func(place GPVirtual) {
			g.LEAQ(element(at, place, 1).Offset(g.lanes*i), place)
			g.ADDQ(line, place)
			g.MOVL(place.As32(), element(index, found, 4))
			g.INCQ(found)
		})
	}
	g.ADDQ(U8(layout.SelectBlock), at)
	g.JMP(LabelRef("block"))

	g.Label("next")
	g.ADDQ(stride, from)
	g.ADDQ(U8(4), limits)
	g.ADDQ(U32(1<<16), line)
	g.JMP(LabelRef("line"))
	g.Label("done")
	g.Store(found, g.ReturnIndex(0))
	g.end()
}
