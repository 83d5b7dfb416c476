package main

import (
	"github.com/gramengine/gram/asm/internal/coeff"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// The functions here are those of asm/scalar_generic.go under the same names, operation by operation.

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

// reduce splits x = n ln 2 + r. The integer n stands in the low bits of k, plus 254 if round is coeff.Round. x becomes r, and the polynomial of
// exp(r) is the second result.
func (g *gen) reduce(x vec, round float32) (k, p vec) {
	k = g.all(coeff.Log2E, len(x))
	g.mulAddConst(k, x, round)
	n := g.subConst(k, round)
	g.subMulConst(x, n, coeff.Ln2Hi)
	g.subMulConst(x, n, coeff.Ln2Lo)
	p = g.poly(x, coeff.Exp6, coeff.Exp5, coeff.Exp4, coeff.Exp3, coeff.Exp2, coeff.Exp1, coeff.Exp0)
	return k, p
}

// exp is e^x for any x, which is spent. high tells whether x may lie above the range of results.
func (g *gen) exp(x vec, high bool) vec {
	x = g.clampLow(x, coeff.ExpLow)
	if high {
		x = g.clampHigh(x, coeff.ExpHigh)
	}
	k, p := g.reduce(x, coeff.Round)
	b := g.each(len(k), func(i int, d reg.VecVirtual) { g.VPSLLD(operand.U8(23), k[i], d) })
	b1 := g.each(len(k), func(i int, d reg.VecVirtual) { g.VPSRLD(operand.U8(1), b[i], d) })
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

// expNormal is e^x for x, spent, whose results are normal numbers: the same bits as exp with fewer operations.
func (g *gen) expNormal(x vec) vec {
	k, p := g.reduce(x, coeff.RoundPlain)
	for i := range k {
		g.VPSLLD(operand.U8(23), k[i], k[i])
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
