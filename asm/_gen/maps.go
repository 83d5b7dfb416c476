package main

import (
	"fmt"
	"math"
	"strings"

	"github.com/gramengine/gram/asm/internal/coeff"
	"github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// A mapKernel is an elementwise map. in names the slices it reads, of which the first gives the signature's length where dst does not, and
// scalars the float32 parameters, which every lane of a register is filled with before the loop.
type mapKernel struct {
	name    string
	dst     string
	in      []string
	scalars []string
	unroll  int       // registers in a block, with 16 registers in all
	hold    []float32 // constants that stay in registers
	body    func(g *gen, in []vec, s []reg.VecVirtual) vec

	// fast, if there is one, computes a whole block with fewer operations, and the same bits, when no element of the first input is above a
	// limit, which is computed before the loop.
	fast  func(g *gen, in []vec, s []reg.VecVirtual) vec
	limit func(g *gen, s []reg.VecVirtual) reg.VecVirtual
}

var mapKernels = []mapKernel{
	{name: "add", dst: "dst", in: []string{"a", "b"}, unroll: 4,
		body: func(g *gen, in []vec, s []reg.VecVirtual) vec { return g.add(in[0], in[1]) }},
	{name: "dot", dst: "dst", in: []string{"c", "y"}, scalars: []string{"x"}, unroll: 4, hold: []float32{1},
		body: func(g *gen, in []vec, s []reg.VecVirtual) vec {
			return g.mul(g.constSub(1, in[0]), g.scale(in[1], s[0]))
		}},
	{name: "arcCos", dst: "dst", in: []string{"c"}, unroll: 3, limit: upToOne,
		body: func(g *gen, in []vec, s []reg.VecVirtual) vec { return g.arcCos(in[0]) },
		fast: func(g *gen, in []vec, s []reg.VecVirtual) vec { return g.sqrt(g.arcSq(in[0])) }},
	{name: "arcCosSq", dst: "dst", in: []string{"c"}, unroll: 3, limit: upToOne,
		body: func(g *gen, in []vec, s []reg.VecVirtual) vec { return g.arcCosSq(in[0]) },
		fast: func(g *gen, in []vec, s []reg.VecVirtual) vec { return g.arcSq(in[0]) }},
	{name: "exp", dst: "dst", in: []string{"x"}, unroll: 3, hold: []float32{coeff.ExpLow, coeff.ExpHigh},
		body: func(g *gen, in []vec, s []reg.VecVirtual) vec { return g.exp(in[0], true) }},
	{name: "diffusion", dst: "dst", in: []string{"c"}, scalars: []string{"-invT"}, unroll: 3,
		body: func(g *gen, in []vec, s []reg.VecVirtual) vec {
			return g.exp(g.scale(g.arcCosSq(in[0]), s[0]), false)
		},
		fast: func(g *gen, in []vec, s []reg.VecVirtual) vec {
			return g.expNormal(g.scale(g.arcSq(in[0]), s[0]))
		},
		// arccos² is at most π²/4·c for c <= 1, so that up to c = 87/(2.468·invT) the exponent stays above -87.3, where results are normal
		// numbers. NaN in invT stays in the limit, and nothing is below that.
		limit: func(g *gen, s []reg.VecVirtual) reg.VecVirtual {
			quotient, l := g.reg(), g.reg()
			g.VMOVUPS(g.mem(-35.2), quotient)
			g.VDIVPS(s[0], quotient, quotient)
			g.VMINPS(quotient, g.constant(1), l)
			return l
		}},
	{name: "ngd", dst: "dst", in: []string{"c"}, scalars: []string{"shift"}, unroll: 3, limit: upToOne,
		body: func(g *gen, in []vec, s []reg.VecVirtual) vec { return g.negativeTwice(g.arcCos(in[0]), s[0]) },
		fast: func(g *gen, in []vec, s []reg.VecVirtual) vec {
			return g.negativeTwice(g.sqrt(g.arcSq(in[0])), s[0])
		}},
	{name: "ngdExp", dst: "dst", in: []string{"c"}, scalars: []string{"-invT"}, unroll: 3,
		body: func(g *gen, in []vec, s []reg.VecVirtual) vec {
			return g.exp(g.scale(g.arcCos(in[0]), s[0]), false)
		},
		fast: func(g *gen, in []vec, s []reg.VecVirtual) vec {
			return g.expNormal(g.scale(g.sqrt(g.arcSq(in[0])), s[0]))
		},
		// arccos is at most π/2·√c for c <= 1, so that with q = 87/(1.5709·invT) the exponent stays above -87.3 up to c = q². The least of 1, q and
		// q² is that where it counts, and negative where q is.
		limit: func(g *gen, s []reg.VecVirtual) reg.VecVirtual {
			q, l := g.reg(), g.reg()
			g.VMOVUPS(g.mem(-55.3), q)
			g.VDIVPS(s[0], q, q)
			g.VMINPS(q, g.constant(1), l)
			g.VMULPS(q, q, q)
			g.VMINPS(l, q, l)
			return l
		}},
	{name: "gaussian", dst: "dst", in: []string{"c", "y"}, scalars: []string{"x", "-gamma"}, unroll: 2, hold: []float32{coeff.ExpLow},
		body: func(g *gen, in []vec, s []reg.VecVirtual) vec {
			d := g.each(len(in[1]), func(i int, d reg.VecVirtual) { g.VSUBPS(in[1][i], s[0], d) })
			w := g.scale(in[1], s[0])
			w = g.mul(g.add(w, w), in[0])
			g.mulAdd(d, d, w)
			return g.exp(g.scale(d, s[1]), false)
		}},
	{name: "arcCosine0", dst: "dst", in: []string{"c"}, unroll: 3, limit: upToOne,
		body: func(g *gen, in []vec, s []reg.VecVirtual) vec {
			u := g.mulConst(g.sqrt(g.arcSq(g.fold(in[0]))), coeff.InvPi)
			return g.blend(g.compare(greater, in[0], g.operand(1)), u, g.constSub(1, u))
		},
		fast: func(g *gen, in []vec, s []reg.VecVirtual) vec {
			return g.constSub(1, g.mulConst(g.sqrt(g.arcSq(in[0])), coeff.InvPi))
		}},
	{name: "arcCosine1", dst: "dst", in: []string{"c", "y"}, scalars: []string{"x"}, unroll: 2, hold: []float32{0, 1, 2},
		body: func(g *gen, in []vec, s []reg.VecVirtual) vec {
			return g.mul(g.scale(in[1], s[0]), g.arc1(in[0]))
		}},
	{name: "arcCosine2", dst: "dst", in: []string{"c", "y"}, scalars: []string{"x"}, unroll: 2, hold: []float32{1, 2},
		body: func(g *gen, in []vec, s []reg.VecVirtual) vec {
			w := g.scale(in[1], s[0])
			return g.mul(g.mul(w, w), g.arc2(in[0]))
		}},
}

// upToOne is the limit of what needs no more than that c is at most 1.
func upToOne(g *gen, s []reg.VecVirtual) reg.VecVirtual { return g.constant(1) }

// negativeTwice is shift - 2a; 2a is exact.
func (g *gen) negativeTwice(a vec, shift reg.VecVirtual) vec {
	a = g.add(a, a)
	return g.each(len(a), func(i int, d reg.VecVirtual) { g.VSUBPS(a[i], shift, d) })
}

func maps(c *build.Context) {
	data := &constants{at: map[uint32]operand.Mem{}}
	for _, set := range isas {
		for _, m := range mapKernels {
			m.write(&gen{Context: c, isa: set, data: data, held: map[float32]reg.VecVirtual{}})
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

	dst := g.Load(g.Param(m.dst).Base(), g.GP64())
	n := g.Load(g.Param(m.dst).Len(), g.GP64())
	var from []reg.Register
	for _, name := range m.in {
		from = append(from, g.Load(g.Param(name).Base(), g.GP64()))
	}
	g.hold(m.hold...)
	var scalars []reg.VecVirtual
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
	var limit reg.VecVirtual
	if m.fast != nil {
		limit, body = m.limit(g, scalars), m.fast
	}
	unroll := m.unroll
	if g.lanes == 16 {
		unroll = 4 // 32 registers
	}

	at := g.GP64()
	g.XORQ(at, at)
	place := func(base reg.Register, i int) operand.Mem {
		return operand.Mem{Base: base, Index: at, Scale: 4, Disp: 4 * i * g.lanes}
	}
	block, single, tail, done := g.label("block"), g.label("single"), g.label("tail"), g.label("done")
	if unroll == 1 && m.fast == nil {
		single = tail // blocks are single registers as it is
	}

	g.Label(block)
	g.CMPQ(n, operand.U32(unroll*g.lanes))
	g.JL(operand.LabelRef(single))
	in := make([]vec, len(from))
	for j, base := range from {
		in[j] = g.each(unroll, func(i int, d reg.VecVirtual) { g.VMOVUPS(place(base, i), d) })
	}
	if m.fast != nil {
		g.jumpAny(g.compare(notLessEqual, in[0], limit), single)
	}
	for i, v := range body(g, in, scalars) {
		g.VMOVUPS(v, place(dst, i))
	}
	g.ADDQ(operand.U32(unroll*g.lanes), at)
	g.SUBQ(operand.U32(unroll*g.lanes), n)
	g.JMP(operand.LabelRef(block))

	if single != tail {
		g.Label(single)
		g.CMPQ(n, operand.U32(g.lanes))
		g.JL(operand.LabelRef(tail))
		for j, base := range from {
			in[j] = g.each(1, func(i int, d reg.VecVirtual) { g.VMOVUPS(place(base, i), d) })
		}
		g.VMOVUPS(m.body(g, in, scalars)[0], place(dst, 0))
		g.ADDQ(operand.U32(g.lanes), at)
		g.SUBQ(operand.U32(g.lanes), n)
		g.JMP(operand.LabelRef(block))
	}

	g.Label(tail)
	g.TESTQ(n, n)
	g.JEQ(operand.LabelRef(done))
	first := g.firstMask(n)
	for j, base := range from {
		in[j] = g.loadFirst(place(base, 0), first)
	}
	g.storeFirst(m.body(g, in, scalars), first, place(dst, 0))
	g.Label(done)
	g.VZEROUPPER()
	g.RET()
}
