package main

import (
	"math"

	"github.com/gramengine/gram/asm/internal/coeff"
	"github.com/gramengine/gram/asm/internal/layout"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// wideMaps adds the kernels of asm/wide_generic.go.
func wideMaps(f file) {
	for _, set := range isas {
		g := f.gen(set)
		g.gaussianDeficit()
		g.tanh()
		g.join()
		g.affine()
		g.squares()
		g.halfAngle()
		if set.lanes == 8 {
			g.halfLine() // serves AVX-512, too: finding rows is the work
		}
	}
}

// deficitHeld holds the constants of deficit64 in registers.
type deficitHeld struct{ one, round, low, last VecVirtual }

func (g *gen) holdDeficit() deficitHeld {
	return deficitHeld{
		g.everywhereFloat(1), g.everywhereFloat(coeff.Round64), g.everywhereFloat(coeff.Expm1Low),
		g.everywhereFloat(coeff.Expm18),
	}
}

// deficit64 is 1-e^w for w <= 0, which it overwrites; NaN stays.
func (g *gen) deficit64(w VecVirtual, h *deficitHeld) VecVirtual {
	g.VMAXPD(w, h.low, w)
	k, r, p := g.reg(), g.reg(), g.reg()
	g.VMOVAPD(h.round, k)
	g.VFMADD231PD(g.float64(coeff.LogE64), w, k)
	g.VSUBPD(h.round, k, r)
	g.VFNMADD132PD(g.float64(coeff.Ln264), w, r) // r = w - r·ln 2
	g.VMOVAPD(h.last, p)
	for _, a := range []float64{
		coeff.Expm17, coeff.Expm16, coeff.Expm15, coeff.Expm14, coeff.Expm13, coeff.Expm12, coeff.Expm11,
	} {
		g.VFMADD213PD(g.float64(a), r, p)
	}
	g.VFMADD213PD(h.one, r, p)
	g.VMULPD(r, p, p)
	g.VPSLLQ(U8(52), k, k)
	g.VPADDQ(h.one, k, k)
	g.VSUBPD(k, h.one, r)
	g.VFNMADD231PD(p, k, r)
	return r
}

func (g *gen) gaussianDeficit() {
	g.begin("gaussianDeficit", "func(dst, c, y []float32, x, gamma float64)", "is gaussianDeficitGeneric.")
	dst := g.base("dst")
	n := g.length("dst")
	c := g.base("c")
	y := g.base("y")
	x, gamma := g.everywhere("x"), g.everywhere("gamma")
	held := g.holdDeficit()
	g.VXORPD(g.float64(math.Copysign(0, -1)), gamma, gamma)
	g.elements(n, func(at GPVirtual, s some) {
		place := func(base Register) Mem { return element(base, at, 4) }
		v, w := g.load32(place(c), s, g.reg()), g.load32(place(y), s, g.reg())
		d := g.reg()
		g.VSUBPD(w, x, d)
		g.VMULPD(x, w, w)
		g.VADDPD(v, v, v)
		g.VMULPD(v, w, w)
		g.VFMADD231PD(d, d, w)
		g.VMULPD(gamma, w, w)
		g.store32(g.deficit64(w, &held), place(dst), s)
	})
	g.end()
}

func (g *gen) tanh() {
	g.begin("tanh", "func(dst []float32, v []float64)", "is tanhGeneric.")
	dst := g.base("dst")
	n := g.length("dst")
	from := g.base("v")
	held := g.holdDeficit()
	minus, two := g.everywhereFloat(math.Copysign(0, -1)), g.everywhereFloat(2)
	g.elements(n, func(at GPVirtual, s some) {
		v, w := g.load64(element(from, at, 8), s, g.reg()), g.reg()
		g.VORPD(minus, v, w)
		g.VADDPD(w, w, w)
		e, under := g.deficit64(w, &held), g.reg()
		g.VSUBPD(e, two, under)
		g.VDIVPD(under, e, e)
		g.VANDPD(minus, v, v)
		g.VORPD(v, e, e)
		g.store32(e, element(dst, at, 4), s)
	})
	g.end()
}

// joined is how many registers of elements a join takes at a time.
const joined = 2

func (g *gen) join() {
	g.begin("join", "func(dst []float32, c [][]float32, q [][]float64, p []float64, degree int)", "is joinGeneric.")
	dst := g.base("dst")
	n := g.length("dst")
	c := g.base("c")
	given := g.length("c")
	q := g.base("q")
	p := g.base("p")
	parts := g.length("p")
	degree := g.param("degree")
	one, half, two := g.everywhereFloat(1), g.everywhereFloat(0.5), g.everywhereFloat(2)
	g.DECQ(degree)
	g.blocks(n, joined, func(at GPVirtual, s some, wide int) {
		place := func(base Register, i, bytes int) Mem {
			return element(base, at, uint8(bytes)).Offset(bytes * i * g.doubles())
		}
		gap, v := g.regs(wide), g.regs(wide)
		for k := range v {
			g.VXORPD(gap[k], gap[k], gap[k])
			g.VXORPD(v[k], v[k], v[k])
		}
		i, ci, qi, row := g.GP64(), g.GP64(), g.GP64(), g.GP64()
		part, without, next, single := g.label("part"), g.label("without"), g.label("next"), g.label("single")
		g.XORQ(i, i)
		g.MOVQ(c, ci)
		g.MOVQ(q, qi)
		g.Label(part)
		g.MOVQ(Mem{Base: qi}, row)
		a, b := g.reg(), g.regs(wide)
		g.VBROADCASTSD(element(p, i, 8), a)
		for k := range b {
			d := g.reg()
			g.load64(place(row, k, 8), s, b[k])
			g.VSUBPD(b[k], a, d)
			g.VFMADD231PD(d, d, gap[k])
		}
		g.CMPQ(i, given)
		g.JGE(without)
		g.MOVQ(Mem{Base: ci}, row)
		for k := range b {
			g.VMULPD(a, b[k], b[k])
			g.VFMADD231PD(g.load32(place(row, k, 4), s, g.reg()), b[k], v[k])
		}
		g.Label(without)
		g.ADDQ(U8(sliceBytes), ci)
		g.ADDQ(U8(sliceBytes), qi)
		g.INCQ(i)
		g.CMPQ(i, parts)
		g.JL(part)
		for k := range v {
			g.VFMADD231PD(half, gap[k], v[k])
			g.VMINPD(v[k], two, v[k]) // NaN stays
		}

		g.MOVQ(degree, i)
		g.TESTQ(i, i)
		g.JEQ(single)
		sum, rest := g.regs(wide), g.regs(wide)
		for k := range v {
			g.VMOVAPD(one, sum[k])
			g.VSUBPD(v[k], one, rest[k])
		}
		g.Label(next)
		for k := range v {
			g.VFMADD213PD(one, rest[k], sum[k])
		}
		g.DECQ(i)
		g.JNZ(next)
		for k := range v {
			g.VMULPD(sum[k], v[k], v[k])
		}
		g.Label(single)
		for k := range v {
			g.store32(v[k], place(dst, k, 4), s)
		}
	})
	g.end()
}

func (g *gen) halfLine() {
	g.begin("halfLine",
		"func(dst []float32, v []float64, rows [][8]float64, zero float64) (outside bool)", "is halfLineGeneric.")
	dst := g.base("dst")
	n := g.length("dst")
	from := g.base("v")
	rows := g.base("rows")
	zero, nans := g.everywhere("zero"), g.reg()
	const step = 52 - layout.HalfLineBits
	mantissas, upper, middle := g.mem64(1<<52-1), g.mem64(^uint64(1<<step-1)), g.mem64(1<<(step-1))
	first, last := g.mem64(layout.HalfLineFirst), g.mem64(layout.HalfLineRows)
	g.VXORPD(nans, nans, nans)
	g.elements(n, func(at GPVirtual, s some) {
		v := g.load64(element(from, at, 8), s, g.reg())
		// What is below the first row wraps around: the lower half of the word lies beyond the last
		// row, and the upper half is the greatest.
		row := g.reg()
		g.VPSRLQ(U8(step), v, row)
		g.VPSUBQ(first, row, row)
		g.VPMINUD(last, row, row)
		g.VPSLLQ(U8(6), row, row) // in bytes
		var place [4]GPVirtual
		high := g.XMM()
		g.VEXTRACTI128(U8(1), row, high)
		for half, x := range []Register{row.AsX(), high} {
			place[2*half], place[2*half+1] = g.GP64(), g.GP64()
			g.VMOVQ(x, place[2*half])
			g.VPEXTRQ(U8(1), x, place[2*half+1])
		}
		t, mid := g.reg(), g.reg()
		g.VANDPD(mantissas, v, t)
		g.VORPD(g.float64(1), t, t)
		g.VANDPD(upper, t, mid)
		g.VORPD(middle, mid, mid)
		g.VSUBPD(mid, t, t)

		// Horner's rule, two coefficients at a time: a register holds those of the rows i and i+2.
		var p VecVirtual
		for pair := 2; pair >= 0; pair-- {
			var two [2]VecVirtual
			for i := range two {
				two[i] = g.reg()
				g.VBROADCASTF128(element(rows, place[i], 1).Offset(16*pair), two[i])
				g.VINSERTF128(U8(1), element(rows, place[i+2], 1).Offset(16*pair), two[i], two[i])
			}
			even, odd := g.reg(), g.reg()
			g.VUNPCKLPD(two[1], two[0], even)
			g.VUNPCKHPD(two[1], two[0], odd)
			if pair == 2 {
				p = odd
			} else {
				g.VFMADD213PD(odd, t, p)
			}
			g.VFMADD213PD(even, t, p)
		}
		g.VCMPPD(equalD, g.float64(0), v, mid)
		g.VBLENDVPD(mid, zero, p, p)
		g.VCMPPD(U8(3), p, p, mid) // NaN
		g.VORPD(mid, nans, nans)
		g.store32(p, element(dst, at, 4), s)
	})
	bits, any := g.GP32(), g.GP8()
	g.VMOVMSKPD(nans, bits)
	g.VZEROUPPER()
	g.TESTL(bits, bits)
	g.SETNE(any)
	g.Store(any, g.ReturnIndex(0))
	g.RET()
}

// inner is what affine and squares have in common: body computes a register from c and y.
func (g *gen) inner(name, parameters string, hold func() (x VecVirtual), body func(x, c, y VecVirtual) VecVirtual) {
	g.begin(name, "func(dst []float64, c, y []float32, "+parameters+" float64)", "is "+name+"Generic.")
	dst := g.base("dst")
	n := g.length("dst")
	c := g.base("c")
	y := g.base("y")
	x := hold()
	g.elements(n, func(at GPVirtual, s some) {
		place := func(base Register) Mem { return element(base, at, 4) }
		v := body(x, g.load32(place(c), s, g.reg()), g.load32(place(y), s, g.reg()))
		g.store64(v, element(dst, at, 8), s)
	})
	g.end()
}

func (g *gen) affine() {
	var one, gamma, r VecVirtual
	g.inner("affine", "x, gamma, r", func() VecVirtual {
		one, gamma, r = g.everywhereFloat(1), g.everywhere("gamma"), g.everywhere("r")
		return g.everywhere("x")
	}, func(x, c, y VecVirtual) VecVirtual {
		g.VSUBPD(c, one, c)
		g.VMULPD(x, y, y)
		g.VMULPD(c, y, y)
		g.VMULPD(gamma, y, y)
		g.VADDPD(r, y, y)
		return y
	})
}

func (g *gen) squares() {
	g.inner("squares", "x", func() VecVirtual { return g.everywhere("x") }, func(x, c, y VecVirtual) VecVirtual {
		d := g.reg()
		g.VSUBPD(y, x, d)
		g.VMULPD(d, d, d)
		g.VMULPD(x, y, y)
		g.VADDPD(y, y, y)
		g.VMULPD(c, y, y)
		g.VADDPD(y, d, d)
		return d
	})
}

func (g *gen) halfAngle() {
	g.begin("halfAngle", "func(dst []float64, c []float32, row []float64, cols [][]float64)", "is halfAngleGeneric.")
	dst := g.base("dst")
	n := g.length("dst")
	from := g.base("c")
	row := g.base("row")
	cols := g.base("cols")
	one := g.everywhereFloat(1)
	g.elements(n, func(at GPVirtual, s some) {
		column := func(i int) VecVirtual {
			base := g.GP64()
			g.MOVQ(Mem{Base: cols, Disp: sliceBytes * i}, base)
			return g.load64(element(base, at, 8), s, g.reg())
		}
		own := func(i int) VecVirtual {
			v := g.reg()
			g.VBROADCASTSD(Mem{Base: row, Disp: 8 * i}, v)
			return v
		}
		// sin m: neither product is fused with the sum, since they trade places with the documents.
		sinM, other := own(layout.HalfAngleSine), own(layout.HalfAngleCosine)
		g.VMULPD(column(layout.HalfAngleCosine), sinM, sinM)
		g.VMULPD(column(layout.HalfAngleSine), other, other)
		g.VADDPD(other, sinM, sinM)
		// sin² d
		d, x, y := g.reg(), own(layout.HalfAngleNorm), column(layout.HalfAngleNorm)
		g.VSUBPD(y, x, d)
		g.VADDPD(y, x, x)
		g.VMULPD(x, d, d)
		t := own(layout.HalfAngleScale)
		g.VMULPD(column(layout.HalfAngleScale), t, t)
		g.VMULPD(t, d, d)
		g.VDIVPD(sinM, d, d)
		g.VMULPD(d, d, d)

		c := g.load32(element(from, at, 4), s, g.reg())
		root2, over, cosM, sinT := own(layout.HalfAngleRoot), g.reg(), g.reg(), g.reg()
		g.VMULPD(column(layout.HalfAngleRoot), root2, root2) // g
		cosT := g.reg()
		g.VSUBPD(c, one, cosT)
		g.VMULPD(root2, cosT, cosT)
		g.VMULPD(root2, root2, root2)
		g.VADDPD(d, root2, cosM)
		g.VSQRTPD(cosM, cosM)
		g.VADDPD(one, one, over)
		g.VSUBPD(c, over, over)
		g.VMULPD(c, over, over)
		g.VFMADD213PD(d, root2, over) // n
		g.VMOVAPD(over, sinT)
		g.VFMADD231PD(sinM, sinM, sinT)
		g.VSQRTPD(sinT, sinT)

		turned, first, second := g.reg(), g.reg(), g.reg()
		g.VMULPD(cosM, cosT, turned)
		g.VFMADD231PD(sinT, sinM, turned)
		g.VMULPD(cosM, sinT, first)
		g.VMULPD(sinM, cosT, second)
		beyond := g.compare64(greaterD, c, one)
		g.VADDPD(second, first, c)
		g.VSUBPD(second, first, first) // sin(θ-m) for c > 1
		under := g.reg()
		g.VADDPD(turned, one, under)
		g.VMULPD(under, c, c)
		g.VSUBPD(turned, one, second)
		zero := g.reg()
		g.VXORPD(zero, zero, zero)
		back := g.compare64(lessD, turned, zero)
		g.take(back, first, under) // the divisor for c > 1
		g.take(back, second, first)
		g.take(beyond, first, over)
		g.take(beyond, under, c)
		g.VDIVPD(c, over, c)
		g.take(g.compare64(equalD, over, zero), zero, c)
		g.store64(c, element(dst, at, 8), s)
	})
	g.end()
}
