package main

import (
	"math"

	"github.com/gramengine/gram/asm/internal/layout"
	. "github.com/mmcloughlin/avo/operand"
)

// leasts adds the kernels for Kernels.Min, which computes minima of groups of lines.
func leasts(f file) {
	for _, set := range isas {
		f.gen(set).minOfLines()
	}
}

// minOfLines generates the assembly of minGeneric. The minima of a group stay in registers during
// the pass over its lines. Minimum and maximum instructions then insert the minima into the levels.
func (g *gen) minOfLines() {
	g.begin("least", "func(least []float32, levels int, c []float32, stride, lines, places, group int)",
		"is minGeneric for a multiple of 32 places.")
	least := g.base("least")
	levels := g.param("levels")
	from := g.base("c")
	stride := g.param("stride")
	lines := g.param("lines")
	places := g.param("places")
	group := g.param("group")
	g.SHLQ(U8(2), stride)
	at := g.GP64()
	g.XORQ(at, at)
	wide := layout.SelectBlock / g.lanes

	g.Label("block")
	g.CMPQ(at, places)
	g.JGE(LabelRef("done"))
	line, left := g.GP64(), g.GP64()
	g.LEAQ(element(from, at, 4), line)
	g.MOVQ(lines, left)

	g.Label("group")
	g.TESTQ(left, left)
	g.JLE(LabelRef("next"))
	count := g.GP64()
	g.MOVQ(group, count)
	g.CMPQ(left, count)
	g.CMOVQLT(left, count)
	g.SUBQ(count, left)
	m := g.all(float32(math.Inf(1)), wide)
	g.Label("line")
	for i := range m {
		v := g.reg()
		g.VMOVUPS(Mem{Base: line}.Offset(4*g.lanes*i), v)
		g.VMINPS(m[i], v, m[i]) // if v is NaN, the result is m[i], the second operand
	}
	g.ADDQ(stride, line)
	g.DECQ(count)
	g.JNZ(LabelRef("line"))

	level, more := g.GP64(), g.GP64()
	g.LEAQ(element(least, at, 4), level)
	g.MOVQ(levels, more)
	g.Label("level")
	g.DECQ(more)
	g.JL(LabelRef("group"))
	for i := range m {
		kept, lower := g.reg(), g.reg()
		g.VMOVUPS(Mem{Base: level}.Offset(4*g.lanes*i), kept)
		g.VMINPS(kept, m[i], lower)
		g.VMAXPS(m[i], kept, m[i])
		g.VMOVUPS(lower, Mem{Base: level}.Offset(4*g.lanes*i))
	}
	g.LEAQ(element(level, places, 4), level)
	g.JMP(LabelRef("level"))

	g.Label("next")
	g.ADDQ(U8(layout.SelectBlock), at)
	g.JMP(LabelRef("block"))
	g.Label("done")
	g.end()
}
