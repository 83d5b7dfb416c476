package main

import (
	"fmt"
	"math"
	"strings"

	"github.com/gramengine/gram/asm/internal/coeff"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// A mapKernel is an elementwise map. in names the slices that it reads, and scalars the float32
// parameters; before the loop, each scalar fills a register, negated where its name has a minus.
type mapKernel struct {
	name    string
	dst     string
	in      []string
	scalars []string
	unroll  int       // registers in a block, with 16 registers in all
	hold    []float32 // constants that stay in registers
	body    func(g *gen, in []vec, s []VecVirtual) vec

	// fast, if there is one, computes a whole block with fewer operations, and the same bits. It
	// needs that no element of the first input is above limit, which is computed before the loop.
	fast  func(g *gen, in []vec, s []VecVirtual) vec
	limit func(g *gen, s []VecVirtual) VecVirtual
}

var mapKernels = []mapKernel{
	{name: "add", dst: "dst", in: []string{"a", "b"}, unroll: 4,
		body: func(g *gen, in []vec, s []VecVirtual) vec { return g.add(in[0], in[1]) }},
	{name: "dot", dst: "dst", in: []string{"c", "y"}, scalars: []string{"x"}, unroll: 4, hold: []float32{1},
		body: func(g *gen, in []vec, s []VecVirtual) vec {
			return g.mul(g.constSub(1, in[0]), g.scale(in[1], s[0]))
		}},
	{name: "arcCos", dst: "dst", in: []string{"c"}, unroll: 3, limit: upToOne,
		body: func(g *gen, in []vec, s []VecVirtual) vec { return g.arcCos(in[0]) },
		fast: func(g *gen, in []vec, s []VecVirtual) vec { return g.sqrt(g.arcSq(in[0])) }},
	{name: "arcCosSq", dst: "dst", in: []string{"c"}, unroll: 3, limit: upToOne,
		body: func(g *gen, in []vec, s []VecVirtual) vec { return g.arcCosSq(in[0]) },
		fast: func(g *gen, in []vec, s []VecVirtual) vec { return g.arcSq(in[0]) }},
	{name: "exp", dst: "dst", in: []string{"x"}, unroll: 3, hold: []float32{coeff.ExpLow, coeff.ExpHigh},
		body: func(g *gen, in []vec, s []VecVirtual) vec { return g.exp(in[0], true) }},
	{name: "diffusion", dst: "dst", in: []string{"c"}, scalars: []string{"-invT"}, unroll: 3,
		body: func(g *gen, in []vec, s []VecVirtual) vec {
			return g.exp(g.scale(g.arcCosSq(in[0]), s[0]), false)
		},
		fast: func(g *gen, in []vec, s []VecVirtual) vec {
			return g.expNormal(g.scale(g.arcSq(in[0]), s[0]))
		},
		// For c <= 1 arccos² is at most π²/4·c. So up to c = 87/(2.468·invT) the exponent stays
		// above -87.3, where results are normal numbers. NaN in invT stays in the limit, and
		// nothing is below that.
		limit: func(g *gen, s []VecVirtual) VecVirtual {
			quotient, l := g.reg(), g.reg()
			g.VMOVUPS(g.mem(-35.2), quotient)
			g.VDIVPS(s[0], quotient, quotient)
			g.VMINPS(quotient, g.constant(1), l)
			return l
		}},
	{name: "ngd", dst: "dst", in: []string{"c"}, scalars: []string{"shift"}, unroll: 3, limit: upToOne,
		body: func(g *gen, in []vec, s []VecVirtual) vec { return g.negativeTwice(g.arcCos(in[0]), s[0]) },
		fast: func(g *gen, in []vec, s []VecVirtual) vec {
			return g.negativeTwice(g.sqrt(g.arcSq(in[0])), s[0])
		}},
	{name: "ngdExp", dst: "dst", in: []string{"c"}, scalars: []string{"-invT"}, unroll: 3,
		body: func(g *gen, in []vec, s []VecVirtual) vec {
			return g.exp(g.scale(g.arcCos(in[0]), s[0]), false)
		},
		fast: func(g *gen, in []vec, s []VecVirtual) vec {
			return g.expNormal(g.scale(g.sqrt(g.arcSq(in[0])), s[0]))
		},
		// For c <= 1 arccos is at most π/2·√c. So with q = 87/(1.5709·invT) the exponent stays
		// above -87.3 up to c = q². Where it matters, the least of 1, q and q² is that; it is
		// negative where q is.
		limit: func(g *gen, s []VecVirtual) VecVirtual {
			q, l := g.reg(), g.reg()
			g.VMOVUPS(g.mem(-55.3), q)
			g.VDIVPS(s[0], q, q)
			g.VMINPS(q, g.constant(1), l)
			g.VMULPS(q, q, q)
			g.VMINPS(l, q, l)
			return l
		}},
	{
		name:    "gaussian",
		dst:     "dst",
		in:      []string{"c", "y"},
		scalars: []string{"x", "-gamma"},
		unroll:  2,
		hold:    []float32{coeff.ExpLow},
		body: func(g *gen, in []vec, s []VecVirtual) vec {
			d := g.apply(g.VSUBPS, in[1], s[0])
			w := g.scale(in[1], s[0])
			w = g.mul(g.add(w, w), in[0])
			g.mulAdd(d, d, w)
			return g.exp(g.scale(d, s[1]), false)
		},
	},
	{name: "arcCosine0", dst: "dst", in: []string{"c"}, unroll: 3, limit: upToOne,
		body: func(g *gen, in []vec, s []VecVirtual) vec {
			u := g.mulConst(g.sqrt(g.arcSq(g.fold(in[0]))), coeff.InvPi)
			return g.blend(g.compare(greater, in[0], g.operand(1)), u, g.constSub(1, u))
		},
		fast: func(g *gen, in []vec, s []VecVirtual) vec {
			return g.constSub(1, g.mulConst(g.sqrt(g.arcSq(in[0])), coeff.InvPi))
		}},
	{
		name:    "arcCosine1",
		dst:     "dst",
		in:      []string{"c", "y"},
		scalars: []string{"x"},
		unroll:  2,
		hold:    []float32{0, 1, 2},
		body: func(g *gen, in []vec, s []VecVirtual) vec {
			return g.mul(g.scale(in[1], s[0]), g.arc1(in[0]))
		},
	},
	{name: "arcCosine2", dst: "dst", in: []string{"c", "y"}, scalars: []string{"x"}, unroll: 2, hold: []float32{1, 2},
		body: func(g *gen, in []vec, s []VecVirtual) vec {
			w := g.scale(in[1], s[0])
			return g.mul(g.mul(w, w), g.arc2(in[0]))
		}},
}

// upToOne is the limit where c <= 1 is all that fast needs.
func upToOne(g *gen, s []VecVirtual) VecVirtual { return g.constant(1) }

// negativeTwice is shift - 2a; 2a is exact.
func (g *gen) negativeTwice(a vec, shift VecVirtual) vec {
	a = g.add(a, a)
	return g.apply(g.VSUBPS, a, shift)
}

func maps(f file) {
	for _, set := range isas {
		for _, m := range mapKernels {
			m.write(f.gen(set))
		}
	}
}

// write writes one map:
//
//	block:  while a block of registers is left (and fast can take it), a block
//	single: one register, then back to block
//	tail:   what is left, less than a register, with masked loads and a masked store
func (m mapKernel) write(g *gen) {
	var scalar []string
	for _, s := range m.scalars {
		scalar = append(scalar, strings.TrimPrefix(s, "-"))
	}
	signature := fmt.Sprintf("func(%s []float32", strings.Join(append([]string{m.dst}, m.in...), ", "))
	if len(scalar) > 0 {
		signature += ", " + strings.Join(scalar, ", ") + " float32"
	}
	g.function(m.name+g.suffix, signature+")")
	g.Doc(fmt.Sprintf("%s%s is %sGeneric for %s.", m.name, g.suffix, m.name, g.suffix))

	dst := g.base(m.dst)
	n := g.length(m.dst)
	var from []Register
	for _, name := range m.in {
		from = append(from, g.base(name))
	}
	g.hold(m.hold...)
	var scalars []VecVirtual
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
		scalars = append(scalars, all)
	}
	body := m.body
	var limit VecVirtual
	if m.fast != nil {
		limit, body = m.limit(g, scalars), m.fast
	}
	unroll := m.unroll
	if g.lanes == 16 {
		unroll = 4 // 32 registers
	}

	at := g.GP64()
	g.XORQ(at, at)
	place := func(base Register, i int) Mem {
		return element(base, at, 4).Offset(4 * i * g.lanes)
	}
	block, single, tail, done := g.label("block"), g.label("single"), g.label("tail"), g.label("done")
	if unroll == 1 && m.fast == nil {
		single = tail // blocks are single registers as it is
	}

	g.Label(block)
	g.CMPQ(n, U32(unroll*g.lanes))
	g.JL(single)
	in := make([]vec, len(from))
	for j, base := range from {
		in[j] = g.each(unroll, func(i int, d VecVirtual) { g.VMOVUPS(place(base, i), d) })
	}
	if m.fast != nil {
		g.jumpAny(g.compare(notLessEqual, in[0], limit), single)
	}
	for i, v := range body(g, in, scalars) {
		g.VMOVUPS(v, place(dst, i))
	}
	g.ADDQ(U32(unroll*g.lanes), at)
	g.SUBQ(U32(unroll*g.lanes), n)
	g.JMP(block)

	if single != tail {
		g.Label(single)
		g.CMPQ(n, U32(g.lanes))
		g.JL(tail)
		for j, base := range from {
			in[j] = g.each(1, func(i int, d VecVirtual) { g.VMOVUPS(place(base, i), d) })
		}
		g.VMOVUPS(m.body(g, in, scalars)[0], place(dst, 0))
		g.ADDQ(U32(g.lanes), at)
		g.SUBQ(U32(g.lanes), n)
		g.JMP(block)
	}

	g.Label(tail)
	g.TESTQ(n, n)
	g.JEQ(done)
	first := g.firstMask(n)
	for j, base := range from {
		in[j] = g.loadFirst(place(base, 0), first)
	}
	g.storeFirst(m.body(g, in, scalars), first, place(dst, 0))
	g.Label(done)
	g.end()
}

