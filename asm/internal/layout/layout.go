// Package layout holds the sizes and offsets shared by the kernels of package asm, their callers
// and the assembly generator.
package layout

// Sizes of blocks.
const (
	PanelWidth   = 64  // documents in a panel of the assembly kernels
	RowSumsBlock = 64  // RowSums in assembly requires a multiple of this number of sums
	SelectBlock  = 32  // Select and Min in assembly require a multiple of this number of places
	ScanBlock    = 16  // the solver's kernels require a multiple of this number of scores
	PeakSums     = 192 // number of float32 in twelve AVX-512 registers
	TailSlack    = 8   // number of entries that TailAdd in assembly reads at a time
)

// PiecewiseScale is the factor by which piecewise polynomials multiply c, or 2-c for c > 1.
// PiecewiseFold is the offset of the rows for c > 1, in powers of two.
const (
	PiecewiseScale = 1 << 24
	PiecewiseFold  = 25
)

// A half-line table has 2^HalfLineBits intervals per power of two, from 2^HalfLineMinExponent to
// 2^HalfLineMaxExponent.
const (
	HalfLineBits        = 4
	HalfLineMinExponent = -160
	HalfLineMaxExponent = 160
	HalfLineRows        = (HalfLineMaxExponent - HalfLineMinExponent) << HalfLineBits
	// HalfLineMinBits holds the upper bits of 2^HalfLineMinExponent as float64.
	HalfLineMinBits = (1023 + HalfLineMinExponent) << HalfLineBits
)

// Visit has the fields of asm.Visit.
type Visit struct {
	First, Count uint32  // index of the first entry in doc and value, and number of entries
	Scale        float32 // value of the term in the panel document
	Column       uint32  // index of the panel document
}

// TailOne is the tail sum that represents 1: 2³¹ - 2²¹, so that rounding doesn't overflow int32.
const TailOne = 1<<31 - 1<<21
