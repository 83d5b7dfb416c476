package main

import (
	"fmt"
	"math"
	"slices"

	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// Ordered predicates of VCMPPD.
const (
	greaterD = U8(0x1e)
	lessD    = U8(0x11)
	equalD   = U8(0x00)
)

func (g *gen) doubles() int { return g.lanes / 2 }

// everywhere returns a register with a float64 parameter in every lane.
func (g *gen) everywhere(name string) VecVirtual {
	at, err := g.Param(name).Resolve()
	if err != nil {
		panic(err)
	}
	all := g.reg()
	g.VBROADCASTSD(at.Addr, all)
	return all
}

// everywhereBits returns a register with a constant in every 64-bit lane.
func (g *gen) everywhereBits(bits uint64) VecVirtual {
	word, x, all := g.GP64(), g.XMM(), g.reg()
	g.MOVQ(U64(bits), word)
	g.VMOVQ(word, x)
	g.VPBROADCASTQ(x, all)
	return all
}

func (g *gen) everywhereFloat(x float64) VecVirtual { return g.everywhereBits(math.Float64bits(x)) }

// widen loads float32 values and returns them as float64.
func (g *gen) widen(m Mem) VecVirtual {
	d := g.reg()
	g.VCVTPS2PD(m, d)
	return d
}

// loop generates a loop that runs body for at = 0, step, … below n.
func (g *gen) loop(at, n GPVirtual, step int, body func()) {
	next, done := g.label("next"), g.label("done")
	g.Label(next)
	g.CMPQ(at, n)
	g.JGE(done)
	body()
	g.ADDQ(U32(step), at)
	g.JMP(next)
	g.Label(done)
}

// where returns the lanes of mask in which the comparison of a and b is true. AVX-512 masks the
// comparison itself.
func (g *gen) where(mask Register, predicate U8, a, b VecVirtual) Register {
	if g.lanes == 16 {
		k := g.K()
		g.VCMPPD(predicate, b, a, mask, k)
		return k
	}
	m := g.compare64(predicate, a, b)
	g.VANDPD(mask, m, m)
	return m
}

// take replaces the lanes of dst that the mask selects by the lanes of src.
func (g *gen) take(mask Register, src, dst VecVirtual) {
	if g.lanes == 16 {
		g.VMOVAPD(src, mask, dst)
		return
	}
	g.VBLENDVPD(mask, src, dst, dst)
}

// compare64 returns the lanes in which the comparison of a and b is true.
func (g *gen) compare64(predicate U8, a VecVirtual, b Op) Register {
	var m Register = g.reg()
	if g.lanes == 16 {
		m = g.K()
	}
	g.VCMPPD(predicate, b, a, m)
	return m
}

// mem64 returns the address of 32 bytes filled with a 64-bit constant.
func (g *gen) mem64(bits uint64) Mem {
	return static(g, fmt.Sprintf("%s%016x", constantPrefix, bits), slices.Repeat([]U64{U64(bits)}, 4)...)
}

func (g *gen) float64(x float64) Mem { return g.mem64(math.Float64bits(x)) }

// some selects the float64 lanes to load and store. If both fields are nil, it selects all lanes.
type some struct{ lanes, narrow Register }

// someFirst returns a selection of the first n lanes, 0 < n < doubles.
func (g *gen) someFirst(n GPVirtual) some {
	if g.lanes == 16 {
		word, k := g.GP32(), g.K()
		g.MOVL(U32(0xff), word)
		g.BZHIL(n.As32(), word, word)
		g.KMOVW(word, k)
		return some{k, k}
	}
	// Lane i is selected if n > i. Masks of float64 lanes need 64-bit comparisons, masks of float32
	// lanes 32-bit comparisons.
	lanes, narrow, spread := g.reg(), g.XMM(), g.XMM()
	g.VMOVQ(n, spread)
	g.VPBROADCASTQ(spread, lanes)
	g.VPBROADCASTD(spread, narrow)
	g.VPCMPGTQ(static[U64](g, "counting8", 0, 1, 2, 3), lanes, lanes)
	g.VPCMPGTD(static[U32](g, "counting4", 0, 1, 2, 3), narrow, narrow)
	return some{lanes, narrow}
}

// load64 loads float64 into v, and load32 loads float32 as float64. store64 stores float64, and
// store32 rounds to float32. All four access only the selected lanes.
func (g *gen) load64(m Mem, s some, v VecVirtual) VecVirtual {
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

func (g *gen) load32(m Mem, s some, v VecVirtual) VecVirtual {
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

func (g *gen) store64(v VecVirtual, m Mem, s some) {
	switch {
	case s.lanes == nil:
		g.VMOVUPD(v, m)
	case g.lanes == 16:
		g.VMOVUPD(v, s.lanes, m)
	default:
		g.VMASKMOVPD(v, s.lanes, m)
	}
}

func (g *gen) store32(v VecVirtual, m Mem, s some) {
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

// elements generates a loop that runs body for each full register of n elements, and once more for
// the remaining elements.
func (g *gen) elements(n GPVirtual, body func(at GPVirtual, s some)) {
	g.blocks(n, 1, func(at GPVirtual, s some, _ int) { body(at, s) })
}

// blocks is like elements, with most as the maximum number of registers per run of body.
func (g *gen) blocks(n GPVirtual, most int, body func(at GPVirtual, s some, wide int)) {
	g.inBlocks(n, most, g.doubles(), func(at GPVirtual, wide int) { body(at, some{}, wide) },
		func(at GPVirtual) { body(at, g.someFirst(n), 1) })
}