// The functions here are those of asm/maps_generic.go for one value, operation by operation.

// arcSq is arccos²(1-m) = 2m + m²·Q(m) for m in [0, 1].
func (g *gen) arcSq(m vec) vec {
	square := g.mul(m, m)
	even := g.poly(square, coeff.ArcCosSq7, coeff.ArcCosSq5, coeff.ArcCosSq3, coeff.ArcCosSq1)
	odd := g.poly(square, coeff.ArcCosSq8, coeff.ArcCosSq6, coeff.ArcCosSq4, coeff.ArcCosSq2)
	g.mulAdd(odd, m, even)
	g.mulAdd(odd, square, g.add(m, m))
	return odd
}

// fold is m = min(c, 2-c); NaN stays.
func (g *gen) fold(c vec) vec { return g.min(g.constSub(2, c), c) }

// supplement is π-φ in two pieces.
func (g *gen) supplement(phi vec) (hi, lo vec) {
	hi = g.constSub(coeff.PiHi, phi)
	lo = g.constSub(coeff.PiHi, hi)
	lo = g.sub(lo, phi)
	return hi, g.addConst(lo, coeff.PiLo)
}

// arcCos is θ = arccos(1-c) for c in [0, 2].
func (g *gen) arcCos(c vec) vec {
	phi := g.sqrt(g.arcSq(g.fold(c)))
	hi, lo := g.supplement(phi)
	return g.blend(g.compare(greater, c, g.operand(1)), g.add(hi, lo), phi)
}

