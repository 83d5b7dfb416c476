package panel

import (
	"unsafe"

	"github.com/gramengine/gram/asm"
)

// panelBytes returns the maximum size of a panel in bytes, for requests whose rows are column
// documents. Longer documents of another set need more memory.
func (b *Backend) panelBytes() int64 {
	width := int64(b.kernels.PanelWidth)
	tile := 4 * blockDocs * width
	bytes := int64(unsafe.Sizeof(panel{})) + 4*int64(b.tileValues()) + tile // tile and closePairs
	if b.denseColumns {
		bytes += 9*width + 8 + // packed
			6*maxValues(b.columns.head[0].start, b.kernels.PanelWidth)
	} else {
		bytes += 4 * int64(b.layout.headTerms()) * width // dense
	}
	for s := len(b.columns.head); s > directSegments; s = (s + groupSegments - 1) / groupSegments {
		bytes += tile + 2*int64(unsafe.Sizeof([]float32{})) // groups
	}
	bytes += 4 * int64(b.stride()) * width
	if len(b.columns.longTails) > 0 {
		bytes += 4*int64(b.maxFarPairs()) + 8*int64(b.postings.listCount/64+1) + 8*width // farPairs, marks and minTails
	}
	if b.pairing.terms != nil {
		bytes += 4 * maxTermProducts
	}
	grown := int64(unsafe.Sizeof(asm.Visit{}))*(maxValues(b.columns.tail.Offsets, b.kernels.PanelWidth)+1) +
		8*maxValues(b.columns.x.Offsets, b.kernels.PanelWidth) + 8*int64(b.columns.x.MaxRowLen()) + // exact and scratch
		2*width*int64(unsafe.Sizeof(false)+2*unsafe.Sizeof(0)) // growth of a list of documents by append
	return bytes + grown*9/8 + 64 // the allocator rounds up by at most an eighth, and to 8 bytes
}

// maxValues returns the maximum number of values in the given number of rows, given the offsets of
// all rows.
func maxValues(offsets []int64, rows int) (sum int64) {
	var count []int // number of rows of each length
	for i, end := range offsets[1:] {
		length := int(end - offsets[i])
		if length >= len(count) {
			count = append(count, make([]int, length+1-len(count))...)
		}
		count[length]++
	}
	for length := len(count) - 1; length > 0 && rows > 0; length-- {
		n := min(count[length], rows)
		sum += int64(n) * int64(length)
		rows -= n
	}
	return sum
}
