package panel

import (
	"unsafe"

	"github.com/gramengine/gram/asm"
	"github.com/gramengine/gram/sparse"
)

// panelBytes returns the most that a panel comes to hold, in bytes, whatever documents of the
// columns pass through it: other documents that are longer take more. A test goes through the
// fields of a panel and holds this against them.
func (b *Backend) panelBytes() int64 {
	width := int64(b.kernels.Panel)
	tile := 4 * blockDocs * width
	bytes := int64(unsafe.Sizeof(panel{})) + 4*int64(b.layout.head())*width + 2*tile // dense, tile and close
	for s := len(b.own.head); s > directSegments; s = (s + groupSegments - 1) / groupSegments {
		bytes += tile + 2*int64(unsafe.Sizeof([]float32{})) // groups
	}
	bytes += 4 * int64(b.stride()) * width
	if b.pairing.terms != nil {
		bytes += 4 * termsAtOnce
	}
	// Visits, exact and scratch, and what append makes of a list of documents.
	grown := int64(unsafe.Sizeof(asm.Visit{}))*(mostValues(&b.own.tail, b.kernels.Panel)+1) +
		8*mostValues(&b.own.x.CSR, b.kernels.Panel) + 8*int64(b.own.x.LongestRow()) + // exact and scratch
		2*width*int64(unsafe.Sizeof(false)+2*unsafe.Sizeof(0)) // what append makes of a list of documents
	return bytes + grown*9/8 + 64 // the allocator rounds up by an eighth at most, and to 8 bytes
}

// mostValues returns how many values the given number of rows hold together at most.
func mostValues(m *sparse.CSR, rows int) (sum int64) {
	count := make([]int, m.LongestRow()+1) // rows by length
	for i := range m.Rows() {
		count[m.Offsets[i+1]-m.Offsets[i]]++
	}
	for length := len(count) - 1; length > 0 && rows > 0; length-- {
		n := min(count[length], rows)
		sum += int64(n) * int64(length)
		rows -= n
	}
	return sum
}
