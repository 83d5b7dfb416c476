package main

import (
	"fmt"
	"math"
	"strings"

	"github.com/gramengine/gram/asm/internal/coeff"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// A mapKernel is an elementwise map. in holds the names of its input slices, and scalars the names
// of its float32 parameters. Before the loop, each scalar fills a register, negated if its name
// begins with a minus.
type mapKernel struct {
	name    string
	in      []string
	scalars []string
	unroll  int       // registers per block with AVX2, which has 16 vector registers
	hold    []float32 // constants that stay in registers
	body    func(a args) vec

	// limit, if not nil, generates the code that computes a limit before the loop. A block uses the
	// fast body if all of its elements in the first input are at most this limit.
	limit func(a args) VecVirtual
}

// args holds the arguments of a map's body: a vec per input and a register per scalar. If fast is
// set, the body may use fewer operations. Both bodies give bit-identical results.
type args struct {
	*gen
	in   []vec
	s    []VecVirtual
	fast bool
}

var mapKernels = []mapKernel{
	{name: "add", in: []string{"a", "b"}, unroll: 4, body: func(a args) vec { return a.add(a.in[0], a.in[1]) }},
	{name: "dot", in: []string{"c", "y"}, scalars: []string{"x"}, unroll: 4, hold: []float32{1},
		body: func(a args) vec { return a.mul(a.constSub(1, a.in[0]), a.scale(a.in[1], a.s[0])) }},
	{name: "exp", in: []string{"x"}, unroll: 3, hold: []float32{coeff.ExpMin, coeff.ExpMax},
		body: func(a args) vec { return a.exp(a.in[0], true) }},
	{name: "diffusion", in: []string{"c"}, scalars: []string{"-invT"}, unroll: 3,
		body: func(a args) vec { return a.falling(a.scale(a.arcCosSq(), a.s[0])) },
		// For c <= 1, arccos² is at most π²/4·c. So up to c = 87/(2.468·invT), the exponent is
		// above -87.3, and results are normal numbers. If invT is NaN, the limit is NaN, and no
		// block uses the fast body.
		limit: func(a args) VecVirtual {
			quotient, l := a.reg(), a.reg()
			a.VMOVUPS(a.mem(-35.2), quotient)
			a.VDIVPS(a.s[0], quotient, quotient)
			a.VMINPS(quotient, a.constant(1), l)
			return l
		}},
	{name: "ngd", in: []string{"c"}, scalars: []string{"shift"}, unroll: 3, limit: upToOne,
		body: func(a args) vec { // shift - 2θ; 2θ is exact
			theta := a.arcCos()
			return a.apply(a.VSUBPS, a.add(theta, theta), a.s[0])
		}},
	{name: "ngdExp", in: []string{"c"}, scalars: []string{"-invT"}, unroll: 3,
		body: func(a args) vec { return a.falling(a.scale(a.arcCos(), a.s[0])) },
		// For c <= 1, arccos is at most π/2·√c. So with q = 87/(1.5709·invT), the exponent stays
		// above -87.3 up to c = q². The limit is min(1, q, q²), which is negative for q < 0.
		limit: func(a args) VecVirtual {
			q, l := a.reg(), a.reg()
			a.VMOVUPS(a.mem(-55.3), q)
			a.VDIVPS(a.s[0], q, q)
			a.VMINPS(q, a.constant(1), l)
			a.VMULPS(q, q, q)
			a.VMINPS(l, q, l)
			return l
		}},
	{name: "gaussian", in: []string{"c", "y"}, scalars: []string{"x", "-gamma"}, unroll: 2,
		hold: []float32{coeff.ExpMin},
		body: func(a args) vec {
			d := a.apply(a.VSUBPS, a.in[1], a.s[0])
			w := a.scale(a.in[1], a.s[0])
			w = a.mul(a.add(w, w), a.in[0])
			a.mulAdd(d, d, w)
			return a.falling(a.scale(d, a.s[1]))
		}},
	{name: "arcCosine0", in: []string{"c"}, unroll: 3, limit: upToOne,
		body: func(a args) vec {
			c := a.in[0]
			if a.fast {
				return a.constSub(1, a.mulConst(a.sqrt(a.arcSq(c)), coeff.InvPi))
			}
			u := a.mulConst(a.sqrt(a.arcSq(a.fold(c))), coeff.InvPi)
			return a.blend(a.compare(greater, c, a.operand(1)), u, a.constSub(1, u))
		}},
	{name: "arcCosine1", in: []string{"c", "y"}, scalars: []string{"x"}, unroll: 2, hold: []float32{0, 1, 2},
		body: func(a args) vec { return a.mul(a.scale(a.in[1], a.s[0]), a.arc1(a.in[0])) }},
	{name: "arcCosine2", in: []string{"c", "y"}, scalars: []string{"x"}, unroll: 2, hold: []float32{1, 2},
		body: func(a args) vec {
			w := a.scale(a.in[1], a.s[0])
			return a.mul(a.mul(w, w), a.arc2(a.in[0]))
		}},
}

// upToOne is the limit of maps whose fast body requires only c <= 1.
func upToOne(a args) VecVirtual { return a.constant(1) }

func maps(f file) {
	for _, set := range isas {
		for _, m := range mapKernels {
			m.write(f.gen(set))
		}
	}
}

// write generates a map in three parts:
//
//	block: a block of registers, repeated while a full block has only elements up to limit
//	single: a single register, then a jump to block
//	tail: the remaining elements, fewer than a register, with masked loads and a masked store
func (m mapKernel) write(g *gen) {
	signature := "func(" + strings.Join(append([]string{"dst"}, m.in...), ", ") + " []float32"
	for _, name := range m.scalars {
		signature += ", " + strings.TrimPrefix(name, "-") + " float32"
	}
	g.function(m.name+g.suffix, signature+")")
	g.Doc(fmt.Sprintf("%s%s is %sGeneric for %s.", m.name, g.suffix, m.name, g.suffix))

	dst := g.base("dst")
	n := g.length("dst")
	var from []Register
	for _, name := range m.in {
		from = append(from, g.base(name))
	}
	g.hold(m.hold...)
	a := args{gen: g, in: make([]vec, len(from))}
	for _, name := range m.scalars {
		param, err := g.Param(strings.TrimPrefix(name, "-")).Resolve()
		if err != nil {
			panic(err)
		}
		all := g.reg()
		g.VBROADCASTSS(param.Addr, all)
		if strings.HasPrefix(name, "-") {
			g.VXORPS(g.mem(float32(math.Copysign(0, -1))), all, all)
		}
		a.s = append(a.s, all)
	}
	var limit VecVirtual
	if m.limit != nil {
		limit = m.limit(a)
	}
	unroll := m.unroll
	if g.lanes == 16 {
		unroll = 4 // AVX-512 has 32 vector registers
	}

	at := g.GP64()
	g.XORQ(at, at)
	place := func(base Register, i int) Mem {
		return element(base, at, 4).Offset(4 * i * g.lanes)
	}
	load := func(registers int) {
		for j, base := range from {
			a.in[j] = g.each(registers, func(i int, d VecVirtual) { g.VMOVUPS(place(base, i), d) })
		}
	}
	block, single, tail, done := g.label("block"), g.label("single"), g.label("tail"), g.label("done")
	if unroll == 1 && m.limit == nil {
		single = tail // a block is a single register
	}

	g.Label(block)
	g.CMPQ(n, U32(unroll*g.lanes))
	g.JL(single)
	load(unroll)
	if m.limit != nil {
		g.jumpAny(g.compare(notLessEqual, a.in[0], limit), single)
	}
	a.fast = m.limit != nil
	for i, v := range m.body(a) {
		g.VMOVUPS(v, place(dst, i))
	}
	a.fast = false
	g.ADDQ(U32(unroll*g.lanes), at)
	g.SUBQ(U32(unroll*g.lanes), n)
	g.JMP(block)

	if single != tail {
		g.Label(single)
		g.CMPQ(n, U32(g.lanes))
		g.JL(tail)
		load(1)
		g.VMOVUPS(m.body(a)[0], place(dst, 0))
		g.ADDQ(U32(g.lanes), at)
		g.SUBQ(U32(g.lanes), n)
		g.JMP(block)
	}

	g.Label(tail)
	g.TESTQ(n, n)
	g.JEQ(done)
	first := g.firstMask(n)
	for j, base := range from {
		a.in[j] = vec{g.load32s(place(base, 0), first)}
	}
	g.store32s(m.body(a)[0], place(dst, 0), first)
	g.Label(done)
	g.end()
}

// The functions below repeat the operations of asm/maps_generic.go in the same order.

// arcSq returns arccos²(1-m) = 2m + m²·Q(m) for m in [0, 1].
func (g *gen) arcSq(m vec) vec {
	square := g.mul(m, m)
	even := g.poly(square, coeff.ArcCosSq7, coeff.ArcCosSq5, coeff.ArcCosSq3, coeff.ArcCosSq1)
	odd := g.poly(square, coeff.ArcCosSq8, coeff.ArcCosSq6, coeff.ArcCosSq4, coeff.ArcCosSq2)
	g.mulAdd(odd, m, even)
	g.mulAdd(odd, square, g.add(m, m))
	return odd
}

// fold returns m = min(c, 2-c); NaN is preserved.
func (g *gen) fold(c vec) vec { return g.min(g.constSub(2, c), c) }

// supplement returns π-φ as hi + lo, where lo is the rounding error of hi.
func (g *gen) supplement(phi vec) (hi, lo vec) {
	hi = g.constSub(coeff.PiHi, phi)
	lo = g.constSub(coeff.PiHi, hi)
	lo = g.sub(lo, phi)
	return hi, g.addConst(lo, coeff.PiLo)
}

// arcCos returns θ = arccos(1-c) for c in [0, 2]. If a.fast is set, c must be at most 1.
func (a args) arcCos() vec {
	c := a.in[0]
	if a.fast {
		return a.sqrt(a.arcSq(c))
	}
	phi := a.sqrt(a.arcSq(a.fold(c)))
	hi, lo := a.supplement(phi)
	return a.blend(a.compare(greater, c, a.operand(1)), a.add(hi, lo), phi)
}

// arcCosSq returns arccos²(1-c) for c in [0, 2]. If a.fast is set, c must be at most 1.
func (a args) arcCosSq() vec {
	c := a.in[0]
	if a.fast {
		return a.arcSq(c)
	}
	w := a.arcSq(a.fold(c))
	hi, lo := a.supplement(a.sqrt(w))
	lo = a.mul(hi, a.add(lo, lo))
	a.mulAdd(hi, hi, lo)
	return a.blend(a.compare(greater, c, a.operand(1)), hi, w)
}

// falling returns e^x for x <= 0, and overwrites x. If a.fast is set, results must be normal.
func (a args) falling(x vec) vec {
	if a.fast {
		return a.expNormal(x)
	}
	return a.exp(x, false)
}

// reduce splits x = n ln 2 + r. It overwrites x with r, and returns p = exp(r). The low bits of k
// hold the integer n, plus 254 if round is coeff.Round.
func (g *gen) reduce(x vec, round float32) (k, p vec) {
	k = g.all(coeff.Log2E, len(x))
	g.mulAddConst(k, x, round)
	n := g.subConst(k, round)
	g.subMulConst(x, n, coeff.Ln2Hi)
	g.subMulConst(x, n, coeff.Ln2Lo)
	p = g.poly(x, coeff.Exp6, coeff.Exp5, coeff.Exp4, coeff.Exp3, coeff.Exp2, coeff.Exp1, coeff.Exp0)
	return k, p
}

// exp returns e^x, and overwrites x. high must be set if e^x may overflow.
func (g *gen) exp(x vec, high bool) vec {
	x = g.clampLow(x, coeff.ExpMin)
	if high {
		x = g.clampHigh(x, coeff.ExpMax)
	}
	k, p := g.reduce(x, coeff.Round)
	b := g.apply(g.VPSLLD, U8(23), k)
	b1 := g.apply(g.VPSRLD, U8(1), b)
	for i := range b1 {
		if g.lanes == 16 {
			g.VPANDD(g.memBits(0x7f800000), b1[i], b1[i])
		} else {
			g.VPAND(g.memBits(0x7f800000), b1[i], b1[i])
		}
		g.VPSUBD(b1[i], b[i], b[i])
	}
	return g.mul(g.mul(p, b1), b)
}

// expNormal returns e^x, which must be a normal number, and overwrites x. It takes fewer operations
// than exp. Results are bit-identical to exp.
func (g *gen) expNormal(x vec) vec {
	k, p := g.reduce(x, coeff.RoundPlain)
	for i := range k {
		g.VPSLLD(U8(23), k[i], k[i])
		g.VPADDD(k[i], p[i], p[i])
	}
	return p
}

// arc1 returns (sin θ + (π-θ) cos θ)/π for θ = arccos(1-c), c in [0, 2].
func (g *gen) arc1(c vec) vec {
	m := g.fold(c)
	p := g.poly(m, coeff.Arc16, coeff.Arc15, coeff.Arc14, coeff.Arc13, coeff.Arc12, coeff.Arc11, coeff.Arc10)
	t := g.mul(m, g.sqrt(m))
	u := g.clampLow(g.constSub(1, c), 0)
	g.mulAdd(p, t, u)
	return p
}

// arc2 returns (3 sin θ cos θ + (π-θ)(1 + 2cos²θ))/π for θ = arccos(1-c), c in [0, 2].
func (g *gen) arc2(c vec) vec {
	m := g.fold(c)
	p := g.poly(m, coeff.Arc26, coeff.Arc25, coeff.Arc24, coeff.Arc23, coeff.Arc22, coeff.Arc21, coeff.Arc20)
	t := g.mul(p, g.mul(g.mul(m, m), g.sqrt(m)))
	u := g.constSub(1, c)
	v := g.add(u, u)
	g.mulAddConst(v, u, 1)
	return g.blend(g.compare(greater, c, g.operand(1)), t, g.sub(v, t))
}
