package main

import (
	"github.com/gramengine/gram/asm/internal/layout"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// piecewise adds the kernel for piecewise polynomials. AVX-512 uses the AVX2 version, because
// looking up rows takes most of the time, and wider registers don't make the lookups faster.
func piecewise(f file) { f.gen(isas[0]).piecewise() }

// lookup holds registers and addresses that piecewise uses in its loop.
type lookup struct {
	rows                           Register
	shift                          Register // 23 - bits
	fold, last, high, half, one    VecVirtual
	mantissas, least, scale, twice Op
}

func (g *gen) piecewise() {
	g.begin("piecewise", "func(dst, c []float32, rows [][8]float32, bits uint)", "is piecewiseGeneric for AVX2.")
	dst := g.base("dst")
	n := g.length("dst")
	c := g.base("c")
	l := lookup{
		rows: g.base("rows"), shift: g.XMM(), fold: g.reg(), last: g.reg(), high: g.reg(), half: g.reg(),
		one: g.constant(1), mantissas: g.memBits(1<<23 - 1), least: g.mem(1.0 / layout.PiecewiseScale),
		scale: g.mem(layout.PiecewiseScale), twice: g.mem(2),
	}
	rows := g.length("rows")
	bits := g.param("bits")

	// The shift, the offset of the rows for c > 1, and the masks of the mantissa depend on bits.
	count := g.XMM()
	g.DECQ(rows)
	g.VMOVQ(rows, count)
	g.VPBROADCASTD(count, l.last)
	g.VMOVQ(bits, count)
	g.VMOVDQU(g.memBits(layout.PiecewiseFold), l.fold)
	g.VPSLLD(count, l.fold, l.fold)
	g.NEGQ(bits)
	g.ADDQ(U8(22), bits)
	g.VMOVQ(bits, count)
	g.VMOVDQU(g.memBits(1), l.half)
	g.VPSLLD(count, l.half, l.half)
	g.INCQ(bits)
	g.VMOVQ(bits, l.shift)
	g.VPCMPEQD(l.high, l.high, l.high)
	g.VPSLLD(l.shift, l.high, l.high)

	g.blocks32(n, 1, func(at GPVirtual, first Register, _ int) {
		g.store32s(g.evaluate(&l, g.load32s(element(c, at, 4), first)), element(dst, at, 4), first)
	})
	g.end()
}

// evaluate returns the values of the polynomials for one register of c.
func (g *gen) evaluate(l *lookup, c VecVirtual) VecVirtual {
	above, u, row := g.reg(), g.reg(), g.reg()
	g.VCMPPS(greater, l.one, c, above)
	g.VMOVUPS(l.twice, u)
	g.VSUBPS(c, u, u)
	g.VMAXPS(l.least, u, u)
	g.VBLENDVPS(above, u, c, u)
	g.VMULPS(l.scale, u, u)
	g.VPSRLD(l.shift, u, row)
	g.VPAND(l.fold, above, above)
	g.VPADDD(above, row, row)
	g.VPMINUD(l.last, row, row)
	g.VPSLLD(U8(5), row, row) // convert the row index to a byte offset

	// t = mantissa - middle
	t, mid := g.reg(), g.reg()
	g.VPAND(l.mantissas, u, t)
	g.VPOR(l.one, t, t)
	g.VPAND(l.high, t, mid)
	g.VPOR(l.half, mid, mid)
	g.VSUBPS(mid, t, t)

	// Horner's rule starts at the highest coefficient. The coefficients of t⁴ and t⁵ are in the
	// second half of a row.
	at := g.offsets(row)
	q := g.halves(l.rows, at, 16)
	s, _ := g.columns(q)
	p := s[1]
	g.VFMADD213PS(s[0], t, p)
	q = g.halves(l.rows, at, 0)
	low, high := g.columns(q)
	upper := high()
	for _, next := range []VecVirtual{upper[1], upper[0], low[1], low[0]} {
		g.VFMADD213PS(next, t, p)
	}
	return p
}

// offsets moves the lanes of a register to general-purpose registers.
func (g *gen) offsets(v VecVirtual) (at [8]GPVirtual) {
	upper := g.XMM()
	g.VEXTRACTI128(U8(1), v, upper)
	for half, x := range []Register{v.AsX(), upper} {
		for pair := range 2 {
			first, both := g.GP64(), g.GP64()
			if pair == 0 {
				g.VMOVQ(x, both)
			} else {
				g.VPEXTRQ(U8(1), x, both)
			}
			g.MOVL(both.As32(), first.As32())
			g.SHRQ(U8(32), both)
			at[4*half+2*pair], at[4*half+2*pair+1] = first, both
		}
	}
	return at
}

// halves loads four adjacent coefficients of eight rows. Register i holds rows i and i+4.
func (g *gen) halves(rows Register, at [8]GPVirtual, disp int) (q [4]VecVirtual) {
	for i := range q {
		q[i] = g.reg()
		g.VBROADCASTF128(element(rows, at[i], 1).Offset(disp), q[i])
		g.VINSERTF128(U8(1), element(rows, at[i+4], 1).Offset(disp), q[i], q[i])
	}
	return q
}

// columns transposes q. low holds columns 0 and 1. high returns columns 2 and 3, and reuses the
// registers of q.
func (g *gen) columns(q [4]VecVirtual) (low [2]VecVirtual, high func() [2]VecVirtual) {
	split := func(s, t VecVirtual) [2]VecVirtual {
		d := g.reg()
		g.VUNPCKLPD(t, s, d)
		g.VUNPCKHPD(t, s, s)
		return [2]VecVirtual{d, s}
	}
	s, t := g.reg(), g.reg()
	g.VUNPCKLPS(q[1], q[0], s)
	g.VUNPCKLPS(q[3], q[2], t)
	return split(s, t), func() [2]VecVirtual {
		g.VUNPCKHPS(q[1], q[0], q[0])
		g.VUNPCKHPS(q[3], q[2], q[2])
		return split(q[0], q[2])
	}
}
