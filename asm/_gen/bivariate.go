package main

import (
	"math"

	"github.com/gramengine/gram/asm/internal/coeff"
	"github.com/gramengine/gram/asm/internal/layout"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// bivariateTails adds the kernel of asm/bivariate_generic.go. The one for AVX2 serves AVX-512, too.
func bivariateTails(f file) { f.gen(isas[0]).bivariateTail() }

func (g *gen) bivariateTail() {
	g.begin("bivariateTail", "func(dst, c, row, cols []float32)", "is bivariateTailGeneric for AVX2.")
	dst := g.base("dst")
	n := g.length("dst")
	c := g.base("c")
	row := g.base("row")
	cols := g.base("cols")

	g.blocks32(n, 1, func(at GPVirtual, first Register, _ int) {
		place := func(base Register) Mem { return element(base, at, 4) }
		// The mask keeps one of the sixteen registers until the store.
		g.store32s(g.bivariateTails(g.load32s(place(c), first), row, cols), place(dst), first)
		g.ADDQ(U32(4*g.lanes*layout.BivariateNumbers), cols)
	})
	g.end()
}

// bivariateTails computes one register of results.
func (g *gen) bivariateTails(v VecVirtual, row, cols Register) VecVirtual {
	column := func(i int) Op { return Mem{Base: cols, Disp: 4 * g.lanes * i} }
	broadcast := func(i int) Op {
		r := g.reg()
		g.VBROADCASTSS(Mem{Base: row, Disp: 4 * i}, r)
		return r
	}
	one := func(r VecVirtual) vec { return vec{r} }

	h, k, d := g.reg(), g.reg(), g.reg()
	g.VMAXPS(g.mem(layout.BivariateFloor), v, v)
	g.VBROADCASTSS(Mem{Base: row}, h)
	g.VMOVUPS(column(layout.BivariateH), k)
	g.VSUBPS(h, k, d)
	square := g.mul(one(v), g.constSub(2, one(v)))[0]
	g.VMAXPS(g.mem(layout.BivariateRoot), square, square)

	// e = exp(-m²/2)
	far := g.reg()
	g.VMULPS(h, k, far)
	g.VADDPS(far, far, far)
	g.VMULPS(v, far, far)
	g.VFMADD231PS(d, d, far)
	quotient := g.reg()
	g.VDIVPS(square, far, quotient)
	side, root := g.sqrt(one(far))[0], g.sqrt(one(square))[0]
	p := g.reg() // k c - d
	g.VMOVAPS(k, p)
	g.VFMSUB213PS(d, v, p)
	g.VFMADD213PS(d, v, h) // h c + d
	e := g.expNormal(g.mulConst(one(quotient), -0.5))[0]
	some := g.compare(greater, one(g.constant(layout.BivariateNothing)), quotient)[0]
	g.VANDPS(some, e, e)

	second := g.bivariateSide(p, k, side, root, e, column)
	again := g.reg()
	g.VBROADCASTSS(Mem{Base: row}, again)
	first := g.bivariateSide(h, again, side, root, e, broadcast)
	g.VADDPS(second, first, first)
	zero := g.reg()
	g.VXORPS(zero, zero, zero)
	g.VMAXPS(zero, first, first)
	return first
}

// load returns a register with what a place holds, or the register that is given.
func (g *gen) load(from Op) VecVirtual {
	if r, ok := from.(VecVirtual); ok {
		return r
	}
	r := g.reg()
	g.VMOVUPS(from, r)
	return r
}

// bivariateSide is one side's part; number gives the place of one of the side's numbers. It
// overwrites p and h.
func (g *gen) bivariateSide(p, h, side, root, e VecVirtual, number func(i int) Op) VecVirtual {
	size, y, t := g.reg(), g.reg(), g.reg()
	g.VANDPS(g.memBits(math.MaxInt32), p, size)
	g.VMULPS(root, h, h) // the opposite side
	g.VADDPS(side, size, y)
	g.VMULPS(number(layout.BivariateT), y, y)
	g.VFMADD231PS(number(layout.BivariateW), h, y)
	g.VDIVPS(y, h, y)

	// N(z) exp(z²/2), times r = 1/(1+z/4)
	r := g.reg()
	g.VMOVUPS(g.mem(0.25), r)
	g.VFMADD213PS(root, size, r)
	g.VDIVPS(r, root, r)
	u := g.subConst(g.add(vec{r}, vec{r}), 1)
	m := g.twoChains(u, coeff.Mills9, coeff.Mills8, coeff.Mills7, coeff.Mills6, coeff.Mills5,
		coeff.Mills4, coeff.Mills3, coeff.Mills2, coeff.Mills1, coeff.Mills0)[0]
	g.VMULPS(number(layout.BivariateMills), r, r)
	g.VMULPS(r, m, m)

	// Q in two chains that don't wait for each other, of the even and of the odd powers.
	g.VADDPS(y, y, t)
	g.VADDPS(number(layout.BivariateShift), t, t)
	square := g.mul(vec{t}, vec{t})[0]
	q := func(i int) Op { return number(layout.BivariateQ + i) }
	even, odd := g.load(q(layout.BivariateTerms-2)), g.load(q(layout.BivariateTerms-1))
	for i := layout.BivariateTerms - 4; i >= 0; i -= 2 {
		g.VFMADD213PS(q(i), square, even)
		g.VFMADD213PS(q(i+1), square, odd)
	}
	g.VFMADD213PS(even, t, odd)
	g.VFMSUB213PS(m, y, odd) // y Q - m
	g.VMULPS(e, odd, odd)

	half := g.load(number(layout.BivariateHalf))
	g.VMULPS(g.mem(layout.BivariateRight), h, h)
	part := g.blend(g.compare(greater, vec{size}, h), vec{odd}, vec{half})[0]
	g.VADDPS(half, half, half)
	g.VSUBPS(part, half, half)
	g.VBLENDVPS(p, half, part, part)
	g.VADDPS(number(layout.BivariatePlus), part, part)
	return part
}
