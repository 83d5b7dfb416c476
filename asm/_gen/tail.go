package main

import (
	"go/token"
	"go/types"
	"math/bits"
	"unsafe"

	"github.com/gramengine/gram/asm/internal/layout"
	"github.com/mmcloughlin/avo/attr"
	"github.com/mmcloughlin/avo/gotypes"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// tails adds the kernels of the tail and the transpositions, in AVX2 alone: the tail is scalar
// work, and transpositions move 8×8 blocks.
func tails(f file) {
	g := f.gen(isas[0])
	g.tailAdd(false)
	g.tailAdd(true)
	g.transpose("transpose8", "func(dst []float32, dstStride int, src []float32, srcStride, rows, cols int)", 4)
	g.transpose("tailStore8", "func(dst []float32, dstStride int, src []float64, srcStride, rows, cols int)", 8)
}

// tailSignature is that of tailAddGeneric or tailDirectGeneric, given its own parameters. It has the
// type Cursor, which avo has to be told of.
func tailSignature(own string) *gotypes.Signature {
	pkg := types.NewPackage("asm", "asm")
	cursor := types.NewTypeName(token.NoPos, pkg, "Cursor", nil)
	types.NewNamed(cursor, types.NewStruct(nil, nil), nil)
	pkg.Scope().Insert(cursor)
	signature, err := gotypes.ParseSignatureInPackage(pkg,
		"func("+own+", doc []uint32, value []float32, cursors []Cursor, base, limit uint32)")
	if err != nil {
		panic(err)
	}
	return signature
}

// tailAdd writes the addition of posting lists: into rows of float64 or, direct, into a tile of
// float32 with R = 64.
func (g *gen) tailAdd(direct bool) {
	name, own := "tailAdd", "out []float64, stride int"
	if direct {
		name, own = "tailDirect", "out []float32"
	}
	g.Function(name + "AVX2")
	g.Attributes(attr.NOSPLIT)
	g.Signature(tailSignature(own))
	g.Pragma("noescape")
	g.Doc(name + "AVX2 is " + name + "Generic for AVX2.")
	out := g.base("out")
	var stride Register
	if !direct {
		stride = g.param("stride")
	}
	doc := g.base("doc")
	value := g.base("value")
	cursor := g.base("cursors")
	count := g.length("cursors")
	base := g.GP64()
	g.Load(g.Param("base"), base.As32())
	limit := g.GP64()
	g.Load(g.Param("limit"), limit.As32())

	var c layout.Cursor
	next, scale, column := int(unsafe.Offsetof(c.Next)), int(unsafe.Offsetof(c.Scale)), int(unsafe.Offsetof(c.Column))
	size := int(unsafe.Sizeof(c))
	shift := 3 // from a document's number to its place in a row of out
	if direct {
		shift = bits.TrailingZeros(4 * layout.Panel)
	}
	g.SHLQ(U8(shift), base)
	g.SUBQ(base, out)
	g.TESTQ(count, count)
	g.JZ(LabelRef("done"))
	// The lists lie anywhere in memory. While one cursor is worked on, the list of the one ahead
	// cursors further on, or of the last, is fetched.
	const ahead = 12
	final := g.GP64()
	g.SHLQ(U8(bits.TrailingZeros(uint(size))), count)
	g.LEAQ(element(cursor, count, 1).Offset(-size), final)
	g.Label("cursor")
	k, row, d := g.GP64(), g.GP64(), g.GP64()
	g.LEAQ(Mem{Base: cursor, Disp: ahead * size}, k)
	g.CMPQ(k, final)
	g.CMOVQGT(final, k)
	g.MOVQ(Mem{Base: k, Disp: next}, k)
	g.PREFETCHT0(element(doc, k, 4))
	g.PREFETCHT0(element(value, k, 4))
	g.MOVQ(Mem{Base: cursor, Disp: next}, k)
	g.MOVL(element(doc, k, 4), d.As32())
	g.CMPL(d.As32(), limit.As32())
	g.JCC(LabelRef("next"))
	g.MOVL(Mem{Base: cursor, Disp: column}, row.As32())
	by, product := g.XMM(), g.XMM()
	if direct {
		g.LEAQ(element(out, row, 4), row)
		g.VMOVSS(Mem{Base: cursor, Disp: scale}, by)
	} else {
		g.IMULQ(stride, row)
		g.LEAQ(element(out, row, 8), row)
		g.VXORPS(by, by, by)
		g.VCVTSS2SD(Mem{Base: cursor, Disp: scale}, by, by)
	}
	g.Label("match")
	if direct {
		g.SHLQ(U8(shift), d)
		sum := element(row, d, 1)
		g.VMULSS(element(value, k, 4), by, product)
		g.VADDSS(sum, product, product)
		g.VMOVSS(product, sum)
	} else {
		sum := element(row, d, 8)
		g.VXORPS(product, product, product)
		g.VCVTSS2SD(element(value, k, 4), product, product)
		g.VMULSD(by, product, product)
		g.VADDSD(sum, product, product)
		g.VMOVSD(product, sum)
	}
	g.INCQ(k)
	g.MOVL(element(doc, k, 4), d.As32())
	g.CMPL(d.As32(), limit.As32())
	g.JCS(LabelRef("match"))
	g.MOVQ(k, Mem{Base: cursor, Disp: next})
	g.Label("next")
	g.ADDQ(U8(size), cursor)
	g.CMPQ(cursor, final)
	g.JLE(LabelRef("cursor"))
	g.Label("done")
	g.RET()
}

// transpose writes a kernel that transposes 8×8 blocks of values of the given size in bytes. Those
// of 8 are float64, rounded to float32 and cleared where they stood. rows and cols are multiples of
// 8.
func (g *gen) transpose(name, signature string, size int) {
	g.function(name+"AVX2", signature)
	g.Doc(name + "AVX2 is the part of the kernel of that name whose rows and columns are multiples of 8.")
	dst := g.base("dst")
	dstStride := g.param("dstStride")
	src := g.base("src")
	srcStride := g.param("srcStride")
	rows := g.param("rows")
	cols := g.param("cols")

	// Rows of src and dst are reached as base + {0, 1, 2, 3}·stride, from two bases each.
	scale := func(stride Register, size int) (three Register) {
		if size == 8 {
			g.SHLQ(U8(3), stride)
		} else {
			g.SHLQ(U8(2), stride)
		}
		t := g.GP64()
		g.LEAQ(element(stride, stride, 2), t)
		return t
	}
	src3 := scale(srcStride, size)
	dst3 := scale(dstStride, 4)
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

	g.Label("rows")
	g.CMPQ(rows, U8(8))
	g.JLT(LabelRef("done"))
	from, to, left := g.GP64(), g.GP64(), g.GP64()
	fromHigh, toHigh := g.GP64(), g.GP64()
	source := func(i, disp int) Mem { return at(from, fromHigh, srcStride, src3, i, disp) }
	target := func(i int) Mem { return at(to, toHigh, dstStride, dst3, i, 0) }
	g.MOVQ(src, from)
	g.MOVQ(dst, to)
	g.MOVQ(cols, left)
	g.Label("cols")
	g.CMPQ(left, U8(8))
	g.JLT(LabelRef("nextRows"))
	g.LEAQ(element(from, srcStride, 4), fromHigh)
	g.LEAQ(element(to, dstStride, 4), toHigh)

	r := make([]VecVirtual, 8)
	if size == 8 {
		zero := g.YMM()
		g.VXORPS(zero, zero, zero)
		for i := range r {
			low, high := g.XMM(), g.XMM()
			r[i] = g.YMM()
			g.VCVTPD2PSY(source(i, 0), low)
			g.VCVTPD2PSY(source(i, 32), high)
			g.VINSERTF128(U8(1), high, low.AsY(), r[i])
			g.VMOVUPD(zero, source(i, 0))
			g.VMOVUPD(zero, source(i, 32))
		}
	} else {
		for i := range r {
			r[i] = g.YMM()
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
	g.ADDQ(U32(8*size), from)
	g.LEAQ(element(to, dstStride, 8), to)
	g.SUBQ(U8(8), left)
	g.JMP(LabelRef("cols"))
	g.Label("nextRows")
	g.LEAQ(element(src, srcStride, 8), src)
	g.ADDQ(U8(32), dst)
	g.SUBQ(U8(8), rows)
	g.JMP(LabelRef("rows"))
	g.Label("done")
	g.end()
}

// finish adds the step from cosines to c, in AVX2 alone, which keeps up with memory. It takes up to 32
// elements at a time and nearly always finds none that is small.
func finish(f file) {
	g := f.gen(isas[0])
	g.function("finishAVX2", "func(index []uint32, c []float32, limit float32) int")
	g.Doc("finishAVX2 is finishGeneric for AVX2.")
	index := g.base("index")
	from := g.base("c")
	n := g.length("c")
	limit, all := g.XMM(), g.reg()
	g.Load(g.Param("limit"), limit)
	g.VBROADCASTSS(limit, all)
	zero, one, two := g.reg(), g.constant(1), g.constant(2)
	g.VXORPS(zero, zero, zero)
	found, bits := g.GP64(), g.GP32()
	g.XORQ(found, found)
	g.blocks32(n, 4, func(at GPVirtual, first Register, wide int) {
		small := g.each(wide, func(i int, v VecVirtual) {
			place := element(from, at, 4).Offset(4 * g.lanes * i)
			g.VSUBPS(g.load32s(place, first), one, v)
			g.VMAXPS(v, zero, v) // the second operand where one is NaN
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
			next, top := g.label("next"), g.label("bit")
			g.VMOVMSKPS(v, bits)
			g.Label(top)
			g.TESTL(bits, bits)
			g.JZ(next)
			place := g.GP64()
			g.BSFL(bits, place.As32())
			g.LEAQ(element(at, place, 1).Offset(g.lanes*i), place)
			g.MOVL(place.As32(), element(index, found, 4))
			g.INCQ(found)
			g.BLSRL(bits, bits)
			g.JMP(top)
			g.Label(next)
		}
		g.Label(none)
	})
	g.Store(found, g.ReturnIndex(0))
	g.end()
}
