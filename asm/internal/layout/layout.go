// Package layout holds the sizes and places that the kernels of package asm, their callers and the
// generator of the assembly agree on, so that each stands once.
package layout

// Sizes of blocks.
const (
	Panel     = 64  // documents in a panel of the kernels in assembly
	RowSums   = 64  // the kernels in assembly of RowSums take a multiple of so many sums
	Select    = 32  // the kernels in assembly of Select and Min take a multiple of so many places
	ScanBlock = 16  // scans of scores take a multiple of so many
	PeakSums  = 192 // twelve registers of the widest instruction set
	TailSlack = 8   // the kernels in assembly of TailAdd read so many entries at a time
)

// A piecewise polynomial's variable is c·PiecewiseScale, at least 1 for c above 1; the rows of c
// above 1 stand PiecewiseFold powers of two behind those of 2-c.
const (
	PiecewiseScale = 1 << 24
	PiecewiseFold  = 25
)

// A half line has 2^HalfLineBits intervals in each power of two from 2^HalfLineLow to
// 2^HalfLineHigh.
const (
	HalfLineBits = 4
	HalfLineLow  = -160
	HalfLineHigh = 160
	HalfLineRows = (HalfLineHigh - HalfLineLow) << HalfLineBits
	// HalfLineFirst is the upper bits of 2^HalfLineLow.
	HalfLineFirst = (1023 + HalfLineLow) << HalfLineBits
)

// Visit is asm.Visit.
type Visit struct {
	First, Count uint32  // entries of the list, from doc and value on
	Scale        float32 // the panel document's value in the term
	Column       uint32  // the panel document's number in the panel
}

// TailOne is the sum of the tail that stands for 1: 2³¹ less 2²¹, so that roundings don't take it out of int32.
const TailOne = 1<<31 - 1<<21
