package engine

import (
	"unsafe"

	"github.com/gramengine/gram/asm"
	"github.com/gramengine/gram/sparse"
)

// panelBytes returns the most that a panel comes to hold, in bytes, whatever documents of the engine pass through it: those of a [Engine.Cross] that are longer take
// more. A test goes through the fields of a panel and holds this against them.
func (e *Engine) panelBytes() int64 {
	width := int64(e.kernels.Panel)
	tile := 4 * blockDocs * width
	bytes := int64(unsafe.Sizeof(panel{})) + 4*width + 4*int64(e.layout.Head())*width + 2*tile // norms, dense, tile and close
	for segments := len(e.own.split.Head); segments > directSegments; segments = (segments + groupSegments - 1) / groupSegments {
		bytes += tile + 2*int64(unsafe.Sizeof([]float32{})) // groups
	}
	if !e.tailDirect {
		bytes += 8 * tailDocs * width
	}
	if e.pairing.terms != nil {
		bytes += 4 * termsAtOnce
	}
	grown := int64(unsafe.Sizeof(asm.Cursor{})+unsafe.Sizeof(int64(0)))*mostValues(&e.own.split.Tail, e.kernels.Panel) + // cursors and ends
		8*mostValues(&e.own.x.CSR, e.kernels.Panel) + 8*int64(e.own.x.LongestRow()) + // exact and scratch
		2*width*int64(unsafe.Sizeof(false)+unsafe.Sizeof(0)) // what append makes of a list of documents
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