// arcCosSq is arccos²(1-c) for c in [0, 2].
func (g *gen) arcCosSq(c vec) vec {
	w := g.arcSq(g.fold(c))
	hi, lo := g.supplement(g.sqrt(w))
	lo = g.mul(hi, g.add(lo, lo))
	g.mulAdd(hi, hi, lo)
	return g.blend(g.compare(greater, c, g.operand(1)), hi, w)
}

// reduce splits x = n ln 2 + r. x becomes r, and p is the polynomial of exp(r). The low bits of k
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

// exp is e^x for any x, which it overwrites. high says whether x may lie above the range of
// results.
func (g *gen) exp(x vec, high bool) vec {
	x = g.clampLow(x, coeff.ExpLow)
	if high {
		x = g.clampHigh(x, coeff.ExpHigh)
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

// expNormal is e^x for x whose results are normal numbers: the bits of exp with fewer operations.
// It overwrites x.
func (g *gen) expNormal(x vec) vec {
	k, p := g.reduce(x, coeff.RoundPlain)
	for i := range k {
		g.VPSLLD(U8(23), k[i], k[i])
		g.VPADDD(k[i], p[i], p[i])
	}
	return p
}

// arc1 is (sin θ + (π-θ) cos θ)/π for c in [0, 2].
func (g *gen) arc1(c vec) vec {
	m := g.fold(c)
	p := g.poly(m, coeff.Arc16, coeff.Arc15, coeff.Arc14, coeff.Arc13, coeff.Arc12, coeff.Arc11, coeff.Arc10)
	t := g.mul(m, g.sqrt(m))
	u := g.clampLow(g.constSub(1, c), 0)
	g.mulAdd(p, t, u)
	return p
}

// arc2 is (3 sin θ cos θ + (π-θ)(1 + 2cos²θ))/π for c in [0, 2].
func (g *gen) arc2(c vec) vec {
	m := g.fold(c)
	p := g.poly(m, coeff.Arc26, coeff.Arc25, coeff.Arc24, coeff.Arc23, coeff.Arc22, coeff.Arc21, coeff.Arc20)
	t := g.mul(p, g.mul(g.mul(m, m), g.sqrt(m)))
	u := g.constSub(1, c)
	v := g.add(u, u)
	g.mulAddConst(v, u, 1)
	return g.blend(g.compare(greater, c, g.operand(1)), t, g.sub(v, t))
}
