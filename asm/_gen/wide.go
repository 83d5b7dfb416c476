package main

import (
	"fmt"
	"math"

	"github.com/gramengine/gram/asm/internal/coeff"
	"github.com/mmcloughlin/avo/attr"
	"github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// wideMaps adds the kernels of asm/wide_generic.go.
func wideMaps(c *build.Context) {
	data := &constants{at: map[uint32]operand.Mem{}, wide: map[uint64]operand.Mem{}}
	for _, set := range isas {
		g := &gen{Context: c, isa: set, data: data}
		g.gaussianDeficit()
		g.tanh()
		g.join()
		g.affine()
		g.squares()
		g.halfAngle()
		if set.lanes == 8 {
			g.halfLine() // serves AVX-512, too: finding rows is the work
		}
	}
}

// mem64 is a constant that fills the widest register, as 64-bit lanes.
func (g *gen) mem64(bits uint64) operand.Mem {
	if m, ok := g.data.wide[bits]; ok {
		return m
	}
	m := g.StaticGlobal(fmt.Sprintf("all_%016x", bits))
	g.DataAttributes(attr.RODATA | attr.NOPTR)
	for i := range 8 {
		g.AddDatum(8*i, operand.U64(bits))
	}
	g.data.wide[bits] = m
	return m
}

func (g *gen) float64(x float64) operand.Mem { return g.mem64(math.Float64bits(x)) }

// some are lanes of float64 that are loaded and stored: all of a register where both are nil.
type some struct{ lanes, narrow reg.Register }

// someFirst selects the first n lanes, 0 < n < doubles.
func (g *gen) someFirst(n reg.GPVirtual) some {
	if g.lanes == 16 {
		word, k := g.GP32(), g.K()
		g.MOVL(operand.U32(0xff), word)
		g.BZHIL(n.As32(), word, word)
		g.KMOVW(word, k)
		return some{k, k}
	}
	// n, spread, above 0, 1, 2, 3; for float32 the same in 32 bits each.
	lanes, narrow, spread := g.reg(), g.XMM(), g.XMM()
	g.VMOVQ(n, spread)
	g.VPBROADCASTQ(spread, lanes)
	g.VPBROADCASTD(spread, narrow)
	g.VPCMPGTQ(g.counting(8), lanes, lanes)
	g.VPCMPGTD(g.counting(4), narrow, narrow)
	return some{lanes, narrow}
}

// load64 loads float64 into v, load32 float32 as float64; store64 stores float64, store32 rounds them to float32: the lanes that are selected.
func (g *gen) load64(m operand.Mem, s some, v reg.VecVirtual) reg.VecVirtual {
	switch {
	case s.lanes == nil:
		g.VMOVUPD(m, v)
	case g.lanes == 16:
		g.VMOVUPD_Z(m, s.lanes, v)
	default:
		g.VMASKMOVPD(m, s.lanes, v)
	}
	return v
}

func (g *gen) load32(m operand.Mem, s some, v reg.VecVirtual) reg.VecVirtual {
	switch {
	case s.lanes == nil:
		g.VCVTPS2PD(m, v)
	case g.lanes == 16:
		g.VCVTPS2PD_Z(m, s.lanes, v)
	default:
		g.VMASKMOVPS(m, s.narrow, v.AsX())
		g.VCVTPS2PD(v.AsX(), v)
	}
	return v
}

func (g *gen) store64(v reg.VecVirtual, m operand.Mem, s some) {
	switch {
	case s.lanes == nil:
		g.VMOVUPD(v, m)
	case g.lanes == 16:
		g.VMOVUPD(v, s.lanes, m)
	default:
		g.VMASKMOVPD(v, s.lanes, m)
	}
}

func (g *gen) store32(v reg.VecVirtual, m operand.Mem, s some) {
	if g.lanes == 16 {
		g.VCVTPD2PS(v, v.AsY())
		if s.lanes == nil {
			g.VMOVUPS(v.AsY(), m)
		} else {
			g.VMOVUPS(v.AsY(), s.lanes, m)
		}
		return
	}
	g.VCVTPD2PSY(v, v.AsX())
	if s.lanes == nil {
		g.VMOVUPS(v.AsX(), m)
	} else {
		g.VMASKMOVPS(v.AsX(), s.narrow, m)
	}
}

// elements runs body for one register of elements after the other, of which at is the first, and once more for what is left of n.
func (g *gen) elements(n reg.GPVirtual, body func(at reg.GPVirtual, s some)) {
	g.blocks(n, 1, func(at reg.GPVirtual, s some, _ int) { body(at, s) })
}

// blocks is elements for a number of registers at a time, as long as there are as many elements.
func (g *gen) blocks(n reg.GPVirtual, most int, body func(at reg.GPVirtual, s some, wide int)) {
	at, done := g.GP64(), g.label("done")
	g.XORQ(at, at)
	for wide := most; wide > 0; wide /= 2 {
		again, fewer := g.label("block"), g.label("fewer")
		g.Label(again)
		g.CMPQ(n, operand.U32(wide*g.doubles()))
		g.JL(operand.LabelRef(fewer))
		body(at, some{}, wide)
		g.ADDQ(operand.U32(wide*g.doubles()), at)
		g.SUBQ(operand.U32(wide*g.doubles()), n)
		g.JMP(operand.LabelRef(again))
		g.Label(fewer)
	}
	g.TESTQ(n, n)
	g.JEQ(operand.LabelRef(done))
	body(at, g.someFirst(n), 1)
	g.Label(done)
}

// deficitHeld are the constants of deficit64 that stay in registers.
type deficitHeld struct{ one, round, low, last reg.VecVirtual }

func (g *gen) holdDeficit() deficitHeld {
	return deficitHeld{g.everywhereFloat(1), g.everywhereFloat(coeff.Round64), g.everywhereFloat(coeff.Expm1Low), g.everywhereFloat(coeff.Expm18)}
}

// deficit64 is 1-e^w for w <= 0, which is spent; NaN stays.
func (g *gen) deficit64(w reg.VecVirtual, h *deficitHeld) reg.VecVirtual {
	g.VMAXPD(w, h.low, w)
	k, r, p := g.reg(), g.reg(), g.reg()
	g.VMOVAPD(h.round, k)
	g.VFMADD231PD(g.float64(coeff.LogE64), w, k)
	g.VSUBPD(h.round, k, r)
	g.VFNMADD132PD(g.float64(coeff.Ln264), w, r) // r = w - r·ln 2
	g.VMOVAPD(h.last, p)
	for _, a := range []float64{coeff.Expm17, coeff.Expm16, coeff.Expm15, coeff.Expm14, coeff.Expm13, coeff.Expm12, coeff.Expm11} {
		g.VFMADD213PD(g.float64(a), r, p)
	}
	g.VFMADD213PD(h.one, r, p)
	g.VMULPD(r, p, p)
	g.VPSLLQ(operand.U8(52), k, k)
	g.VPADDQ(h.one, k, k)
	g.VSUBPD(k, h.one, r)
	g.VFNMADD231PD(p, k, r)
	return r
}

func (g *gen) gaussianDeficit() {
	g.begin("gaussianDeficit", "func(dst, c, y []float32, x, gamma float64)", "is gaussianDeficitGeneric.")
	dst := g.Load(g.Param("dst").Base(), g.GP64())
	n := g.Load(g.Param("dst").Len(), g.GP64()).(reg.GPVirtual)
	c := g.Load(g.Param("c").Base(), g.GP64())
	y := g.Load(g.Param("y").Base(), g.GP64())
	x, gamma := g.everywhere("x"), g.everywhere("gamma")
	held := g.holdDeficit()
	g.VXORPD(g.float64(math.Copysign(0, -1)), gamma, gamma)
	g.elements(n, func(at reg.GPVirtual, s some) {
		place := func(base reg.Register) operand.Mem { return operand.Mem{Base: base, Index: at, Scale: 4} }
		v, w := g.load32(place(c), s, g.reg()), g.load32(place(y), s, g.reg())
		d := g.reg()
		g.VSUBPD(w, x, d)
		g.VMULPD(x, w, w)
		g.VADDPD(v, v, v)
		g.VMULPD(v, w, w)
		g.VFMADD231PD(d, d, w)
		g.VMULPD(gamma, w, w)
		g.store32(g.deficit64(w, &held), place(dst), s)
	})
	g.VZEROUPPER()
	g.RET()
}

func (g *gen) tanh() {
	g.begin("tanh", "func(dst []float32, v []float64)", "is tanhGeneric.")
	dst := g.Load(g.Param("dst").Base(), g.GP64())
	n := g.Load(g.Param("dst").Len(), g.GP64()).(reg.GPVirtual)
	from := g.Load(g.Param("v").Base(), g.GP64())
	held := g.holdDeficit()
	minus, two := g.everywhereFloat(math.Copysign(0, -1)), g.everywhereFloat(2)
	g.elements(n, func(at reg.GPVirtual, s some) {
		v, w := g.load64(operand.Mem{Base: from, Index: at, Scale: 8}, s, g.reg()), g.reg()
		g.VORPD(minus, v, w)
		g.VADDPD(w, w, w)
		e, under := g.deficit64(w, &held), g.reg()
		g.VSUBPD(e, two, under)
		g.VDIVPD(under, e, e)
		g.VANDPD(minus, v, v)
		g.VORPD(v, e, e)
		g.store32(e, operand.Mem{Base: dst, Index: at, Scale: 4}, s)
	})
	g.VZEROUPPER()
	g.RET()
}

// joined is how many registers of elements a join takes at a time.
const joined = 2

func (g *gen) join() {
	g.begin("join", "func(dst []float32, c [][]float32, q [][]float64, p []float64, degree int)", "is joinGeneric.")
	dst := g.Load(g.Param("dst").Base(), g.GP64())
	n := g.Load(g.Param("dst").Len(), g.GP64()).(reg.GPVirtual)
	c := g.Load(g.Param("c").Base(), g.GP64())
	given := g.Load(g.Param("c").Len(), g.GP64())
	q := g.Load(g.Param("q").Base(), g.GP64())
	p := g.Load(g.Param("p").Base(), g.GP64())
	parts := g.Load(g.Param("p").Len(), g.GP64())
	degree := g.Load(g.Param("degree"), g.GP64())
	one, half, two := g.everywhereFloat(1), g.everywhereFloat(0.5), g.everywhereFloat(2)
	g.DECQ(degree)
	g.blocks(n, joined, func(at reg.GPVirtual, s some, wide int) {
		place := func(base reg.Register, i, bytes int) operand.Mem {
			return operand.Mem{Base: base, Index: at, Scale: uint8(bytes), Disp: bytes * i * g.doubles()}
		}
		gap, v := g.regs(wide), g.regs(wide)
		for k := range v {
			g.VXORPD(gap[k], gap[k], gap[k])
			g.VXORPD(v[k], v[k], v[k])
		}
		i, ci, qi, row := g.GP64(), g.GP64(), g.GP64(), g.GP64()
		part, without, next, single := g.label("part"), g.label("without"), g.label("next"), g.label("single")
		g.XORQ(i, i)
		g.MOVQ(c, ci)
		g.MOVQ(q, qi)
		g.Label(part)
		g.MOVQ(operand.Mem{Base: qi}, row)
		a, b := g.reg(), g.regs(wide)
		g.VBROADCASTSD(operand.Mem{Base: p, Index: i, Scale: 8}, a)
		for k := range b {
			d := g.reg()
			g.load64(place(row, k, 8), s, b[k])
			g.VSUBPD(b[k], a, d)
			g.VFMADD231PD(d, d, gap[k])
		}
		g.CMPQ(i, given)
		g.JGE(operand.LabelRef(without))
		g.MOVQ(operand.Mem{Base: ci}, row)
		for k := range b {
			g.VMULPD(a, b[k], b[k])
			g.VFMADD231PD(g.load32(place(row, k, 4), s, g.reg()), b[k], v[k])
		}
		g.Label(without)
		g.ADDQ(operand.U8(sliceBytes), ci)
		g.ADDQ(operand.U8(sliceBytes), qi)
		g.INCQ(i)
		g.CMPQ(i, parts)
		g.JL(operand.LabelRef(part))
		for k := range v {
			g.VFMADD231PD(half, gap[k], v[k])
			g.VMINPD(v[k], two, v[k]) // NaN stays
		}

		g.MOVQ(degree, i)
		g.TESTQ(i, i)
		g.JEQ(operand.LabelRef(single))
		sum, rest := g.regs(wide), g.regs(wide)
		for k := range v {
			g.VMOVAPD(one, sum[k])
			g.VSUBPD(v[k], one, rest[k])
		}
		g.Label(next)
		for k := range v {
			g.VFMADD213PD(one, rest[k], sum[k])
		}
		g.DECQ(i)
		g.JNZ(operand.LabelRef(next))
		for k := range v {
			g.VMULPD(sum[k], v[k], v[k])
		}
		g.Label(single)
		for k := range v {
			g.store32(v[k], place(dst, k, 4), s)
		}
	})
	g.VZEROUPPER()
	g.RET()
}

// The places of a half line, as asm/wide_generic.go has them.
const (
	halfLineBits  = 4
	halfLineFirst = (1023 - 160) << halfLineBits
	halfLineRows  = 320 << halfLineBits
)

func (g *gen) halfLine() {
	g.begin("halfLine", "func(dst []float32, v []float64, rows [][8]float64, zero float64) (outside bool)", "is halfLineGeneric.")
	dst := g.Load(g.Param("dst").Base(), g.GP64())
	n := g.Load(g.Param("dst").Len(), g.GP64()).(reg.GPVirtual)
	from := g.Load(g.Param("v").Base(), g.GP64())
	rows := g.Load(g.Param("rows").Base(), g.GP64())
	zero, nans := g.everywhere("zero"), g.reg()
	const step = 52 - halfLineBits
	mantissas, upper, middle := g.mem64(1<<52-1), g.mem64(^uint64(1<<step-1)), g.mem64(1<<(step-1))
	first, last := g.mem64(halfLineFirst), g.mem64(halfLineRows)
	g.VXORPD(nans, nans, nans)
	g.elements(n, func(at reg.GPVirtual, s some) {
		v := g.load64(operand.Mem{Base: from, Index: at, Scale: 8}, s, g.reg())
		// What is below the first row wraps around: its lower half is beyond the last, and its upper half the greatest.
		row := g.reg()
		g.VPSRLQ(operand.U8(step), v, row)
		g.VPSUBQ(first, row, row)
		g.VPMINUD(last, row, row)
		g.VPSLLQ(operand.U8(6), row, row) // in bytes
		var place [4]reg.GPVirtual
		high := g.XMM()
		g.VEXTRACTI128(operand.U8(1), row, high)
		for half, x := range []reg.Register{row.AsX(), high} {
			place[2*half], place[2*half+1] = g.GP64(), g.GP64()
			g.VMOVQ(x, place[2*half])
			g.VPEXTRQ(operand.U8(1), x, place[2*half+1])
		}
		t, mid := g.reg(), g.reg()
		g.VANDPD(mantissas, v, t)
		g.VORPD(g.float64(1), t, t)
		g.VANDPD(upper, t, mid)
		g.VORPD(middle, mid, mid)
		g.VSUBPD(mid, t, t)

		// Horner's rule, two coefficients at a time: a register holds those of the rows i and i+2.
		var p reg.VecVirtual
		for pair := 2; pair >= 0; pair-- {
			var two [2]reg.VecVirtual
			for i := range two {
				two[i] = g.reg()
				g.VBROADCASTF128(operand.Mem{Base: rows, Index: place[i], Scale: 1, Disp: 16 * pair}, two[i])
				g.VINSERTF128(operand.U8(1), operand.Mem{Base: rows, Index: place[i+2], Scale: 1, Disp: 16 * pair}, two[i], two[i])
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
		g.VCMPPD(operand.U8(3), p, p, mid) // NaN
		g.VORPD(mid, nans, nans)
		g.store32(p, operand.Mem{Base: dst, Index: at, Scale: 4}, s)
	})
	bits, any := g.GP32(), g.GP8()
	g.VMOVMSKPD(nans, bits)
	g.VZEROUPPER()
	g.TESTL(bits, bits)
	g.SETNE(any)
	g.Store(any, g.ReturnIndex(0))
	g.RET()
}
