package asm

import (
	"math"

	"github.com/gramengine/gram/asm/internal/layout"
)

// Visit is a range of a posting list to be multiplied by the value of a panel document.
type Visit struct {
	First, Count uint32  // index of the first entry, and number of entries, at least 1
	Scale        float32 // value of the term in the panel document
	Column       uint32  // index of the panel document
}

var _ = Visit(layout.Visit{}) // the assembly reads these fields

// TailOne represents a tail sum of 1. The margin below 2³¹ ensures that rounding errors don't
// overflow int32. By the Cauchy-Schwarz inequality exact sums are at most 1.
const TailOne = layout.TailOne

// TailSlack is the number of readable entries required after the last entry of a visit.
const TailSlack = layout.TailSlack

// tailAddGeneric adds products from posting lists to the dot products of a panel and a block of
// documents:
//
//	sums[column*stride+doc[k]] += round(scale·value[k]),  first <= k < first+count
//
// for each visit. The product is rounded to float32, and then to an integer, half to even. doc
// holds document indices within the block. The sums of one panel document are contiguous, so that
// they stay in the L1 cache.
//
// Integer sums are exact, so their order doesn't matter. If values are √[TailOne] times the values
// of unit rows, the error of a product is at most 3·2⁻²⁴ of its value plus half of 1/TailOne,
// 2.3·10⁻¹⁰. The term 3·2⁻²⁴ includes the rounding of both values.
//
// Entries must be in the range of doc and value, followed by TailSlack more entries. With count
// rounded up to a multiple of TailSlack, column*stride+doc[k] must be in the range of sums.
func tailAddGeneric(sums []int32, stride int, doc []uint16, value []float32, visits []Visit) {
	for _, v := range visits {
		row := sums[int(v.Column)*stride:]
		docs, values := doc[v.First:][:v.Count], value[v.First:][:v.Count]
		for k, d := range docs {
			row[d] += RoundTail(v.Scale * values[k])
		}
	}
}

// RoundTail rounds x to an integer, half to even.
func RoundTail(x float32) int32 { return int32(math.RoundToEven(float64(x))) }

// tailStoreGeneric transposes the block of sums of tailAddGeneric, converts it to float32 and
// clears the sums:
//
//	dst[j*dstStride+i] = sums[i*stride+j] / TailOne;  sums[i*stride+j] = 0,  0 <= i < rows, 0 <= j < cols
//
// The conversion to float32 and the multiplication by 1/TailOne are rounded once each.
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
	for ; i+4 <= rows; i += 4 { // four rows at a time, to write each cache line of dst once
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

// finishGeneric converts cosines to squared Hellinger distances in place, and lists small
// distances:
//
//	c[i] = min(max(1 - c[i], 0), 2)
//
// It writes the indices of results below limit to index, in ascending order, and returns their
// number. index must be at least as long as c, and its remaining elements may be overwritten. NaN
// stays NaN and isn't below limit.
//
// Accuracy: half an ulp of the result, plus the error of the cosine, which is at least 2⁻²⁵ near 1.
// So callers recompute small results by a more accurate formula.
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
