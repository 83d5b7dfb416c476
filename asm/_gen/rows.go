package main

import (
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

const sliceBytes = 24

func rows(f file) {
	for _, set := range isas {
		f.gen(set).addRows()
	}
	g := f.gen(isas[0])
	g.prefetch()
	g.gather()
}

const cacheLine = 64

// prefetch generates the prefetch kernel. It loads rows into L2, because the L1 cache is too small.
func (g *gen) prefetch() {
	g.function("prefetch", "func(rows [][]float32, from, to int)")
	g.Doc("prefetch is prefetchGeneric.")
	rows := g.base("rows")
	count := g.length("rows")
	from := g.param("from")
	to := g.param("to")
	g.TESTQ(count, count)
	g.JZ(LabelRef("done"))
	g.Label("row")
	row, at, end := g.GP64(), g.GP64(), g.GP64()
	g.MOVQ(Mem{Base: rows}, row)
	g.LEAQ(element(row, from, 4), at)
	g.LEAQ(element(row, to, 4), end)
	g.ANDQ(I32(-cacheLine), at)
	g.Label("line")
	g.CMPQ(at, end)
	g.JGE(LabelRef("next"))
	g.PREFETCHT1(Mem{Base: at})
	g.ADDQ(U8(cacheLine), at)
	g.JMP(LabelRef("line"))
	g.Label("next")
	g.ADDQ(U8(sliceBytes), rows)
	g.DECQ(count)
	g.JNZ(LabelRef("row"))
	g.Label("done")
	g.RET()
}

// addRows generates the assembly of addRowsGeneric. During the pass over the rows, the sums of a
// block of columns stay in registers. For the remaining columns the block size is halved
// repeatedly, and the last columns use a mask. An element takes one widening load and one
// multiply-add.
func (g *gen) addRows() {
	g.begin("addRows", "func(sum []float64, rows [][]float32, from int, by []float64)", "is addRowsGeneric.")
	sum := g.base("sum")
	n := g.length("sum")
	count := g.length("rows")
	rows := g.base("rows")
	by := g.base("by")
	column := g.param("from") // column of the rows
	g.TESTQ(count, count)
	g.JZ(LabelRef("done"))

	most := 8
	if g.lanes == 16 {
		most = 16
	}
	g.blocks(n, most, func(at GPVirtual, some some, wide int) {
		place := func(i int) Mem { return element(sum, at, 8).Offset(8 * g.doubles() * i) }
		sums := g.each(wide, func(i int, s VecVirtual) { g.load64(place(i), some, s) })
		next := g.label("row")
		row, r, slice := g.GP64(), g.GP64(), g.GP64()
		factor := g.reg()
		g.MOVQ(rows, slice)
		g.XORQ(r, r)
		g.Label(next)
		g.MOVQ(Mem{Base: slice}, row)
		g.VBROADCASTSD(element(by, r, 8), factor)
		for i, s := range sums {
			g.VFMADD231PD(g.load32(element(row, column, 4).Offset(4*g.doubles()*i), some, g.reg()), factor, s)
		}
		g.ADDQ(U8(sliceBytes), slice)
		g.INCQ(r)
		g.CMPQ(r, count)
		g.JL(next)
		for i, s := range sums {
			g.store64(s, place(i), some)
		}
		g.ADDQ(U32(wide*g.doubles()), column)
	})
	g.Label("done")
	g.end()
}

// gather generates the gather kernel. It uses plain loads, because the gather instruction is slower
// on most processors.
func (g *gen) gather() {
	g.function("gather", "func(dst, src []float32, index []int32)")
	g.Doc("gather is gatherGeneric.")
	dst := g.base("dst")
	src := g.base("src")
	index := g.base("index")
	n := g.length("index")
	i := g.GP64()
	g.XORQ(i, i)
	one := func(at int) {
		from, v := g.GP64(), g.GP32()
		g.MOVL(element(index, i, 4).Offset(4*at), from.As32())
		g.MOVL(element(src, from, 4), v)
		g.MOVL(v, element(dst, i, 4).Offset(4*at))
	}
	const unrolled = 8
	g.SUBQ(U8(unrolled-1), n)
	g.loop(i, n, unrolled, func() {
		for at := range unrolled {
			one(at)
		}
	})
	g.ADDQ(U8(unrolled-1), n)
	g.loop(i, n, 1, func() { one(0) })
	g.RET()
}

// rowSums generates the row-sum kernels. No operation is fused, so results are bit-identical to the
// generic version.
func rowSums(f file) {
	for _, set := range isas {
		f.gen(set).rowSums()
	}
}

// stripRegisters is the number of registers that hold sums. Eight independent additions hide the
// latency of an addition, and leave half of the sixteen registers free.
const stripRegisters = 8

// rowSums generates a kernel for multiples of 32 sums with AVX2, and of 64 sums with AVX-512.
func (g *gen) rowSums() {
	g.begin("sumRows", "func(sum []float64, rows []float32, base int, at []int32, coef []float64)",
		"is rowSumsGeneric for a multiple of 64 sums.")
	sum := g.base("sum")
	width := g.length("sum")
	rows := g.base("rows")
	base := g.param("base")
	at := g.base("at")
	count := g.length("at")
	coef := g.base("coef")
	stride, strip, s := g.GP64(), g.GP64(), g.GP64()
	g.MOVQ(width, stride)
	g.SHLQ(U8(2), stride) // bytes from row to row
	g.IMULQ(stride, base)
	g.SUBQ(base, rows)
	g.XORQ(strip, strip)
	g.loop(strip, width, stripRegisters*g.doubles(), func() {
		acc := g.regs(stripRegisters)
		for i := range acc {
			g.VMOVUPD(element(sum, strip, 8).Offset(8*i*g.doubles()), acc[i])
		}
		from := g.GP64()
		g.LEAQ(element(rows, strip, 4), from)
		g.XORQ(s, s)
		g.loop(s, count, 1, func() {
			row, by := g.GP64(), g.reg()
			g.MOVLQSX(element(at, s, 4), row)
			g.IMULQ(stride, row)
			g.VBROADCASTSD(element(coef, s, 8), by)
			g.ADDQ(from, row)
			for i := range acc {
				v := g.widen(Mem{Base: row, Disp: 4 * i * g.doubles()})
				g.VMULPD(by, v, v)
				g.VADDPD(v, acc[i], acc[i])
			}
		})
		for i := range acc {
			g.VMOVUPD(acc[i], element(sum, strip, 8).Offset(8*i*g.doubles()))
		}
	})
	g.end()
}
