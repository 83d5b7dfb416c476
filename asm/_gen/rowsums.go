package main

import (
	"github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// rowSums adds the kernels that add up multiples of rows. No operation is fused: the bits are those of the portable form.
func rowSums(c *build.Context) {
	for _, set := range isas {
		g := &gen{Context: c, isa: set}
		g.rowSums()
	}
}

// stripRegisters is how many registers hold sums at a time: enough additions in flight to hide the time that one takes, and no more than sixteen registers have room for.
const stripRegisters = 8

// rowSums writes a kernel for a multiple of stripRegisters registers of sums: 32 with AVX2, 64 with AVX-512.
func (g *gen) rowSums() {
	g.begin("sumRows", "func(sum []float64, rows []float32, base int, at []int32, coef []float64)",
		"is rowSumsGeneric for a multiple of 64 sums.")
	sum := g.Load(g.Param("sum").Base(), g.GP64())
	width := g.Load(g.Param("sum").Len(), g.GP64()).(reg.GPVirtual)
	rows := g.Load(g.Param("rows").Base(), g.GP64())
	base := g.Load(g.Param("base"), g.GP64()).(reg.GPVirtual)
	at := g.Load(g.Param("at").Base(), g.GP64())
	count := g.Load(g.Param("at").Len(), g.GP64()).(reg.GPVirtual)
	coef := g.Load(g.Param("coef").Base(), g.GP64())
	stride, strip, s := g.GP64(), g.GP64(), g.GP64()
	g.MOVQ(width, stride)
	g.SHLQ(operand.U8(2), stride) // bytes from row to row
	g.IMULQ(stride, base)
	g.SUBQ(base, rows)
	g.XORQ(strip, strip)
	g.loop(strip, width, stripRegisters*g.doubles(), func() {
		acc := make([]reg.VecVirtual, stripRegisters)
		for i := range acc {
			acc[i] = g.reg()
			g.VMOVUPD(operand.Mem{Base: sum, Index: strip, Scale: 8, Disp: 8 * i * g.doubles()}, acc[i])
		}
		from := g.GP64()
		g.LEAQ(operand.Mem{Base: rows, Index: strip, Scale: 4}, from)
		g.XORQ(s, s)
		g.loop(s, count, 1, func() {
			row, by := g.GP64(), g.reg()
			g.MOVLQSX(operand.Mem{Base: at, Index: s, Scale: 4}, row)
			g.IMULQ(stride, row)
			g.VBROADCASTSD(operand.Mem{Base: coef, Index: s, Scale: 8}, by)
			g.ADDQ(from, row)
			for i := range acc {
				v := g.widen(operand.Mem{Base: row, Disp: 4 * i * g.doubles()})
				g.VMULPD(by, v, v)
				g.VADDPD(v, acc[i], acc[i])
			}
		})
		for i := range acc {
			g.VMOVUPD(acc[i], operand.Mem{Base: sum, Index: strip, Scale: 8, Disp: 8 * i * g.doubles()})
		}
	})
	g.VZEROUPPER()
	g.RET()
}
