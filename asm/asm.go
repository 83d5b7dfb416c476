package asm

import (
	"fmt"
	"strings"

	"github.com/gramengine/gram/asm/internal/coeff"
)

// ISA names an instruction set that kernels are written for.
type ISA string

// The instruction sets.
const (
	Generic ISA = "generic" // portable Go
	AVX2    ISA = "avx2"    // x86-64 with AVX2 and FMA
	AVX512  ISA = "avx512"  // x86-64 with AVX-512 F, BW, DQ and VL
)

// CurvatureFloor is the curvature that ArgGain takes in the place of one that isn't positive.
// Rounding brings such curvatures about, and kernels that aren't positive definite. It is LIBSVM's
// TAU.
const CurvatureFloor = coeff.CurvatureFloor

// Kernels is a table of kernels for one instruction set. The generic functions of the same names
// state the fields' equations, preconditions and accuracy.
//
// The kernels of [For] and [Best] panic where lengths, counts or strides are wrong, before they
// touch memory. What numbers inside of slices point to is the caller's duty.
type Kernels struct {
	ISA   ISA
	Panel int  // R, the number of documents in a panel
	Cost  Cost // what the parts of a dot product cost, for choosing the head

	PanelDot  func(out, panel []float32, start []int64, doc []uint8, offset []uint16, value []float32)
	TailAdd   func(sums []int32, stride int, doc []uint16, value []float32, visits []Visit)
	TailStore func(dst []float32, dstStride int, sums []int32, stride, rows, cols int)
	Finish    func(index []uint32, c []float32, limit float32) int
	Select    func(index []uint32, c []float32, stride int, lines, places []float32) int
	Min       func(least []float32, levels int, c []float32, stride, lines, places, group int)
	Transpose func(dst []float32, dstStride int, src []float32, srcStride, rows, cols int)

	PanelDotLast func(
		index []uint32, first int, limit float32,
		out, panel []float32, start []int64, doc []uint8, offset []uint16, value []float32,
	) int

	PanelDotRows func(
		index []uint32, first int, limit float32, out []float32, outStride int, sums []int32, stride int,
		panel []float32, start []int64, doc []uint8, offset []uint16, value []float32,
	) int

	ChiSquare, JensenShannon Pairing // similarities of histograms that take the place of dot products

	Add        func(dst, a, b []float32)
	Exp        func(dst, x []float32)
	Diffusion  func(dst, c []float32, invT float32)
	NGD        func(dst, c []float32, shift float32)
	NGDExp     func(dst, c []float32, invT float32)
	Dot        func(dst, c, y []float32, x float32)
	Gaussian   func(dst, c, y []float32, x, gamma float32)
	ArcCosine0 func(dst, c []float32)
	ArcCosine1 func(dst, c, y []float32, x float32)
	ArcCosine2 func(dst, c, y []float32, x float32)
	Piecewise  func(dst, c []float32, rows [][8]float32, bits uint)

	HalfLine func(dst []float32, v []float64, rows [][8]float64, zero float64) (outside bool)
	Tanh     func(dst []float32, v []float64)
	Decay    func(dst []float32, v []float64)
	Affine   func(dst []float64, c, y []float32, x, gamma, r float64)
	Squares  func(dst, x, y, c []float64)
	Narrow   func(dst []float32, v []float64)
	Widen    func(dst []float64, v []float32)

	Add64, Sub64, Mul64, Div64 func(dst, a, b []float64)

	AddRows  func(sum []float64, rows [][]float32, from int, by []float64)
	Extremes func(g []float64, mask []byte, up, low byte) (maxAt int, most float64, minAt int, least float64)
	Step     func(g []float64, ki, kj []float32, a, b float64, mask []byte, bit byte) (at int, most float64)
	ArgGain  func(g []float64, ki, diag []float32, mask []byte, bit byte, gmax, kii float64) (at int, gain, low float64)
	Prefetch func(rows [][]float32, from, to int)
	Gather   func(dst, src []float32, index []int32)
	Beyond   func(index []int32, g []float64, mask []byte, bit byte, way, above float64) (n int)
	RowSums  func(sum []float64, rows []float32, base int, at []int32, coef []float64)
	Multiply func(sum []float64, apart int, c []float32, stride, lines, width int, by []float64, byStride, vectors int)

	MultiplyWide func(
		sum []float64, apart int, c []float64, stride, lines, width int, by []float64, byStride, vectors int)

	// Peak and Read measure the machine, to compare the others with.
	Peak func(sum []float32, x, y float32, rounds int)
	Read func(src []float32) uint32
}

// CostOrigin says where the numbers of Cost come from.
const CostOrigin = "measured on one core of an AMD Zen 3 at 3.2 GHz " +
	"(avx512: those of avx2, whose choice of the head costs a Zen 5 at most 9 %; for dense columns fitted on a Xeon)"

// Cost is what the parts of a dot product take, in nanoseconds; see [CostOrigin]. Choices depend on
// ratios alone.
type Cost struct {
	HeadValue    float64 // PanelDot: a value against a whole panel
	HeadFar      float64 // PanelDot: what is added where the panel's row isn't in the first-level cache
	HeadDocument float64 // PanelDot: a document with values in a segment, besides its values
	TailMatch    float64 // TailAdd: a match
	TailDocument float64 // TailStore: a document and its c, besides all else; 0 where columns are never dense
	TailList     float64 // TailAdd: a visit, besides its matches
	RowDocument  float64 // PanelDotRows: a document and its c, besides its values
	L3Byte       float64 // a byte of a panel that comes from the third-level cache
}

// highest, where it isn't empty, is the best instruction set that is offered, whatever the processor can run. Only the
// linker sets it, for tests of the others: -ldflags "-X github.com/gramengine/gram/asm.highest=avx2".
var highest string

// tables are those that this processor can run, the best last.
var tables = func() (list []*Kernels) {
	for _, k := range append([]*Kernels{&generic}, native()...) {
		list = append(list, checked(k))
	}
	return upTo(list, ISA(highest))
}()

// upTo returns the tables up to one that must be among them; "" is the last.
func upTo(list []*Kernels, highest ISA) []*Kernels {
	if highest == "" {
		return list
	}
	for i, k := range list {
		if k.ISA == highest {
			return list[:i+1]
		}
	}
	panic(fmt.Sprintf("asm: instruction set %q that the program was linked for can't run here", highest))
}

// Available returns the instruction sets that this processor can run, the best last.
func Available() []ISA {
	var out []ISA
	for _, k := range tables {
		out = append(out, k.ISA)
	}
	return out
}

// For returns the kernels of an instruction set. Its error says what this processor can run.
func For(isa ISA) (*Kernels, error) {
	var have []string
	for _, k := range tables {
		if k.ISA == isa {
			return k, nil
		}
		have = append(have, string(k.ISA))
	}
	return nil, fmt.Errorf("asm: instruction set %q can't run here, expected one of %s", isa, strings.Join(have, ", "))
}

// Best returns the kernels of the best instruction set available.
func Best() *Kernels {
	return tables[len(tables)-1]
}
