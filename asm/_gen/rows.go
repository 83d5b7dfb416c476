package main

import (
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// The size of a slice in memory.
const sliceBytes = 24

func rows(f file) {
	for _, set := range isas {
		f.gen(set).addRows()
	}
	g := f.gen(isas[0])
	g.prefetch()
	g.gather()
}

// cacheLine is the size of a line of the caches, in bytes.
const cacheLine = 64

// prefetch asks for the lines of pieces of rows, to come into the second-level cache: the first-level one has no room for many.
func (g *gen) prefetch() {
	g.function("prefetch", "func(rows [][]float32, from, to int)")
	g.Doc("prefetch is prefetchGeneric.")
	rows := g.Load(g.Param("rows").Base(), g.GP64())
	count := g.Load(g.Param("rows").Len(), g.GP64())
	from := g.Load(g.Param("from"), g.GP64())
	to := g.Load(g.Param("to"), g.GP64())
	g.TESTQ(count, count)
	g.JZ(operand.LabelRef("done"))
	g.Label("row")
	row, at, end := g.GP64(), g.GP64(), g.GP64()
	g.MOVQ(operand.Mem{Base: rows}, row)
	g.LEAQ(operand.Mem{Base: row, Index: from, Scale: 4}, at)
	g.LEAQ(operand.Mem{Base: row, Index: to, Scale: 4}, end)
	g.ANDQ(operand.I32(-cacheLine), at)
	g.Label("line")
	g.CMPQ(at, end)
	g.JGE(operand.LabelRef("next"))
	g.PREFETCHT1(operand.Mem{Base: at})
	g.ADDQ(operand.U8(cacheLine), at)
	g.JMP(operand.LabelRef("line"))
	g.Label("next")
	g.ADDQ(operand.U8(sliceBytes), rows)
	g.DECQ(count)
	g.JNZ(operand.LabelRef("row"))
	g.Label("done")
	g.RET()
}

// addRows is addRowsGeneric. Sums stay in registers while the rows pass: a block of columns takes as many registers as there are to spare, the columns
// after the last block half as many each time, and the last few of all a mask. A value takes one load, which widens it, and one multiply-add.
func (g *gen) addRows() {
	g.begin("addRows", "func(sum []float64, rows [][]float32, from int, by []float64)", "is addRowsGeneric.")
	sum := g.Load(g.Param("sum").Base(), g.GP64())
	n := g.Load(g.Param("sum").Len(), g.GP64()).(reg.GPVirtual)
	count := g.Load(g.Param("rows").Len(), g.GP64())
	rows := g.Load(g.Param("rows").Base(), g.GP64())
	by := g.Load(g.Param("by").Base(), g.GP64())
	column := g.Load(g.Param("from"), g.GP64()) // of the row, while sum moves on with it
	g.TESTQ(count, count)
	g.JZ(operand.LabelRef("done"))

	// through passes all rows over the sums in registers.
	through := func(sums vec, widen func(m operand.Mem, to reg.VecVirtual)) {
		next := g.label("row")
		row, r, at := g.GP64(), g.GP64(), g.GP64()
		factor := g.reg()
		g.MOVQ(rows, at)
		g.XORQ(r, r)
		g.Label(next)
		g.MOVQ(operand.Mem{Base: at}, row)
		g.VBROADCASTSD(operand.Mem{Base: by, Index: r, Scale: 8}, factor)
		for i, s := range sums {
			v := g.reg()
			widen(operand.Mem{Base: row, Index: column, Scale: 4, Disp: 4 * g.doubles() * i}, v)
			g.VFMADD231PD(v, factor, s)
		}
		g.ADDQ(operand.U8(sliceBytes), at)
		g.INCQ(r)
		g.CMPQ(r, count)
		g.JL(operand.LabelRef(next))
	}
	most := 8
	if g.lanes == 16 {
		most = 16
	}
	for wide := most; wide > 0; wide /= 2 {
		again, fewer := g.label("block"), g.label("fewer")
		columns := wide * g.doubles()
		g.Label(again)
		g.CMPQ(n, operand.U32(columns))
		g.JL(operand.LabelRef(fewer))
		sums := g.regs(wide)
		for i, s := range sums {
			g.VMOVUPD(operand.Mem{Base: sum, Disp: 8 * g.doubles() * i}, s)
		}
		through(sums, func(m operand.Mem, to reg.VecVirtual) { g.VCVTPS2PD(m, to) })
		for i, s := range sums {
			g.VMOVUPD(s, operand.Mem{Base: sum, Disp: 8 * g.doubles() * i})
		}
		g.ADDQ(operand.U32(8*columns), sum)
		g.ADDQ(operand.U32(columns), column)
		g.SUBQ(operand.U32(columns), n)
		if wide == most {
			g.JMP(operand.LabelRef(again))
		}
		g.Label(fewer)
	}
	g.TESTQ(n, n)
	g.JZ(operand.LabelRef("done"))
	s, m := g.reg(), operand.Mem{Base: sum}
	first := g.someFirst(n)
	g.load64(m, first, s)
	through(vec{s}, func(m operand.Mem, to reg.VecVirtual) { g.load32(m, first, to) })
	g.store64(s, m, first)
	g.Label("done")
	g.VZEROUPPER()
	g.RET()
}

// gather copies scattered elements, by whole registers of its own: the gather instruction takes longer on most processors than as many loads.
func (g *gen) gather() {
	g.function("gather", "func(dst, src []float32, index []int32)")
	g.Doc("gather is gatherGeneric.")
	dst := g.Load(g.Param("dst").Base(), g.GP64())
	src := g.Load(g.Param("src").Base(), g.GP64())
	index := g.Load(g.Param("index").Base(), g.GP64())
	n := g.Load(g.Param("index").Len(), g.GP64()).(reg.GPVirtual)
	i := g.GP64()
	g.XORQ(i, i)
	one := func(at int) {
		from, v := g.GP64(), g.GP32()
		g.MOVL(operand.Mem{Base: index, Index: i, Scale: 4, Disp: 4 * at}, from.As32())
		g.MOVL(operand.Mem{Base: src, Index: from, Scale: 4}, v)
		g.MOVL(v, operand.Mem{Base: dst, Index: i, Scale: 4, Disp: 4 * at})
	}
	const unrolled = 8
	g.SUBQ(operand.U8(unrolled-1), n)
	g.loop(i, n, unrolled, func() {
		for at := range unrolled {
			one(at)
		}
	})
	g.ADDQ(operand.U8(unrolled-1), n)
	g.loop(i, n, 1, func() { one(0) })
	g.RET()
}

// rowSums adds the kernels that add up multiples of rows. No operation is fused: the bits are those of the portable form.
func rowSums(f file) {
	for _, set := range isas {
		f.gen(set).rowSums()
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
