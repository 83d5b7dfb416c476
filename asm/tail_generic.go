package asm

import (
	"math"

	"github.com/gramengine/gram/asm/internal/layout"
)

// Visit is a part of the posting list of one tail term of one panel document: its first entry and how many there
// are, at least 1, the document's value in the term, and its number in the panel.
type Visit struct {
	First, Count uint32  // entries of the list, from doc and value on
	Scale        float32 // the panel document's value in the term
	Column       uint32  // the panel document's number in the panel
}

var _ = Visit(layout.Visit{}) // the fields that the assembly reads

// TailOne is the sum of the tail that stands for 1. It is below 2³¹ by so much that roundings of a sum that is 1 by
// the Cauchy-Schwarz inequality don't leave int32.
const TailOne = layout.TailOne

// TailSlack is how many entries must follow the last one that a visit names.
const TailSlack = layout.TailSlack

// tailAddGeneric adds posting lists into the dot products of a panel with a block of documents:
//
//	sums[column*stride+doc[k]] += round(scale·value[k]),  first <= k < first+count
//
// for every visit, where the product is rounded to float32 and then, half to even, to a whole number. doc holds
// places in the block. The output of one panel document is contiguous, so that it stays in the first-level cache.
//
// Sums of whole numbers are exact, so their order doesn't matter. With values that are √[TailOne] times those of unit
// rows, a product errs by 3·2⁻²⁴ of itself, those roundings included, and half of 1/TailOne, 2.3·10⁻¹⁰.
//
// It is the caller's duty that entries lie inside of doc and value, with TailSlack more behind them, and that
// column*stride+doc[k] lies inside of sums for all of these, with count rounded up to a multiple of TailSlack.
func tailAddGeneric(sums []int32, stride int, doc []uint16, value []float32, visits []Visit) {
	for _, v := range visits {
		row := sums[int(v.Column)*stride:]
		docs, values := doc[v.First:][:v.Count], value[v.First:][:v.Count]
		for k, d := range docs {
			row[d] += TailFixed(v.Scale * values[k])
		}
	}
}

// TailFixed rounds to a whole number, half to even.
func TailFixed(x float32) int32 { return int32(math.RoundToEven(float64(x))) }

// tailStoreGeneric transposes the block of sums that tailAddGeneric has filled, makes numbers of them and clears them:
//
//	dst[j*dstStride+i] = sums[i*stride+j] / TailOne;  sums[i*stride+j] = 0,  0 <= i < rows, 0 <= j < cols
//
// by a conversion to float32 and a multiplication, each rounded.
func tailStoreGeneric(dst []float32, dstStride int, sums []int32, stride, rows, cols int) {
	for i := range rows {
		row := sums[i*stride:][:cols]
		for j, v := range row {
			dst[j*dstStride+i] = float32(v) * (1.0 / TailOne)
		}
		clear(row)
	}
}

// transposeGeneric transposes a tile of rows×cols values:
//
//	dst[j*dstStride+i] = src[i*srcStride+j],  0 <= i < rows, 0 <= j < cols
//
// dstStride >= rows, srcStride >= cols, and dst doesn't overlap src.
func transposeGeneric(dst []float32, dstStride int, src []float32, srcStride, rows, cols int) {
	i := 0
	for ; i+4 <= rows; i += 4 { // four rows at a time, so that every line of dst is written once
		s0 := src[i*srcStride:][:cols]
		s1 := src[(i+1)*srcStride:][:cols]
		s2 := src[(i+2)*srcStride:][:cols]
		s3 := src[(i+3)*srcStride:][:cols]
		for j, v := range s0 {
			d := (*[4]float32)(dst[j*dstStride+i:])
			d[0], d[1], d[2], d[3] = v, s1[j], s2[j], s3[j]
		}
	}
	for ; i < rows; i++ {
		for j, v := range src[i*srcStride:][:cols] {
			dst[j*dstStride+i] = v
		}
	}
}

// finishGeneric turns cosines into squared Hellinger distances, in place, and finds the small ones:
//
//	c[i] = min(max(1 - c[i], 0), 2)
//
// It writes the places of the results below limit to index, ascending, and returns how many there
// are. index is at least as long as c, and what it holds behind these places is lost. NaN stays NaN
// and is not below anything.
//
// Accuracy: half an ulp of the result. What the cosine has lost before is lost, an absolute 2⁻²⁵ at
// least near 1. That is why small results are found: the caller recomputes them.
func finishGeneric(index []uint32, c []float32, limit float32) int {
	n := 0
	for i, s := range c {
		v := min(max(1-s, 0), 2)
		c[i] = v
		if v < limit {
			index[n] = uint32(i)
			n++
		}
	}
	return n
}
