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

// The kernels here take whole blocks of sixteen elements; solver_amd64.go does the rest. No operation is fused: the bits are those of
// the portable forms.

const scanBlock = 16

// Ordered predicates of VCMPPD.
const (
	greaterD = operand.U8(0x1e)
	lessD    = operand.U8(0x11)
)

func solver(c *build.Context) {
	for _, set := range isas {
		g := &gen{Context: c, isa: set}
		g.addPair()
		g.scanExtreme("Max", math.Inf(-1), greaterD)
		g.scanExtreme("Min", math.Inf(1), lessD)
		g.scanGain()
	}
}

// begin opens a function whose name carries the instruction set.
func (g *gen) begin(name, signature, doc string) {
	g.Function(name + g.suffix)
	g.Attributes(attr.NOSPLIT)
	g.SignatureExpr(signature)
	g.Pragma("noescape")
	g.Doc(name + g.suffix + " " + doc)
}

// doubles is the number of float64 in a register.
func (g *gen) doubles() int { return g.lanes / 2 }

// everywhere fills the lanes of a register with a float64 parameter.
func (g *gen) everywhere(name string) reg.VecVirtual {
	at, err := g.Param(name).Resolve()
	if err != nil {
		panic(err)
	}
	all := g.reg()
	g.VBROADCASTSD(at.Addr, all)
	return all
}

// everywhereBits fills the 64-bit lanes of a register with a constant.
func (g *gen) everywhereBits(bits uint64) reg.VecVirtual {
	word, x, all := g.GP64(), g.XMM(), g.reg()
	g.MOVQ(operand.U64(bits), word)
	g.VMOVQ(word, x)
	g.VPBROADCASTQ(x, all)
	return all
}

// widen loads as many float32 as fit a register as float64.
func (g *gen) widen(m operand.Mem) reg.VecVirtual {
	d := g.reg()
	g.VCVTPS2PD(m, d)
	return d
}

// addPair is g[t] += a·ki[t] + b·kj[t] for whole blocks.
func (g *gen) addPair() {
	g.begin("addPair", "func(g []float64, ki, kj []float32, a, b float64)", "is gradientUpdateGeneric for a multiple of 16 elements.")
	sum := g.Load(g.Param("g").Base(), g.GP64())
	n := g.Load(g.Param("g").Len(), g.GP64()).(reg.GPVirtual)
	ki := g.Load(g.Param("ki").Base(), g.GP64())
	kj := g.Load(g.Param("kj").Base(), g.GP64())
	a, b := g.everywhere("a"), g.everywhere("b")
	at := g.GP64()
	g.XORQ(at, at)
	g.loop(at, n, scanBlock, func() {
		for i := 0; i < scanBlock; i += g.doubles() {
			p := g.widen(operand.Mem{Base: ki, Index: at, Scale: 4, Disp: 4 * i})
			q := g.widen(operand.Mem{Base: kj, Index: at, Scale: 4, Disp: 4 * i})
			g.VMULPD(a, p, p)
			g.VMULPD(b, q, q)
			g.VADDPD(q, p, p)
			out := operand.Mem{Base: sum, Index: at, Scale: 8, Disp: 8 * i}
			g.VADDPD(out, p, p)
			g.VMOVUPD(p, out)
		}
	})
	g.VZEROUPPER()
	g.RET()
}

// loop runs body for at = 0, step, … below n.
func (g *gen) loop(at, n reg.GPVirtual, step int, body func()) {
	next, done := g.label("next"), g.label("done")
	g.Label(next)
	g.CMPQ(at, n)
	g.JGE(operand.LabelRef(done))
	body()
	g.ADDQ(operand.U32(step), at)
	g.JMP(operand.LabelRef(next))
	g.Label(done)
}

// admitted selects the lanes whose byte of the mask has the bit, which fills the lanes of a register.
func (g *gen) admitted(m operand.Mem, bit reg.VecVirtual) reg.Register {
	wide := g.reg()
	g.VPMOVZXBQ(m, wide)
	if g.lanes == 16 {
		k := g.K()
		g.VPTESTMQ(bit, wide, k)
		return k
	}
	g.VPAND(bit, wide, wide)
	g.VPCMPEQQ(bit, wide, wide)
	return wide
}

// where is the lanes of the first mask in which a compares to b: for AVX-512 the comparison itself is masked.
func (g *gen) where(mask reg.Register, predicate operand.U8, a, b reg.VecVirtual) reg.Register {
	if g.lanes == 16 {
		k := g.K()
		g.VCMPPD(predicate, b, a, mask, k)
		return k
	}
	m := g.reg()
	g.VCMPPD(predicate, b, a, m)
	g.VANDPD(mask, m, m)
	return m
}

// take replaces the lanes of dst that the mask selects by those of src.
func (g *gen) take(mask reg.Register, src, dst reg.VecVirtual) {
	if g.lanes == 16 {
		g.VMOVAPD(src, mask, dst)
		return
	}
	g.VBLENDVPD(mask, src, dst, dst)
}

// scanArgs are the parameters that the scans have in common: where their results go, the values, and the mask.
const scanArgs = "value *[16]float64, first *[16]int64, g []float64, mask []byte, bit byte"

