package main

import (
	"fmt"
	"math/bits"

	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

func products(f file) {
	for _, set := range isas {
		f.gen(set).multiply("multiply", 4)
		f.gen(set).multiply("multiplyWide", 8)
	}
}

// multiply generates the assembly of multiplyGeneric for matrix elements of the given size in
// bytes. During the pass over the lines, the sums for a block of columns and up to four vectors
// stay in registers. A matrix element is loaded and widened once for up to four vectors. A vector
// element is broadcast once for all columns of the pass.
func (g *gen) multiply(name string, size int) {
	g.begin(name, fmt.Sprintf("func(sum []float64, apart int, c []float%d, stride, lines, width int, "+
		"by []float64, byStride, vectors int)", 8*size), "is multiplyGeneric.")
	width := g.param("width")
	lines := g.param("lines")
	c := g.base("c")
	sum := g.base("sum")
	apart := g.param("apart")
	stride := g.param("stride")
	byStride := g.param("byStride")
	g.SHLQ(U8(3), apart) // from elements to bytes
	g.SHLQ(U8(bits.Len(uint(size))-1), stride)
	g.SHLQ(U8(3), byStride)
	g.TESTQ(lines, lines)
	g.JZ(LabelRef("done"))
	most := 2
	if g.lanes == 16 {
		most = 4
	}
	g.blocks(width, most, func(at GPVirtual, some some, wide int) {
		left, by, place := g.param("vectors"), g.base("by"), g.GP64()
		g.LEAQ(element(sum, at, 8), place)
		for _, count := range []int{4, 2, 1} {
			again, fewer := g.label("vectors"), g.label("fewer")
			g.Label(again)
			g.CMPQ(left, U8(count))
			g.JL(fewer)
			g.product(some, wide, count, multiplication{size, c, at, stride, lines, by, byStride, place, apart})
			g.ADDQ(U8(8*count), by)
			g.SUBQ(U8(count), left)
			g.JMP(again)
			g.Label(fewer)
		}
	})
	g.Label("done")
	g.end()
}

// multiplication holds the addresses of sums, matrix and vectors. Strides are in bytes.
type multiplication struct {
	size                                           int
	c, at, stride, lines, by, byStride, sum, apart GPVirtual
}

// product multiplies a block of columns, which fill wide registers, by count vectors. It adds the
// products to the sums, and advances m.sum to the next vector.
func (g *gen) product(some some, wide, count int, m multiplication) {
	first := g.GP64()
	g.MOVQ(m.sum, first)
	block := func(each func(v, i int, at Mem)) {
		for v := range count {
			for i := range wide {
				each(v, i, Mem{Base: m.sum, Disp: 8 * g.doubles() * i})
			}
			g.ADDQ(m.apart, m.sum)
		}
	}
	sums := make([][]VecVirtual, count)
	block(func(v, _ int, at Mem) { sums[v] = append(sums[v], g.load64(at, some, g.reg())) })
	line, by, k := g.GP64(), g.GP64(), g.GP64()
	g.LEAQ(element(m.c, m.at, uint8(m.size)), line)
	g.MOVQ(m.by, by)
	g.MOVQ(m.lines, k)
	next := g.label("line")
	g.Label(next)
	values := g.each(wide, func(i int, v VecVirtual) {
		if at := (Mem{Base: line, Disp: m.size * g.doubles() * i}); m.size == 4 {
			g.load32(at, some, v)
		} else {
			g.load64(at, some, v)
		}
	})
	for v := range count {
		factor := g.reg()
		g.VBROADCASTSD(Mem{Base: by, Disp: 8 * v}, factor)
		for i, value := range values {
			g.VFMADD231PD(value, factor, sums[v][i])
		}
	}
	g.ADDQ(m.stride, line)
	g.ADDQ(m.byStride, by)
	g.DECQ(k)
	g.JNZ(next)
	g.MOVQ(first, m.sum)
	block(func(v, i int, at Mem) { g.store64(sums[v][i], at, some) })
}
