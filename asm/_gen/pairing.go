package main

import (
	"github.com/gramengine/gram/asm/internal/coeff"
	"github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// pairings adds the similarities of histograms: their panels, and their terms as maps. A single document is under way, since registers are needed for the terms: these
// are so long that what waits is the multiplier.
func pairings(c *build.Context) {
	data := &constants{at: map[uint32]operand.Mem{}}
	for _, p := range []struct {
		name, terms string
		term        func(g *gen, y vec, x reg.VecVirtual) vec
	}{
		{"ChiSquare", "chiSquareTerms", (*gen).chiSquare},
		{"JensenShannon", "jensenShannonTerms", (*gen).jensenShannon},
	} {
		for _, set := range isas {
			fresh := func() *gen { return &gen{Context: c, isa: set, data: data, held: map[float32]reg.VecVirtual{}} }
			g := fresh()
			g.panel(p.name, 1, func(m operand.Mem, value, sum reg.VecVirtual) {
				y := g.reg()
				g.VMOVUPS(m, y)
				g.VADDPS(p.term(g, vec{y}, value)[0], sum, sum)
			})
			mapKernel{name: p.terms, dst: "dst", in: []string{"y"}, scalars: []string{"x"}, unroll: 1,
				body: func(g *gen, in []vec, s []reg.VecVirtual) vec { return p.term(g, in[0], s[0]) }}.write(fresh())
		}
	}
}

// The functions here are those of asm/pairing_generic.go, operation by operation.

// chiSquare is 2xy/(x+y).
func (g *gen) chiSquare(y vec, x reg.VecVirtual) vec {
	product := g.scale(g.add(y, y), x)
	sum := g.each(len(y), func(i int, d reg.VecVirtual) { g.VADDPS(x, y[i], d) })
	return g.each(len(y), func(i int, d reg.VecVirtual) { g.VDIVPS(sum[i], product[i], d) })
}

// jensenShannon is min(x, y)·h, h a function of the quotient of both.
func (g *gen) jensenShannon(y vec, x reg.VecVirtual) vec {
	least := g.each(len(y), func(i int, d reg.VecVirtual) { g.VMINPS(x, y[i], d) })
	most := g.each(len(y), func(i int, d reg.VecVirtual) { g.VMAXPS(x, y[i], d) })
	r := g.each(len(y), func(i int, d reg.VecVirtual) { g.VDIVPS(most[i], least[i], d) })
	h := g.twoChains(r, coeff.Entropy7, coeff.Entropy6, coeff.Entropy5, coeff.Entropy4, coeff.Entropy3, coeff.Entropy2, coeff.Entropy1, coeff.Entropy0)
	// From here on, so that registers last: e, then z in the place of r.
	e := g.each(len(y), func(i int, d reg.VecVirtual) {
		g.subBits(coeff.RootHalfBits, r[i], d)
		g.VPSRAD(operand.U8(23), d, d)
	})
	z := g.each(len(y), func(i int, d reg.VecVirtual) {
		g.VPSLLD(operand.U8(23), e[i], d)
		g.VPSUBD(d, r[i], d)
	})
	for i := range e {
		g.VCVTDQ2PS(e[i], e[i])
	}
	g.subMulConst(h, e, 0.5)
	z = g.subConst(z, 1)
	l := g.twoChains(z, coeff.Log7, coeff.Log6, coeff.Log5, coeff.Log4, coeff.Log3, coeff.Log2, coeff.Log1, coeff.Log0)
	for i := range h {
		g.VFNMADD231PS(l[i], z[i], h[i])
	}
	return g.mul(least, h)
}

// twoChains is the polynomial with the given coefficients, an even number of them, the highest first: its odd and its even powers are summed in two chains that
// don't wait for each other.
func (g *gen) twoChains(x vec, c ...float32) vec {
	var chains [2][]float32
	for i, v := range c {
		chains[i%2] = append(chains[i%2], v)
	}
	s := g.mul(x, x)
	odd, even := g.poly(s, chains[0]...), g.poly(s, chains[1]...)
	g.mulAdd(odd, x, even)
	return odd
}

// subBits is a less a constant, as integers. The sum is the same as with the constant's complement, which a register of integers can take from memory.
func (g *gen) subBits(bits uint32, a, dst reg.VecVirtual) { g.VPADDD(g.memBits(-bits), a, dst) }