// A scan is the registers that the scans have in common.
type scan struct {
	values, mask, n, at reg.GPVirtual
	bit, block, step    reg.VecVirtual
}

func (g *gen) scanStart(step uint64) scan {
	s := scan{values: g.GP64(), mask: g.GP64(), n: g.GP64(), at: g.GP64(), bit: g.reg()}
	g.Load(g.Param("g").Base(), s.values)
	g.Load(g.Param("g").Len(), s.n)
	g.Load(g.Param("mask").Base(), s.mask)
	word, x := g.GP64(), g.XMM()
	g.Load(g.Param("bit"), word)
	g.VMOVQ(word, x)
	g.VPBROADCASTQ(x, s.bit)
	s.block, s.step = g.everywhereBits(0), g.everywhereBits(step)
	g.XORQ(s.at, s.at)
	return s
}

// store writes registers to the array behind a pointer parameter, from the given place of the block on.
func (g *gen) store(name string, from int, list []reg.VecVirtual) {
	to := g.Load(g.Param(name), g.GP64())
	for i, r := range list {
		g.VMOVUPD(r, operand.Mem{Base: to, Disp: 8 * (from + i*g.doubles())})
	}
}

// scanExtreme finds the best value at each place of the blocks: the greatest or the least, the first of several.
func (g *gen) scanExtreme(name string, start float64, predicate operand.U8) {
	g.begin("scan"+name, "func("+scanArgs+")", fmt.Sprintf("is arg%sGeneric for each of the 16 places of a block: value, and the first element of the block it stands in or -1.", name))
	s := g.scanStart(scanBlock)
	var value, first []reg.VecVirtual
	for i := 0; i < scanBlock; i += g.doubles() {
		value = append(value, g.everywhereBits(math.Float64bits(start)))
		first = append(first, g.everywhereBits(math.MaxUint64))
	}
	g.loop(s.at, s.n, scanBlock, func() {
		for i := range value {
			in := g.admitted(operand.Mem{Base: s.mask, Index: s.at, Scale: 1, Disp: i * g.doubles()}, s.bit)
			v := g.reg()
			g.VMOVUPD(operand.Mem{Base: s.values, Index: s.at, Scale: 8, Disp: 8 * i * g.doubles()}, v)
			better := g.where(in, predicate, v, value[i])
			g.take(better, v, value[i])
			g.take(better, s.block, first[i])
		}
		g.VPADDQ(s.step, s.block, s.block)
	})
	g.store("value", 0, value)
	g.store("first", 0, first)
	g.VZEROUPPER()
	g.RET()
}

// scanGain finds the greatest gain and the least score at each place of a block. The state of two registers is what sixteen registers have
// room for, so with AVX2 a place stands for the places 8 apart, too, and the second half of the results stays empty.
func (g *gen) scanGain() {
	g.begin("scanGain", "func("+scanArgs+", low *[16]float64, ki, diag []float32, gmax, kii float64)", "is argGainGeneric for each of the 16 places of a block: gain, the first element of the block it stands in or -1, least score.")
	step := 2 * g.doubles()
	s := g.scanStart(uint64(step))
	ki, diag := g.GP64(), g.GP64()
	g.Load(g.Param("ki").Base(), ki)
	g.Load(g.Param("diag").Base(), diag)
	gmax, kii := g.everywhere("gmax"), g.everywhere("kii")
	floor := g.everywhereBits(math.Float64bits(coeff.CurvatureFloor))
	empty := func() (gain, first, low []reg.VecVirtual) {
		for range 2 {
			gain = append(gain, g.everywhereBits(0))
			first = append(first, g.everywhereBits(math.MaxUint64))
			low = append(low, g.everywhereBits(math.Float64bits(math.Inf(1))))
		}
		return gain, first, low
	}
	gain, first, low := empty()
	g.loop(s.at, s.n, step, func() {
		for i := range gain {
			place := i * g.doubles()
			in := g.admitted(operand.Mem{Base: s.mask, Index: s.at, Scale: 1, Disp: place}, s.bit)
			v := g.reg()
			g.VMOVUPD(operand.Mem{Base: s.values, Index: s.at, Scale: 8, Disp: 8 * place}, v)
			g.take(g.where(in, lessD, v, low[i]), v, low[i])
			in = g.where(in, lessD, v, gmax)
			a := g.widen(operand.Mem{Base: diag, Index: s.at, Scale: 4, Disp: 4 * place})
			g.VADDPD(kii, a, a)
			k := g.widen(operand.Mem{Base: ki, Index: s.at, Scale: 4, Disp: 4 * place})
			g.VADDPD(k, k, k)
			g.VSUBPD(k, a, a)
			g.VMAXPD(floor, a, a) // the floor where a is NaN
			g.VSUBPD(v, gmax, v)
			g.VMULPD(v, v, v)
			g.VDIVPD(a, v, v)
			better := g.where(in, greaterD, v, gain[i])
			g.take(better, v, gain[i])
			g.take(better, s.block, first[i])
		}
		g.VPADDQ(s.step, s.block, s.block)
	})
	for from := 0; from < scanBlock; from += step {
		g.store("value", from, gain)
		g.store("first", from, first)
		g.store("low", from, low)
		if from+step < scanBlock {
			gain, first, low = empty()
		}
	}
	g.VZEROUPPER()
	g.RET()
}
