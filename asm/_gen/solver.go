package main

import (
	"math"

	"github.com/gramengine/gram/asm/internal/coeff"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// These kernels process a multiple of sixteen elements, two registers at a time. Except in beyond,
// each lane keeps its best value and the index of that value's block, and the lanes are combined at
// the end. Indices are stored as float64 (exact up to 2⁵³), because AVX2 has a minimum for float64
// but not for 64-bit integers.

func solver(f file) {
	for _, set := range isas {
		g := f.gen(set)
		g.extremes()
		g.step()
		g.argGain()
		g.beyond()
	}
}

// A scan holds the registers that all scan kernels use.
type scan struct {
	values, mask, n, at GPVirtual
	block, step         VecVirtual // index of the current block in every lane, and its increment
}

// registers is the number of registers that a scan processes at a time.
const registers = 2

func (g *gen) scanStart() scan {
	s := scan{values: g.GP64(), mask: g.GP64(), n: g.GP64(), at: g.GP64()}
	g.Load(g.Param("g").Base(), s.values)
	g.Load(g.Param("g").Len(), s.n)
	g.Load(g.Param("mask").Base(), s.mask)
	s.block, s.step = g.everywhereFloat(0), g.everywhereFloat(float64(registers*g.doubles()))
	g.XORQ(s.at, s.at)
	return s
}

// scan generates a loop over all elements. Each iteration processes two registers per slice.
func (g *gen) scan(s scan, body func()) {
	g.loop(s.at, s.n, registers*g.doubles(), func() {
		body()
		g.VADDPD(s.step, s.block, s.block)
	})
}

// value returns the address of the float64 values for register i.
func (g *gen) value(s scan, i int) Mem {
	return element(s.values, s.at, 8).Offset(8 * i * g.doubles())
}

// row returns the address of a row's float32 values for register i.
func (g *gen) row(base GPVirtual, s scan, i int) Mem {
	return element(base, s.at, 4).Offset(4 * i * g.doubles())
}

// bit returns a register filled with a one-byte parameter, in the format that admitted requires.
func (g *gen) bit(name string) VecVirtual {
	word, x, all := g.param(name), g.XMM(), g.reg()
	g.VMOVQ(word, x)
	if g.lanes == 16 {
		g.VPBROADCASTB(x, all)
	} else {
		g.VPBROADCASTQ(x, all)
	}
	return all
}

// admitted returns a function that returns the lanes of register i whose mask byte has the bit.
// With AVX2, which has few registers, each call of the function computes the lanes.
func (g *gen) admitted(s scan, bit VecVirtual) func(i int) Register {
	if g.lanes == 16 {
		low, high := g.K(), g.K()
		g.VPTESTMB(element(s.mask, s.at, 1), bit.AsX(), low)
		g.KSHIFTRW(U8(8), low, high)
		return func(i int) Register { return []Register{low, high}[i] }
	}
	return func(i int) Register {
		wide := g.reg()
		g.VPMOVZXBQ(element(s.mask, s.at, 1).Offset(i*g.doubles()), wide)
		g.VPAND(bit, wide, wide)
		g.VPCMPEQQ(bit, wide, wide)
		return wide
	}
}

// A best holds, for each lane of two registers, the best value, and the index of the first element
// in the value's block.
type best struct {
	value, first vec
	predicate    U8
}

func (g *gen) newBest(none float64, predicate U8) best {
	b := best{predicate: predicate}
	for range registers {
		b.value = append(b.value, g.everywhereFloat(none))
		b.first = append(b.first, g.everywhereFloat(math.Inf(1)))
	}
	return b
}

// offer compares v, register i of a block, with the best values. In the lanes of mask in which v is
// better, it replaces the best value and the index of its block.
func (g *gen) offer(s scan, b best, i int, mask Register, v VecVirtual) {
	better := g.where(mask, b.predicate, v, b.value[i])
	g.take(better, v, b.value[i])
	g.take(better, s.block, b.first[i])
}

// across combines all lanes of a register with a binary operation, and fills the register with the
// result.
func (g *gen) across(v VecVirtual, op func(a, b, to VecVirtual)) {
	t := g.reg()
	if g.lanes == 16 {
		g.VEXTRACTF64X4(U8(1), v, t.AsY())
		op(t.AsY().(VecVirtual), v.AsY().(VecVirtual), v.AsY().(VecVirtual))
	}
	g.VEXTRACTF128(U8(1), v.AsY(), t.AsX())
	op(t.AsX().(VecVirtual), v.AsX().(VecVirtual), v.AsX().(VecVirtual))
	g.VPERMILPD(U8(1), v.AsX(), t.AsX())
	op(t.AsX().(VecVirtual), v.AsX().(VecVirtual), v.AsX().(VecVirtual))
	g.VBROADCASTSD(v.AsX(), v)
}

func (g *gen) least(a, b, to VecVirtual)    { g.VMINPD(a, b, to) }
func (g *gen) greatest(a, b, to VecVirtual) { g.VMAXPD(a, b, to) }

// finish stores the best value of all lanes and its smallest index in the results named value and
// at. The index is -1 if no value was offered.
func (g *gen) finish(b best, at, value string) {
	op := g.greatest
	if b.predicate == lessD {
		op = g.least
	}
	all := g.reg()
	op(b.value[0], b.value[1], all)
	g.across(all, op)
	g.VMOVSD(all.AsX(), g.address(g.Return(value)))

	places := g.lanePlaces()
	far := g.everywhereFloat(math.Inf(1))
	for i := range b.first {
		g.VADDPD(places, b.first[i], b.first[i])
		if i > 0 {
			g.VADDPD(g.everywhereFloat(float64(i*g.doubles())), b.first[i], b.first[i])
		}
		first := g.reg()
		g.VMOVAPD(far, first)
		g.take(g.compare64(equalD, b.value[i], all), b.first[i], first)
		b.first[i] = first
	}
	place := b.first[0]
	g.VMINPD(b.first[1], place, place)
	g.across(place, g.least)
	index, none := g.GP64(), g.GP64()
	g.VCVTTSD2SIQ(place.AsX(), index) // gives the minimum integer if the index is infinite
	g.MOVQ(I32(-1), none)
	g.TESTQ(index, index)
	g.CMOVQLT(none, index)
	g.Store(index, g.Return(at))
}

// lanePlaces holds the lane indices 0, 1, ….
func (g *gen) lanePlaces() Mem {
	var words [8]U64
	for i := range words {
		words[i] = U64(math.Float64bits(float64(i)))
	}
	return static(g, "places", words[:]...)
}

func (g *gen) extremes() {
	g.begin("extremes",
		"func(g []float64, mask []byte, up, low byte) (maxAt int, most float64, minAt int, least float64)",
		"is extremesGeneric.")
	s := g.scanStart()
	up, low := g.bit("up"), g.bit("low")
	most, least := g.newBest(math.Inf(-1), greaterD), g.newBest(math.Inf(1), lessD)
	g.scan(s, func() {
		ups, lows := g.admitted(s, up), g.admitted(s, low)
		for i := range registers {
			v := g.reg()
			g.VMOVUPD(g.value(s, i), v)
			g.offer(s, most, i, ups(i), v)
			g.offer(s, least, i, lows(i), v)
		}
	})
	g.finish(most, "maxAt", "most")
	g.finish(least, "minAt", "least")
	g.end()
}

func (g *gen) step() {
	g.begin("step",
		"func(g []float64, ki, kj []float32, a, b float64, mask []byte, bit byte) (at int, most float64)",
		"is stepGeneric.")
	s := g.scanStart()
	ki, kj := g.base("ki"), g.base("kj")
	a, b, bit := g.everywhere("a"), g.everywhere("b"), g.bit("bit")
	most := g.newBest(math.Inf(-1), greaterD)
	g.scan(s, func() {
		in := g.admitted(s, bit)
		for i := range registers {
			v := g.reg()
			g.VMOVUPD(g.value(s, i), v)
			g.VFMADD231PD(g.widen(g.row(ki, s, i)), a, v)
			g.VFMADD231PD(g.widen(g.row(kj, s, i)), b, v)
			g.VMOVUPD(v, g.value(s, i))
			g.offer(s, most, i, in(i), v)
		}
	})
	g.finish(most, "at", "most")
	g.end()
}

func (g *gen) argGain() {
	g.begin("argGain",
		"func(g []float64, ki, diag []float32, mask []byte, bit byte, gmax, kii float64) (at int, gain, low float64)",
		"is argGainGeneric.")
	s := g.scanStart()
	ki, diag := g.base("ki"), g.base("diag")
	gmax, kii, bit := g.everywhere("gmax"), g.everywhere("kii"), g.bit("bit")
	floor := g.everywhereFloat(coeff.CurvatureFloor)
	gain := g.newBest(0, greaterD)
	low := g.everywhereFloat(math.Inf(1))
	g.scan(s, func() {
		in := g.admitted(s, bit)
		for i := range registers {
			v := g.reg()
			g.VMOVUPD(g.value(s, i), v)
			g.take(g.where(in(i), lessD, v, low), v, low)
			below := g.where(in(i), lessD, v, gmax)
			a := g.widen(g.row(diag, s, i))
			g.VADDPD(kii, a, a)
			k := g.widen(g.row(ki, s, i))
			g.VADDPD(k, k, k)
			g.VSUBPD(k, a, a)
			g.VMAXPD(floor, a, a) // NaN becomes the floor
			g.VSUBPD(v, gmax, v)
			g.VMULPD(v, v, v)
			g.VDIVPD(a, v, v)
			g.offer(s, gain, i, below, v)
		}
	})
	g.across(low, g.least)
	g.VMOVSD(low.AsX(), g.address(g.Return("low")))
	g.finish(gain, "at", "gain")
	g.end()
}

func (g *gen) beyond() {
	g.begin("beyond",
		"func(index []int32, g []float64, mask []byte, bit byte, way, above float64) (n int)", "is beyondGeneric.")
	s := g.scanStart()
	index, count := g.base("index"), g.GP64()
	g.XORQ(count, count)
	way, above, bit := g.everywhere("way"), g.everywhere("above"), g.bit("bit")
	places, step := g.YMM(), g.YMM()
	if g.lanes == 16 {
		g.VCVTPD2DQ(g.lanePlaces(), places)
		g.VPBROADCASTD(g.memBits(uint32(g.doubles())), step)
	}
	g.loop(s.at, s.n, registers*g.doubles(), func() {
		in := g.admitted(s, bit)
		for i := range registers {
			v := g.reg()
			g.VMULPD(g.value(s, i), way, v)
			found, chosen := g.GP64(), g.where(in(i), greaterD, v, above)
			if g.lanes == 16 {
				list := g.YMM()
				g.VPCOMPRESSD_Z(places, chosen, list)
				g.VMOVDQU(list, element(index, count, 4))
				g.KMOVB(chosen, found.As32())
				g.POPCNTL(found.As32(), found.As32())
				g.ADDQ(found, count)
				g.VPADDD(step, places, places)
				continue
			}
			next, none := g.label("one"), g.label("none")
			place := g.GP64()
			g.VMOVMSKPD(chosen, found.As32())
			g.TESTL(found.As32(), found.As32())
			g.JZ(none)
			g.Label(next)
			g.TZCNTL(found.As32(), place.As32())
			g.LEAQ(element(place, s.at, 1).Offset(i*g.doubles()), place)
			g.MOVL(place.As32(), element(index, count, 4))
			g.INCQ(count)
			g.BLSRL(found.As32(), found.As32())
			g.JNZ(next)
			g.Label(none)
		}
	})
	g.Store(count, g.Return("n"))
	g.end()
}
