package main

import (
	"fmt"
	"math"
	"slices"

	"github.com/mmcloughlin/avo/attr"
	"github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/gotypes"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// An isa is an instruction set. suffix ends function names, and a register holds lanes float32.
type isa struct {
	suffix string
	lanes  int
}

var isas = []isa{{"AVX2", 8}, {"AVX512", 16}}

// A vec is a group of vector registers. Each operation is issued for all registers in turn, so that
// independent chains interleave.
type vec []VecVirtual

// A mask holds the lanes in which a comparison is true, for each register of a vec. AVX2 uses
// vector registers of ones and zeros, AVX-512 mask registers.
type mask []Register

// A file is an assembly file in progress. data holds the constants of the data section by name.
type file struct {
	*build.Context
	data map[string]Mem
}

// gen writes functions for one instruction set.
type gen struct {
	file
	isa
	held map[float32]VecVirtual // constants that stay in registers
	n    int                    // number of labels used
}

func (f file) gen(set isa) *gen { return &gen{file: f, isa: set, held: map[float32]VecVirtual{}} }

// static returns the named constant. If it doesn't exist, static creates it from words.
func static[T Constant](g *gen, name string, words ...T) Mem {
	m, ok := g.data[name]
	if !ok {
		m = g.StaticGlobal(name)
		g.DataAttributes(attr.RODATA | attr.NOPTR)
		for i, w := range words {
			g.AddDatum(i*w.Bytes(), w)
		}
		g.data[name] = m
	}
	return m
}

// constantPrefix is the prefix of names of constants that are the same in every lane.
const constantPrefix = "all_"

// mem returns the address of 32 bytes filled with x. See broadcastConstants for wider registers.
func (g *gen) mem(x float32) Mem { return g.memBits(math.Float32bits(x)) }

func (g *gen) memBits(bits uint32) Mem {
	return static(g, fmt.Sprintf("%s%08x", constantPrefix, bits), slices.Repeat([]U32{U32(bits)}, 8)...)
}

func (g *gen) label(name string) LabelRef {
	g.n++
	return LabelRef(fmt.Sprintf("%s%d", name, g.n))
}

func (g *gen) Label(l LabelRef) { g.Context.Label(string(l)) }

// function begins a function that has no frame and retains none of its arguments.
func (g *gen) function(name, signature string) {
	g.Function(name)
	g.Attributes(attr.NOSPLIT)
	g.SignatureExpr(signature)
	g.Pragma("noescape")
}

// begin is like function, but appends the suffix of the instruction set to the name.
func (g *gen) begin(name, signature, doc string) {
	g.Function(name + g.suffix)
	g.Attributes(attr.NOSPLIT)
	g.SignatureExpr(signature)
	g.Pragma("noescape")
	g.Doc(name + g.suffix + " " + doc)
}

func (g *gen) end() {
	g.VZEROUPPER()
	g.RET()
}

// base, length and param load a slice's address, its length and a parameter of one word.
func (g *gen) base(name string) GPVirtual   { return g.word(g.Param(name).Base()) }
func (g *gen) length(name string) GPVirtual { return g.word(g.Param(name).Len()) }
func (g *gen) param(name string) GPVirtual  { return g.word(g.Param(name)) }

func (g *gen) word(c gotypes.Component) GPVirtual {
	r := g.GP64()
	g.Load(c, r)
	return r
}

func (g *gen) reg() VecVirtual {
	if g.lanes == 16 {
		return g.ZMM()
	}
	return g.YMM()
}

func (g *gen) regs(n int) vec {
	v := make(vec, n)
	for i := range v {
		v[i] = g.reg()
	}
	return v
}

// hold loads constants into registers, where they stay for the whole function.
func (g *gen) hold(list ...float32) {
	for _, x := range list {
		r := g.reg()
		g.VMOVUPS(g.mem(x), r)
		g.held[x] = r
	}
}

// constant returns a register with x in every lane. It loads x unless hold has loaded x.
func (g *gen) constant(x float32) VecVirtual {
	if r, ok := g.held[x]; ok {
		return r
	}
	r := g.reg()
	g.VMOVUPS(g.mem(x), r)
	return r
}

// operand returns x as the first operand of an instruction, which is the register that holds x, or
// else the address of x.
func (g *gen) operand(x float32) Op {
	if r, ok := g.held[x]; ok {
		return r
	}
	return g.mem(x)
}

// all returns n new registers filled with x.
func (g *gen) all(x float32, n int) vec {
	v := g.regs(n)
	g.issue(g.VMOVUPS, g.operand(x), v)
	return v
}

// each returns a vec of n new registers. f writes the value of register i to dst.
func (g *gen) each(n int, f func(i int, dst VecVirtual)) vec {
	v := g.regs(n)
	for i := range v {
		f(i, v[i])
	}
	return v
}

func element(base, index Register, size uint8) Mem { return Mem{Base: base, Index: index, Scale: size} }

// issue writes instruction once per register of its vec operands, which have equal lengths. Other
// operands stay the same.
func (g *gen) issue(instruction func(ops ...Op), operands ...any) {
	for i, more := 0, true; more; i++ {
		ops := make([]Op, len(operands))
		more = false
		for j, o := range operands {
			if v, ok := o.(vec); ok {
				more = more || i+1 < len(v)
				o = v[i]
			}
			ops[j] = o.(Op)
		}
		instruction(ops...)
	}
}

// apply issues instruction per register, with a new vec as last operand, and returns this vec.
func (g *gen) apply(instruction func(ops ...Op), operands ...any) vec {
	for _, o := range operands {
		if v, ok := o.(vec); ok {
			to := g.regs(len(v))
			g.issue(instruction, append(operands, to)...)
			return to
		}
	}
	panic("apply: no vec")
}

func (g *gen) add(a, b vec) vec { return g.apply(g.VADDPS, a, b) }

func (g *gen) sub(a, b vec) vec { return g.apply(g.VSUBPS, b, a) } // a - b

func (g *gen) mul(a, b vec) vec { return g.apply(g.VMULPS, a, b) }

// mulConst returns a·x, addConst a+x, subConst a-x, and constSub x-a.
func (g *gen) mulConst(a vec, x float32) vec { return g.apply(g.VMULPS, g.operand(x), a) }

func (g *gen) addConst(a vec, x float32) vec { return g.apply(g.VADDPS, g.operand(x), a) }

func (g *gen) subConst(a vec, x float32) vec { return g.apply(g.VSUBPS, g.operand(x), a) }

func (g *gen) constSub(x float32, a vec) vec { return g.apply(g.VSUBPS, a, g.constant(x)) }

func (g *gen) scale(a vec, r VecVirtual) vec { return g.apply(g.VMULPS, a, r) }

// min returns the smaller elements, or the element of b if either element is NaN.
func (g *gen) min(a, b vec) vec { return g.apply(g.VMINPS, b, a) }

// clampLow returns max(a, x), and clampHigh min(a, x); NaN is preserved.
func (g *gen) clampLow(a vec, x float32) vec { return g.apply(g.VMAXPS, a, g.constant(x)) }

func (g *gen) clampHigh(a vec, x float32) vec { return g.apply(g.VMINPS, a, g.constant(x)) }

func (g *gen) sqrt(a vec) vec { return g.apply(g.VSQRTPS, a) }

// mulAdd replaces p by p·m + a, mulAddConst by p·m + x, and subMulConst by p - m·x, each with one
// rounding.
func (g *gen) mulAdd(p, m, a vec) {
	g.issue(g.VFMADD213PS, a, m, p)
}

func (g *gen) mulAddConst(p, m vec, x float32) {
	g.issue(g.VFMADD213PS, g.operand(x), m, p)
}

func (g *gen) subMulConst(p, m vec, x float32) {
	g.issue(g.VFNMADD231PS, g.operand(x), m, p)
}

// poly evaluates the polynomial with the given coefficients, highest first, by Horner's rule.
func (g *gen) poly(m vec, coeff ...float32) vec {
	p := g.all(coeff[0], len(m))
	for _, x := range coeff[1:] {
		g.mulAddConst(p, m, x)
	}
	return p
}

// Predicates of VCMPPS. The first two are false for NaN, and the last two are true for NaN.
const (
	greater      = U8(0x1e)
	less         = U8(0x11)
	notLessEqual = U8(0x16)
	notAtLeast   = U8(0x19)
)

func (g *gen) compare(predicate U8, a vec, b Op) mask {
	m := make(mask, len(a))
	for i := range m {
		if g.lanes == 16 {
			m[i] = g.K()
		} else {
			m[i] = g.reg()
		}
		g.VCMPPS(predicate, b, a[i], m[i])
	}
	return m
}

// blend returns the lanes of yes in which m is set, and the other lanes of no.
func (g *gen) blend(m mask, yes, no vec) vec {
	return g.each(len(yes), func(i int, d VecVirtual) {
		if g.lanes == 16 {
			g.VBLENDMPS(yes[i], no[i], m[i], d)
		} else {
			g.VBLENDVPS(m[i], yes[i], no[i], d)
		}
	})
}

// jumpAny jumps if any lane of any register of the mask is set. It overwrites the mask.
func (g *gen) jumpAny(m mask, target LabelRef) {
	for n := len(m); n > 1; n = (n + 1) / 2 {
		for i := range n / 2 {
			if g.lanes == 16 {
				g.KORW(m[i], m[n-1-i], m[i])
			} else {
				g.VORPS(m[i], m[n-1-i], m[i])
			}
		}
	}
	if g.lanes == 16 {
		g.KORTESTW(m[0], m[0])
	} else {
		bits := g.GP32()
		g.VMOVMSKPS(m[0], bits)
		g.TESTL(bits, bits)
	}
	g.JNE(target)
}

// firstMask returns a mask of the first n lanes of a register, 0 < n < lanes. It overwrites n.
func (g *gen) firstMask(n Register) Register {
	if g.lanes == 16 {
		// A shift takes its count from CX.
		g.MOVQ(n, RCX)
		ones, k := g.GP32(), g.K()
		g.MOVL(U32(1), ones)
		g.SHLL(CL, ones)
		g.DECL(ones)
		g.KMOVW(ones, k)
		return k
	}
	table := g.GP64()
	g.LEAQ(g.window(), table)
	g.NEGQ(n)
	m := g.reg()
	g.VMOVUPS(element(table, n, 4).Offset(32), m)
	return m
}

// window returns the address of eight words of ones, followed by eight words of zeros. A register
// read from index 8-n has ones in its first n lanes.
func (g *gen) window() Mem {
	var words [16]U32
	for i := range 8 {
		words[i] = 0xffffffff
	}
	return static(g, "window", words[:]...)
}

// load32s and store32s load and store the lanes that first selects. If first is nil, they access
// all lanes. load32s sets the other lanes to 0.
func (g *gen) load32s(m Mem, first Register) VecVirtual {
	r := g.reg()
	switch {
	case first == nil:
		g.VMOVUPS(m, r)
	case g.lanes == 16:
		g.VMOVUPS_Z(m, first, r)
	default:
		g.VMASKMOVPS(m, first, r)
	}
	return r
}

func (g *gen) store32s(v VecVirtual, m Mem, first Register) {
	switch {
	case first == nil:
		g.VMOVUPS(v, m)
	case g.lanes == 16:
		g.VMOVUPS(v, first, m)
	default:
		g.VMASKMOVPS(v, first, m)
	}
}

// blocks32 generates loops over n float32 elements. most is the maximum number of registers per
// iteration. at is the index of an iteration's first element. If the last elements don't fill a
// register, body runs once more, and first is the mask of their lanes.
func (g *gen) blocks32(n GPVirtual, most int, body func(at GPVirtual, first Register, wide int)) {
	g.inBlocks(n, most, g.lanes, func(at GPVirtual, wide int) { body(at, nil, wide) },
		func(at GPVirtual) { body(at, g.firstMask(n), 1) })
}

// inBlocks generates loops over n elements. most is the maximum number of registers per run of
// whole, and lanes the number of elements per register. rest processes the remaining elements.
func (g *gen) inBlocks(n GPVirtual, most, lanes int, whole func(at GPVirtual, wide int), rest func(at GPVirtual)) {
	at, done := g.GP64(), g.label("done")
	g.XORQ(at, at)
	for wide := most; wide > 0; wide /= 2 {
		again, fewer := g.label("block"), g.label("fewer")
		g.Label(again)
		g.CMPQ(n, U32(wide*lanes))
		g.JL(fewer)
		whole(at, wide)
		g.ADDQ(U32(wide*lanes), at)
		g.SUBQ(U32(wide*lanes), n)
		g.JMP(again)
		g.Label(fewer)
	}
	g.TESTQ(n, n)
	g.JEQ(done)
	rest(at)
	g.Label(done)
}
