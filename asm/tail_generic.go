package asm

// Cursor is a place in the posting list of one tail term of one panel document.
type Cursor struct {
	Next, End int64   // the part of the list that is still to come
	Scale     float32 // the panel document's value in the term
	Column    uint32  // the panel document's number in the panel
}

// tailAddGeneric adds posting lists into a block of dot products with a panel of R = 32 documents, up to the document limit:
//
//	out[(doc[k]-base)*R+column] += scale * value[k],  next <= k < end, doc[k] < limit
//
// for every cursor in order, and moves each cursor to its first document not below limit. Documents ascend within a list and none is below base;
// out begins at document base. Cursors with the same column must come in ascending order of their terms, so that
// each sum is taken in an order that depends on the pair alone.
func tailAddGeneric(out []float32, doc []uint32, value []float32, cursors []Cursor, base, limit uint32) {
	for i := range cursors {
		c := &cursors[i]
		k := c.Next
		for ; k < c.End && doc[k] < limit; k++ {
			out[int(doc[k]-base)*32+int(c.Column)] += float32(c.Scale * value[k])
		}
		c.Next = k
	}
}
