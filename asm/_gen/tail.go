package main

import (
	"go/token"
	"go/types"
	"math"
	"math/bits"
	"slices"
	"unsafe"

	"github.com/gramengine/gram/asm/internal/layout"
	"github.com/mmcloughlin/avo/attr"
	"github.com/mmcloughlin/avo/gotypes"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// tails adds the kernels for posting lists and transpositions. AVX2 suffices, because stores of
// single sums are the bottleneck for posting lists, and transpositions move 8×8 blocks.
func tails(f file) {
	g := f.gen(isas[0])
	g.tailAdd()
	g.transpose("transpose8", "func(dst []float32, dstStride int, src []float32, srcStride, rows, cols int)", false)
	g.transpose("tailStore8", "func(dst []float32, dstStride int, src []int32, srcStride, rows, cols int)", true)
}

// tailSignature returns the signature of tailAddGeneric. avo can't parse the type Visit.
func tailSignature() *gotypes.Signature {
	pkg := types.NewPackage("asm", "asm")
	visit := types.NewTypeName(token.NoPos, pkg, "Visit", nil)
	types.NewNamed(visit, types.NewStruct(nil, nil), nil)
	pkg.Scope().Insert(visit)
	signature, err := gotypes.ParseSignatureInPackage(pkg,
		"func(sums []int32, stride int, doc []uint16, value []float32, visits []Visit)")
	if err != nil {
		panic(err)
	}
	return signature
}

// tailAdd generates tailAddAVX2, which adds the products of posting-list entries to sums, eight
// entries at a time. For the last entries of a list, the remaining lanes add 0 to the documents of
// the following entries. Adding zeros costs less than a mispredicted branch.
func (g *gen) tailAdd() {
	g.Function("tailAddAVX2")
	g.Attributes(attr.NOSPLIT)
	g.Signature(tailSignature())
	g.Pragma("noescape")
	g.Doc("tailAddAVX2 is tailAddGeneric for AVX2.")
	sums := g.base("sums")
	stride := g.param("stride")
	doc := g.base("doc")
	value := g.base("value")
	visit := g.base("visits")
	count := g.length("visits")

	var v layout.Visit
	size := int(unsafe.Sizeof(v))
	field := func(offset uintptr) Mem { return Mem{Base: visit, Disp: int(offset)} }
	lanes := static(g, "firstLanes", append(slices.Repeat([]U32{math.MaxUint32}, 8), make([]U32, 8)...)...)
	mask := g.GP64()
	g.LEAQ(lanes, mask)
	g.TESTQ(count, count)
	g.JZ(LabelRef("done"))
	// The lists are scattered in memory. While a list is processed, a later list is prefetched.
	const ahead = 8
	final := g.GP64()
	g.SHLQ(U8(bits.TrailingZeros(uint(size))), count)
	g.LEAQ(element(visit, count, 1).Offset(-size), final)

	g.Label("visit")
	next := g.GP64()
	g.LEAQ(Mem{Base: visit, Disp: ahead * size}, next)
	g.CMPQ(next, final)
	g.CMOVQGT(final, next)
	g.MOVL(Mem{Base: next, Disp: int(unsafe.Offsetof(v.First))}, next.As32())
	g.PREFETCHT0(element(doc, next, 2))
	g.PREFETCHT0(element(value, next, 4))
	g.PREFETCHT0(element(value, next, 4).Offset(cacheLine))

	docs, values, row, n := g.GP64(), g.GP64(), g.GP64(), g.GP64()
	scale := g.YMM()
	g.MOVL(field(unsafe.Offsetof(v.First)), values.As32())
	g.LEAQ(element(doc, values, 2), docs)
	g.LEAQ(element(value, values, 4), values)
	g.MOVL(field(unsafe.Offsetof(v.Column)), row.As32())
	g.IMULQ(stride, row)
	g.LEAQ(element(sums, row, 4), row)
	g.VBROADCASTSS(field(unsafe.Offsetof(v.Scale)), scale)
	g.MOVL(field(unsafe.Offsetof(v.Count)), n.As32())

	products := func() VecVirtual {
		p := g.YMM()
		g.VMULPS(Mem{Base: values}, scale, p)
		g.VCVTPS2DQ(p, p)
		return p
	}
	add := func(p VecVirtual) {
		for half := range 2 {
			x, two := p.AsX(), []GPVirtual{g.GP64(), g.GP64()} // a 64-bit register holds two products
			if half == 1 {
				x = g.XMM()
				g.VEXTRACTI128(U8(1), p, x)
			}
			g.VMOVQ(x, two[0])
			g.VPEXTRQ(U8(1), x, two[1])
			for i := range 4 {
				d := g.GP64()
				g.MOVWLZX(Mem{Base: docs, Disp: 2 * (4*half + i)}, d.As32())
				g.ADDL(two[i/2].As32(), element(row, d, 4))
				if i%2 == 0 {
					g.SHRQ(U8(32), two[i/2])
				}
			}
		}
	}
	g.SUBQ(U8(layout.TailSlack), n)
	g.JLE(LabelRef("last"))
	g.Label("eight")
	add(products())
	g.ADDQ(U8(2*layout.TailSlack), docs)
	g.ADDQ(U8(4*layout.TailSlack), values)
	g.SUBQ(U8(layout.TailSlack), n)
	g.JG(LabelRef("eight"))
	g.Label("last")
	p := products()
	g.NEGQ(n)
	g.VPAND(element(mask, n, 4), p, p)
	add(p)
	g.ADDQ(U8(size), visit)
	g.CMPQ(visit, final)
	g.JLE(LabelRef("visit"))
	g.Label("done")
	g.end()
}

// transpose generates a kernel that transposes 8×8 blocks of float32 or of tail sums. Tail sums are
// converted to float32 and cleared. rows and cols are multiples of 8.
func (g *gen) transpose(name, signature string, sums bool) {
	g.function(name+"AVX2", signature)
	g.Doc(name + "AVX2 transposes the rows and columns that form blocks of 8×8. A portable kernel transposes the rest.")
	dst := g.base("dst")
	dstStride := g.param("dstStride")
	src := g.base("src")
	srcStride := g.param("srcStride")
	rows := g.param("rows")
	cols := g.param("cols")

	// Eight rows of src and dst are addressed as base + {0, 1, 2, 3}·stride, with two bases each.
	scale := func(stride Register) (three Register) {
		g.SHLQ(U8(2), stride)
		t := g.GP64()
		g.LEAQ(element(stride, stride, 2), t)
		return t
	}
	src3 := scale(srcStride)
	dst3 := scale(dstStride)
	at := func(low, high, stride, three Register, i, disp int) Mem {
		m := Mem{Base: low, Disp: disp}
		if i >= 4 {
			m.Base = high
		}
		switch i % 4 {
		case 1, 2:
			m.Index, m.Scale = stride, uint8(i%4)
		case 3:
			m.Index, m.Scale = three, 1
		}
		return m
	}

	// The inner loop runs over the panel's documents, which are the short side, so that each cache
	// line of the long side is loaded once.
	type side struct {
		left      Register
		next, end LabelRef
		advance   func(from, to Register)
	}
	down := side{rows, "rows", "nextRows", func(from, to Register) {
		g.LEAQ(element(from, srcStride, 8), from)
		g.ADDQ(U8(32), to)
	}}
	along := side{cols, "cols", "nextCols", func(from, to Register) {
		g.ADDQ(U8(32), from)
		g.LEAQ(element(to, dstStride, 8), to)
	}}
	outer, inner := down, along
	if sums {
		outer, inner = along, down
	}
	g.Label(outer.next)
	g.CMPQ(outer.left, U8(8))
	g.JLT(LabelRef("done"))
	from, to, left := g.GP64(), g.GP64(), g.GP64()
	fromHigh, toHigh := g.GP64(), g.GP64()
	source := func(i, disp int) Mem { return at(from, fromHigh, srcStride, src3, i, disp) }
	target := func(i int) Mem { return at(to, toHigh, dstStride, dst3, i, 0) }
	g.MOVQ(src, from)
	g.MOVQ(dst, to)
	g.MOVQ(inner.left, left)
	g.Label(inner.next)
	g.CMPQ(left, U8(8))
	g.JLT(outer.end)
	g.LEAQ(element(from, srcStride, 4), fromHigh)
	g.LEAQ(element(to, dstStride, 4), toHigh)

	r := make([]VecVirtual, 8)
	var zero VecVirtual
	if sums {
		zero = g.YMM()
		g.VXORPS(zero, zero, zero)
	}
	for i := range r {
		r[i] = g.YMM()
		if sums {
			g.VCVTDQ2PS(source(i, 0), r[i])
			g.VMULPS(g.mem(1.0/layout.TailOne), r[i], r[i])
			g.VMOVUPS(zero, source(i, 0))
		} else {
			g.VMOVUPS(source(i, 0), r[i])
		}
	}
	// Interleave pairs of rows, then pairs of pairs, then halves.
	t := g.regs(8)
	for i := 0; i < 8; i += 2 {
		g.VUNPCKLPS(r[i+1], r[i], t[i])
		g.VUNPCKHPS(r[i+1], r[i], t[i+1])
	}
	u := g.regs(8)
	for i := 0; i < 8; i += 4 {
		g.VUNPCKLPD(t[i+2], t[i], u[i])
		g.VUNPCKHPD(t[i+2], t[i], u[i+1])
		g.VUNPCKLPD(t[i+3], t[i+1], u[i+2])
		g.VUNPCKHPD(t[i+3], t[i+1], u[i+3])
	}
	for i := range 4 {
		v := g.YMM()
		g.VPERM2F128(U8(0x20), u[i+4], u[i], v)
		g.VMOVUPS(v, target(i))
		w := g.YMM()
		g.VPERM2F128(U8(0x31), u[i+4], u[i], w)
		g.VMOVUPS(w, target(i+4))
	}
	inner.advance(from, to)
	g.SUBQ(U8(8), left)
	g.JMP(inner.next)
	g.Label(outer.end)
	outer.advance(src, dst)
	g.SUBQ(U8(8), outer.left)
	g.JMP(outer.next)
	g.Label("done")
	g.end()
}

// finish adds the kernel that converts cosines to c. AVX2 suffices, because the bottleneck is
// memory bandwidth. The kernel tests up to 32 elements at a time, and usually finds no element
// below the limit.
func finish(f file) {
	g := f.gen(isas[0])
	g.function("finishAVX2", "func(index []uint32, c []float32, limit float32) int")
	g.Doc("finishAVX2 is finishGeneric for AVX2.")
	index := g.base("index")
	from := g.base("c")
	n := g.length("c")
	all := g.reg()
	g.VBROADCASTSS(g.address(g.Param("limit")), all)
	zero, one, two := g.reg(), g.constant(1), g.constant(2)
	g.VXORPS(zero, zero, zero)
	found, bits := g.GP64(), g.GP32()
	g.XORQ(found, found)
	g.blocks32(n, 4, func(at GPVirtual, first Register, wide int) {
		small := g.each(wide, func(i int, v VecVirtual) {
			place := element(from, at, 4).Offset(4 * g.lanes * i)
			g.VSUBPS(g.load32s(place, first), one, v)
			g.VMAXPS(v, zero, v) // NaN stays NaN
			g.VMINPS(v, two, v)
			g.store32s(v, place, first)
			g.VCMPPS(less, all, v, v)
			if first != nil {
				g.VANDPS(first, v, v)
			}
		})
		any, none := g.reg(), g.label("none")
		g.VMOVAPS(small[0], any)
		for _, v := range small[1:] {
			g.VORPS(v, any, any)
		}
		g.VMOVMSKPS(any, bits)
		g.TESTL(bits, bits)
		g.JZ(none)
		for i, v := range small {
			g.VMOVMSKPS(v, bits)
			g.eachBit(bits, func(place GPVirtual) {
				g.LEAQ(element(at, place, 1).Offset(g.lanes*i), place)
				g.MOVL(place.As32(), element(index, found, 4))
				g.INCQ(found)
			})
		}
		g.Label(none)
	})
	g.Store(found, g.ReturnIndex(0))
	g.end()
}
