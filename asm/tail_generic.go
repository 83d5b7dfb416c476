package asm

// Cursor is a place in the posting list of one tail term of one panel document.
type Cursor struct {
	Next, End int64   // the part of the list that is still to come
	Scale     float32 // the panel document's value in the term
	Column    uint32  // the panel document's number in the panel
}

// tailAddGeneric adds posting lists into the dot products of a panel with a block of documents, up to the document limit:
//
//	out[column*stride+doc[k]-base] += scale * value[k],  next <= k < end, doc[k] < limit
//
// for every cursor in order, and moves each cursor to its first document not below limit. Documents ascend within a list, none is below base and
// limit-base <= stride. The output of one panel document is contiguous, so that it stays in the first-level cache.
//
// Cursors of the same column must come in an order of their terms that is the same for all documents, so that each sum
// is taken in an order that depends on the pair alone.
func tailAddGeneric(out []float32, stride int, doc []uint32, value []float32, cursors []Cursor, base, limit uint32) {
	for i := range cursors {
		c := &cursors[i]
		column := out[int(c.Column)*stride:][:limit-base]
		docs := doc[c.Next:c.End]
		values := value[c.Next:c.End]
		values = values[:len(docs)]
		k := 0
		for ; k < len(docs); k++ {
			d := docs[k]
			if d >= limit {
				break
			}
			column[d-base] += float32(c.Scale * values[k])
		}
		c.Next += int64(k)
	}
}
