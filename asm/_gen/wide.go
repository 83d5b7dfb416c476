package main

import (
	"math"

	"github.com/gramengine/gram/asm/internal/coeff"
	"github.com/gramengine/gram/asm/internal/layout"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

func wideMaps(f file) {
	for _, set := range isas {
		g := f.gen(set)
		g.decay()
		g.tanh()
		g.affine()
		g.arithmetic("add64", g.VADDPD)
		g.arithmetic("sub64", g.VSUBPD)
		g.arithmetic("mul64", g.VMULPD)
		g.arithmetic("div64", g.VDIVPD)
		g.squares()
		g.narrow()
		g.widenAll()
		if set.lanes == 8 {
			g.halfLine() // AVX-512 uses the AVX2 version, because row lookups take most of the time
		}
	}
}

type deficitHeld struct{ one, round, low, last VecVirtual }

func (g *gen) holdDeficit() deficitHeld {
	return deficitHeld{
		g.everywhereFloat(1), g.everywhereFloat(coeff.Round64), g.everywhereFloat(coeff.Expm1Min),
		g.everywhereFloat(coeff.Expm18),
	}
}

// deficit64 returns 1-e^w for w <= 0, and overwrites w; NaN is preserved.
func (g *gen) deficit64(w VecVirtual, h *deficitHeld) VecVirtual {
	g.VMAXPD(w, h.low, w)
	k, r, p := g.reg(), g.reg(), g.reg()
	g.VMOVAPD(h.round, k)
	g.VFMADD231PD(g.float64(coeff.Log2EFloat64), w, k)
	g.VSUBPD(h.round, k, r)
	g.VFNMADD132PD(g.float64(coeff.Ln2Float64), w, r) // r = w - r·ln 2
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

func (g *gen) decay() {
	g.begin("decay", "func(dst []float32, v []float64)", "is decayGeneric.")
	dst := g.base("dst")
	n := g.length("dst")
	from := g.base("v")
	held := g.holdDeficit()
	minus := g.everywhereFloat(math.Copysign(0, -1))
	g.elements(n, func(at GPVirtual, s some) {
		w := g.load64(element(from, at, 8), s, g.reg())
		g.VXORPD(minus, w, w)
		g.store32(g.deficit64(w, &held), element(dst, at, 4), s)
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
	first, last := g.mem64(layout.HalfLineMinBits), g.mem64(layout.HalfLineRows)
	g.VXORPD(nans, nans, nans)
	g.elements(n, func(at GPVirtual, s some) {
		v := g.load64(element(from, at, 8), s, g.reg())
		// Below the first row, the subtraction wraps around to an index above the last row.
		row := g.reg()
		g.VPSRLQ(U8(step), v, row)
		g.VPSUBQ(first, row, row)
		g.VPMINUD(last, row, row)
		g.VPSLLQ(U8(6), row, row) // convert the row index to a byte offset
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

		// Horner's rule loads two coefficients at a time. A register holds rows i and i+2.
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
		g.VCMPPD(U8(3), p, p, mid) // mid selects the lanes in which p is NaN
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

func (g *gen) affine() {
	g.begin("affine", "func(dst []float64, c, y []float32, x, gamma, r float64)", "is affineGeneric.")
	dst := g.base("dst")
	n := g.length("dst")
	from := g.base("c")
	norms := g.base("y")
	one, gamma, r, x := g.everywhereFloat(1), g.everywhere("gamma"), g.everywhere("r"), g.everywhere("x")
	g.elements(n, func(at GPVirtual, s some) {
		c, y := g.load32(element(from, at, 4), s, g.reg()), g.load32(element(norms, at, 4), s, g.reg())
		g.VSUBPD(c, one, c)
		g.VMULPD(x, y, y)
		g.VMULPD(c, y, y)
		g.VMULPD(gamma, y, y)
		g.VADDPD(r, y, y)
		g.store64(y, element(dst, at, 8), s)
	})
	g.end()
}

// arithmetic generates a kernel for an element-wise binary operation on two slices.
func (g *gen) arithmetic(name string, op func(...Op)) {
	g.begin(name, "func(dst, a, b []float64)", "is "+name+"Generic.")
	dst := g.base("dst")
	n := g.length("dst")
	left := g.base("a")
	right := g.base("b")
	g.elements(n, func(at GPVirtual, s some) {
		a, b := g.load64(element(left, at, 8), s, g.reg()), g.load64(element(right, at, 8), s, g.reg())
		op(b, a, a)
		g.store64(a, element(dst, at, 8), s)
	})
	g.end()
}

func (g *gen) squares() {
	g.begin("squares", "func(dst, x, y, c []float64)", "is squaresGeneric.")
	dst := g.base("dst")
	n := g.length("dst")
	from := [3]Register{g.base("x"), g.base("y"), g.base("c")}
	g.elements(n, func(at GPVirtual, s some) {
		var v [3]VecVirtual
		for i, base := range from {
			v[i] = g.load64(element(base, at, 8), s, g.reg())
		}
		d, x, y, c := g.reg(), v[0], v[1], v[2]
		g.VSUBPD(y, x, d)
		g.VMULPD(d, d, d)
		g.VMULPD(x, y, y)
		g.VADDPD(y, y, y)
		g.VMULPD(c, y, y)
		g.VADDPD(y, d, d)
		g.store64(d, element(dst, at, 8), s)
	})
	g.end()
}

func (g *gen) narrow() {
	g.begin("narrow", "func(dst []float32, v []float64)", "is narrowGeneric.")
	dst := g.base("dst")
	n := g.length("dst")
	from := g.base("v")
	g.elements(n, func(at GPVirtual, s some) {
		g.store32(g.load64(element(from, at, 8), s, g.reg()), element(dst, at, 4), s)
	})
	g.end()
}

func (g *gen) widenAll() {
	g.begin("widen", "func(dst []float64, v []float32)", "is widenGeneric.")
	dst := g.base("dst")
	n := g.length("dst")
	from := g.base("v")
	g.elements(n, func(at GPVirtual, s some) {
		g.store64(g.load32(element(from, at, 4), s, g.reg()), element(dst, at, 8), s)
	})
	g.end()
}
