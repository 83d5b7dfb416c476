package main

import (
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// The kernels of asm/wide_inner_generic.go.

// inner is what affine and squares have in common: body computes a register from c and y.
func (g *gen) inner(name, parameters string, hold func() (x reg.VecVirtual), body func(x, c, y reg.VecVirtual) reg.VecVirtual) {
	g.begin(name, "func(dst []float64, c, y []float32, "+parameters+" float64)", "is "+name+"Generic.")
	dst := g.Load(g.Param("dst").Base(), g.GP64())
	n := g.Load(g.Param("dst").Len(), g.GP64()).(reg.GPVirtual)
	c := g.Load(g.Param("c").Base(), g.GP64())
	y := g.Load(g.Param("y").Base(), g.GP64())
	x := hold()
	g.elements(n, func(at reg.GPVirtual, s some) {
		place := func(base reg.Register) operand.Mem { return operand.Mem{Base: base, Index: at, Scale: 4} }
		v := body(x, g.load32(place(c), s, g.reg()), g.load32(place(y), s, g.reg()))
		g.store64(v, operand.Mem{Base: dst, Index: at, Scale: 8}, s)
	})
	g.VZEROUPPER()
	g.RET()
}

func (g *gen) affine() {
	var one, gamma, r reg.VecVirtual
	g.inner("affine", "x, gamma, r", func() reg.VecVirtual {
		one, gamma, r = g.everywhereFloat(1), g.everywhere("gamma"), g.everywhere("r")
		return g.everywhere("x")
	}, func(x, c, y reg.VecVirtual) reg.VecVirtual {
		g.VSUBPD(c, one, c)
		g.VMULPD(x, y, y)
		g.VMULPD(c, y, y)
		g.VMULPD(gamma, y, y)
		g.VADDPD(r, y, y)
		return y
	})
}

func (g *gen) squares() {
	g.inner("squares", "x", func() reg.VecVirtual { return g.everywhere("x") }, func(x, c, y reg.VecVirtual) reg.VecVirtual {
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

// compare64 is the lanes in which a compares to b.
func (g *gen) compare64(predicate operand.U8, a reg.VecVirtual, b operand.Op) reg.Register {
	var m reg.Register = g.reg()
	if g.lanes == 16 {
		m = g.K()
	}
	g.VCMPPD(predicate, b, a, m)
	return m
}

func (g *gen) halfAngle() {
	g.begin("halfAngle", "func(dst []float64, c []float32, row []float64, cols [][]float64)", "is halfAngleGeneric.")
	dst := g.Load(g.Param("dst").Base(), g.GP64())
	n := g.Load(g.Param("dst").Len(), g.GP64()).(reg.GPVirtual)
	from := g.Load(g.Param("c").Base(), g.GP64())
	row := g.Load(g.Param("row").Base(), g.GP64())
	cols := g.Load(g.Param("cols").Base(), g.GP64())
	one := g.everywhereFloat(1)
	const (
		norm = iota
		root
		sine
		cosine
		scale
	)
	g.elements(n, func(at reg.GPVirtual, s some) {
		column := func(i int) reg.VecVirtual {
			base := g.GP64()
			g.MOVQ(operand.Mem{Base: cols, Disp: sliceBytes * i}, base)
			return g.load64(operand.Mem{Base: base, Index: at, Scale: 8}, s, g.reg())
		}
		own := func(i int) reg.VecVirtual {
			v := g.reg()
			g.VBROADCASTSD(operand.Mem{Base: row, Disp: 8 * i}, v)
			return v
		}
		// sin m, neither product fused with the sum: they change places with the documents.
		sinM, other := own(sine), own(cosine)
		g.VMULPD(column(cosine), sinM, sinM)
		g.VMULPD(column(sine), other, other)
		g.VADDPD(other, sinM, sinM)
		// sin² d
		d, x, y := g.reg(), own(norm), column(norm)
		g.VSUBPD(y, x, d)
		g.VADDPD(y, x, x)
		g.VMULPD(x, d, d)
		t := own(scale)
		g.VMULPD(column(scale), t, t)
		g.VMULPD(t, d, d)
		g.VDIVPD(sinM, d, d)
		g.VMULPD(d, d, d)

		c, root2, over, cosM, sinT := g.load32(operand.Mem{Base: from, Index: at, Scale: 4}, s, g.reg()), own(root), g.reg(), g.reg(), g.reg()
		g.VMULPD(column(root), root2, root2) // g
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
		g.store64(c, operand.Mem{Base: dst, Index: at, Scale: 8}, s)
	})
	g.VZEROUPPER()
	g.RET()
}
