package asm

import "github.com/gramengine/gram/asm/internal/layout"

// Cursor is a place in the posting list of one tail term of one panel document: where the rest of
// the list begins, the document's value in the term, and its number in the panel.
type Cursor = layout.Cursor

// tailAddGeneric adds posting lists into the dot products of a panel with a block of documents, up
// to the document limit:
//
//	out[column*stride+doc[k]-base] += scale * value[k],  k = next, next+1, … while doc[k] < limit
//
// for every cursor in order. It moves each cursor to the list's first document not below limit,
// which every list has: documents ascend within a list, and the last one is above all limits.
// limit-base <= stride. The output of one panel document is contiguous, so that it stays in the
// first-level cache.
//
// It is the caller's duty that next lies inside of doc, that every list ends like that, that no
// document is below base, and that out holds column*stride+limit-base values for every column.
// Nothing of that is checked but the last of all documents.
//
// Cursors of the same column must come in an order of their terms that is the same for all
// documents: then the order of each sum depends on the pair alone. Sums are float64 and their terms
// exact. Two long documents share thousands of rare terms with the same product, whose roundings in
// float32 would all go the same way.
func tailAddGeneric(out []float64, stride int, doc []uint32, value []float32, cursors []Cursor, base, limit uint32) {
	for i := range cursors {
		c := &cursors[i]
		column := out[int(c.Column)*stride:][:limit-base]
		scale := float64(c.Scale)
		k := c.Next
		for ; doc[k] < limit; k++ {
			column[doc[k]-base] += scale * float64(value[k])
		}
		c.Next = k
	}
}

// tailDirectGeneric adds posting lists, likewise, to a tile of dot products with a panel of R =
// genericPanel documents:
//
//	out[(doc[k]-base)*R+column] += scale * value[k]
//
// in float32, each product and each sum rounded. The duties are the same, and every column is below
// R. It costs nothing where there are no matches, and serves documents with so few terms in the
// tail that roundings don't add up.
func tailDirectGeneric(out []float32, doc []uint32, value []float32, cursors []Cursor, base, limit uint32) {
	for i := range cursors {
		c := &cursors[i]
		k := c.Next
		for ; doc[k] < limit; k++ {
			out[int(doc[k]-base)*genericPanel+int(c.Column)] += float32(c.Scale * value[k])
		}
		c.Next = k
	}
}

// tailStoreGeneric transposes the block of dot products that tailAddGeneric has filled, rounds it
// to float32, and clears it:
//
//	dst[j*dstStride+i] = tail[i*stride+j];  tail[i*stride+j] = 0,  0 <= i < rows, 0 <= j < cols
func tailStoreGeneric(dst []float32, dstStride int, tail []float64, stride, rows, cols int) {
	for i := range rows {
		row := tail[i*stride:][:cols]
		for j, v := range row {
			dst[j*dstStride+i] = float32(v)
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
