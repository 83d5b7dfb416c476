package main

import (
	"math"

	"github.com/gramengine/gram/asm/internal/coeff"
	"github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// wedges adds the kernel of asm/wedge_generic.go. One for AVX2 serves AVX-512, too.
func wedges(c *build.Context) {
	g := &gen{Context: c, isa: isas[0], data: &constants{at: map[uint32]operand.Mem{}}, held: map[float32]reg.VecVirtual{}}
	g.wedge()
}

// The places of a side's numbers, as asm/wedge_generic.go has them.
const (
	wedgeInner   = 11
	wedgeOuter   = 9
	wedgeHalf    = 1
	wedgeMills   = 2
	wedgePlus    = 3
	wedgeU       = 4
	wedgeP       = wedgeU + wedgeInner
	wedgeNumbers = wedgeP + wedgeOuter
)

func (g *gen) wedge() {
	g.begin("wedge", "func(dst, c, row, cols []float32)", "is wedgeGeneric for AVX2.")
	dst := g.Load(g.Param("dst").Base(), g.GP64())
	n := g.Load(g.Param("dst").Len(), g.GP64())
	c := g.Load(g.Param("c").Base(), g.GP64())
	row := g.Load(g.Param("row").Base(), g.GP64())
	cols := g.Load(g.Param("cols").Base(), g.GP64())

	block, tail, done := g.label("block"), g.label("tail"), g.label("done")
	place := func(base reg.Register) operand.Mem { return operand.Mem{Base: base} }
	g.Label(block)
	g.CMPQ(n, operand.U32(g.lanes))
	g.JL(operand.LabelRef(tail))
	v := g.reg()
	g.VMOVUPS(place(c), v)
	g.VMOVUPS(g.wedges(v, row, cols), place(dst))
	g.ADDQ(operand.U32(4*g.lanes), c)
	g.ADDQ(operand.U32(4*g.lanes), dst)
	g.ADDQ(operand.U32(4*g.lanes*wedgeNumbers), cols)
	g.SUBQ(operand.U32(g.lanes), n)
	g.JMP(operand.LabelRef(block))
	g.Label(tail)
	g.TESTQ(n, n)
	g.JEQ(operand.LabelRef(done))
	first := g.firstMask(n)
	// The masks take a register each of the sixteen: the result waits for its own.
	g.storeFirst(vec{g.wedges(g.loadFirst(place(c), first)[0], row, cols)}, first, place(dst))
	g.Label(done)
	g.VZEROUPPER()
	g.RET()
}

// wedges computes one register.
func (g *gen) wedges(v reg.VecVirtual, row, cols reg.Register) reg.VecVirtual {
	column := func(i int) operand.Op { return operand.Mem{Base: cols, Disp: 4 * g.lanes * i} }
	broadcast := func(i int) operand.Op {
		r := g.reg()
		g.VBROADCASTSS(operand.Mem{Base: row, Disp: 4 * i}, r)
		return r
	}
	one := func(r reg.VecVirtual) vec { return vec{r} }

	h, k, d := g.reg(), g.reg(), g.reg()
	g.VBROADCASTSS(operand.Mem{Base: row}, h)
	g.VMOVUPS(column(0), k)
	g.VSUBPS(h, k, d)
	square := g.mul(one(v), g.constSub(2, one(v)))

	// e = exp(-m²/2)
	far := g.reg()
	g.VMULPS(h, k, far)
	g.VADDPS(far, far, far)
	g.VMULPS(v, far, far)
	g.VFMADD231PS(d, d, far)
	g.VMAXPS(g.mem(0x1p-126), far, far)
	under := g.reg()
	g.VMAXPS(g.mem(0x1p-126), square[0], under)
	g.VDIVPS(under, far, far)
	e := g.exp(g.mulConst(one(far), -0.5), false)[0]

	root := g.sqrt(square)[0]
	g.VMAXPS(g.mem(0x1p-63), root, root)
	p := g.reg() // k c - d
	g.VMOVAPS(k, p)
	g.VFMSUB213PS(d, v, p)
	g.VFMADD213PS(d, v, h) // h c + d
	second := g.wedgeSide(p, k, root, e, column)
	again := g.reg()
	g.VBROADCASTSS(operand.Mem{Base: row}, again)
	first := g.wedgeSide(h, again, root, e, broadcast)
	g.VADDPS(second, first, first)
	zero := g.reg()
	g.VXORPS(zero, zero, zero)
	g.VMAXPS(zero, first, first)
	return first
}

// load returns a register with what a place holds, or the register that is given.
func (g *gen) load(from operand.Op) reg.VecVirtual {
	if r, ok := from.(reg.VecVirtual); ok {
		return r
	}
	r := g.reg()
	g.VMOVUPS(from, r)
	return r
}

// wedgeSide is one side's part; number gives the side's numbers. p and h are spent.
func (g *gen) wedgeSide(p, h, root, e reg.VecVirtual, number func(i int) operand.Op) reg.VecVirtual {
	size, r, t := g.reg(), g.reg(), g.reg()
	g.VANDPS(g.memBits(math.MaxInt32), p, size)
	w := g.reg()
	g.VMULPS(root, h, w)

	// M(z), times t = 1/(1+z/4)
	g.VMOVUPS(g.mem(0.25), t)
	g.VFMADD213PS(root, size, t)
	g.VDIVPS(t, root, t)
	u := g.subConst(g.add(vec{t}, vec{t}), 1)
	m := g.twoChains(u, coeff.Mills9, coeff.Mills8, coeff.Mills7, coeff.Mills6, coeff.Mills5, coeff.Mills4, coeff.Mills3, coeff.Mills2, coeff.Mills1, coeff.Mills0)
	g.VMULPS(number(wedgeMills), t, t)
	g.VMULPS(t, m[0], m[0])

	// r and s = 2r²-1
	outer := g.compare(greater, vec{size}, w)
	top := g.reg()
	g.VMAXPS(w, size, top)
	g.VMAXPS(g.mem(0x1p-126), top, top)
	g.VMINPS(w, size, r)
	g.VDIVPS(top, r, r)
	s := g.mul(vec{r}, vec{r})[0]
	g.VADDPS(s, s, s)
	g.VSUBPS(g.mem(1), s, s)

	// Two chains that don't wait for each other, of the even and of the odd powers.
	square := g.mul(vec{s}, vec{s})[0]
	chain := func(first, highest int) reg.VecVirtual {
		q := g.load(number(first + highest))
		for i := highest - 2; i >= 0; i -= 2 {
			g.VFMADD213PS(number(first+i), square, q)
		}
		return q
	}
	horner := func(first, count int) reg.VecVirtual { // count is odd
		even, odd := chain(first, count-1), chain(first+1, count-3)
		g.VFMADD213PS(even, s, odd)
		return odd
	}
	out := horner(wedgeP, wedgeOuter)
	g.VMULPS(r, out, out)
	g.VSUBPS(m[0], out, out)
	g.VMULPS(e, out, out)
	in := horner(wedgeU, wedgeInner)
	half := g.load(number(wedgeHalf))
	g.VFNMADD213PS(half, r, in) // half - r in
	part := g.blend(outer, vec{out}, vec{in})[0]
	g.VADDPS(half, half, half)
	g.VSUBPS(part, half, half)
	g.VBLENDVPS(p, half, part, part)
	g.VADDPS(number(wedgePlus), part, part)
	return part
}
