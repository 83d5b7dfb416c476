package asm

import (
	"fmt"
	"strings"

	"github.com/gramengine/gram/asm/internal/coeff"
)

// ISA names the instruction set of a kernel table.
type ISA string

// The instruction sets.
const (
	Generic ISA = "generic" // portable Go
	AVX2    ISA = "avx2"    // x86-64 with AVX2 and FMA
	AVX512  ISA = "avx512"  // x86-64 with AVX-512 F, BW, DQ and VL
)

// CurvatureFloor replaces smaller curvatures in ArgGain. Rounding and indefinite kernels can cause
// curvatures of 0 or less. It is LIBSVM's TAU.
const CurvatureFloor = coeff.CurvatureFloor

// Kernels is a table of kernels for one instruction set. The generic functions of the same names
// document the equations, preconditions and accuracy.
//
// Kernels from [KernelsFor] and [BestKernels] check lengths, counts and strides. If a check fails,
// they panic before any memory access. Indices stored in slices are the caller's responsibility.
type Kernels struct {
	ISA        ISA
	PanelWidth int  // R, the number of documents in a panel
	Cost       Cost // costs of dot-product steps, used to choose the dense terms

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

	ChiSquare, JensenShannon Pairing // kernels for histogram similarities, used instead of PanelDot

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

	// Peak measures the processor's multiply-add rate, and Read its read bandwidth. These rates are
	// upper bounds on the speed of other kernels.
	Peak func(sum []float32, x, y float32, rounds int)
	Read func(src []float32) uint32
}

// CostOrigin describes how Cost was measured.
const CostOrigin = "measured on one core of an AMD Zen 3 at 3.2 GHz " +
	"(avx512 uses the costs of avx2, at most 9% slower on a Zen 5; dense columns were fitted on a Xeon)"

// Cost holds the costs of the steps of a dot product in ns (see [CostOrigin]). Only ratios matter.
type Cost struct {
	HeadValue     float64 // PanelDot: time to multiply a value by a row of a panel
	HeadCacheMiss float64 // PanelDot: extra cost of a value whose panel row isn't in the L1 cache
	HeadDocument  float64 // PanelDot: fixed cost of a document with values in a segment
	TailMatch     float64 // TailAdd: time per match
	TailDocument  float64 // TailStore: fixed cost per document, including the conversion to c
	TailVisit     float64 // TailAdd: fixed cost per visit
	DenseDocument float64 // PanelDotRows: fixed cost per document, including the conversion to c
	L3Byte        float64 // time per byte to load a panel from the L3 cache
}

// highest, if not empty, is the highest instruction set that Available returns. Only the linker
// sets highest, to test lower instruction sets: -ldflags "-X
// github.com/gramengine/gram/asm.highest=avx2".
var highest string

// tables holds the tables of the instruction sets that this processor supports, best last.
var tables = func() (list []*Kernels) {
	for _, k := range append([]*Kernels{&tableGeneric}, nativeTables()...) {
		list = append(list, withChecks(k))
	}
	return tablesUpTo(list, ISA(highest))
}()

func tablesUpTo(list []*Kernels, highest ISA) []*Kernels {
	if highest == "" {
		return list
	}
	for i, k := range list {
		if k.ISA == highest {
			return list[:i+1]
		}
	}
	panic(fmt.Sprintf("asm: the program was linked for instruction set %q, which this CPU does not support", highest))
}

// Available returns the instruction sets that this processor supports, best last.
func Available() []ISA {
	var out []ISA
	for _, k := range tables {
		out = append(out, k.ISA)
	}
	return out
}

// KernelsFor returns the kernels of an instruction set. If isa isn't available, the error lists the
// available instruction sets.
func KernelsFor(isa ISA) (*Kernels, error) {
	var have []string
	for _, k := range tables {
		if k.ISA == isa {
			return k, nil
		}
		have = append(have, string(k.ISA))
	}
	return nil, fmt.Errorf("asm: instruction set %q is not available; available sets are %s", isa,
		strings.Join(have, ", "))
}

// BestKernels returns the kernels of the best available instruction set.
func BestKernels() *Kernels {
	return tables[len(tables)-1]
}
