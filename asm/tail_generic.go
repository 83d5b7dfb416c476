package asm

// Cursor is a place in the posting list of one tail term of one panel document.
type Cursor struct {
	Next   int64   // where the rest of the list begins
	Scale  float32 // the panel document's value in the term
	Column uint32  // the panel document's number in the panel
}

// tailAddGeneric adds posting lists into the dot products of a panel with a block of documents, up to the document limit:
//
//	out[column*stride+doc[k]-base] += scale * value[k],  k = next, next+1, … while doc[k] < limit
//
// for every cursor in order, and moves each cursor to its first document not below limit, which
// every list has: documents ascend within a list and its last is above all limits. limit-base <=
// stride. The output of one panel document is contiguous, so that it stays in the first-level
// cache. It is the caller's duty, which isn't checked but for the last of all documents, that next
// lies inside of doc, that every list ends like that, that no document is below base, and that out
// holds column*stride+limit-base values for every column.
//
// Cursors of the same column must come in an order of their terms that is the same for all documents, so that each sum
// is taken in an order that depends on the pair alone. Sums are float64, their terms exact: two long documents share thousands of rare
// terms with the same product, whose roundings in float32 would all go the same way.
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

// tailDirectGeneric adds posting lists, likewise, to a tile of dot products with a panel of R = genericPanel documents:
//
//	out[(doc[k]-base)*R+column] += scale * value[k]
//
// in float32, each product and each sum rounded, with the same duties; every column is below R. It
// costs nothing where there are no matches, and serves documents with so few terms in the tail that
// roundings don't add up.
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

// tailStoreGeneric transposes the block of dot products that tailAddGeneric has filled, rounds it to float32, and empties it:
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
