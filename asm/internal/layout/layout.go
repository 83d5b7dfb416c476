// Package layout holds the sizes and places that the kernels of package asm, their callers and the
// generator of the assembly agree on, so that each stands once.
package layout

// Sizes of blocks.
const (
	Panel     = 64  // documents in a panel of the kernels in assembly
	RowSums   = 64  // the kernels in assembly of RowSums take a multiple of so many sums
	Select    = 32  // the kernels in assembly of Select and Least take a multiple of so many places
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

// The places of a side's numbers in BivariateTail.
const (
	BivariateH = iota
	BivariateHalf
	BivariatePlus
	BivariateMills
	BivariateW
	BivariateT
	BivariateShift
	BivariateQ

	BivariateTerms   = 12 // from BivariateQ on
	BivariateNumbers = BivariateQ + BivariateTerms
	BivariateGroup   = 8 // columns whose numbers stand together
)

// The limits of BivariateTail.
const (
	// BivariateFloor is the least c, so that squares of h c and of √c h stay normal numbers: an
	// angle of 2⁻²⁹.
	BivariateFloor = 0x1p-60
	// BivariateRoot is the least c(2-c): at c = 2 its root is divided by.
	BivariateRoot = 0x1p-126
	// BivariateRight is the greatest cotangent of an angle that is taken for a right one.
	BivariateRight = 0x1p-24
	// Where m² is above BivariateNothing, exp(-m²/2) is taken for 0: results below the normal
	// numbers would cost three times the time of others. It is below the square of the greatest h,
	// so that rounding can't make anything of a side at that limit.
	BivariateNothing = 156.2
)

// The places of a document's numbers in HalfAngle.
const (
	HalfAngleNorm = iota
	HalfAngleRoot
	HalfAngleSine
	HalfAngleCosine
	HalfAngleScale

	HalfAngleNumbers
)

// Visit is asm.Visit.
type Visit struct {
	First, Count uint32  // entries of the list, from doc and value on
	Scale        float32 // the panel document's value in the term
	Column       uint32  // the panel document's number in the panel
}

// TailOne is the sum of the tail that stands for 1: 2³¹ less 2²¹, so that roundings don't take it out of int32.
const TailOne = 1<<31 - 1<<21
