package panel

import (
	"cmp"
	"slices"

	"github.com/gramengine/gram/engine/device"
	"github.com/gramengine/gram/sparse"
)

// Where documents are short, the roles are exchanged: the columns are kept in dense form, 64 at a time, and a panel's
// documents stream past them. A document's tail then stands as it was added up, along its row, and nothing is
// transposed; its head is so short that the columns' dense form stays small. A sum has the same terms in the same
// order, so the bits are those of panel.dots.

// Roles says which documents are dense while others stream past them.
type Roles int

const (
	ByCost       Roles = iota // what the cost model says
	DenseRows                 // the rows of a panel, which all columns pass
	DenseColumns              // all columns, which the rows of a panel pass
)

// stream is the head of a panel's documents, in the order of how many values they have, as [asm.Kernels].PanelDot takes
// it.
type stream struct {
	start  []int64
	doc    []uint8
	offset []uint16
	value  []float32
}

// tileStride is how far rows of a tile are apart, if they are what is contiguous: so that they don't meet in the sets
// of a cache.
const tileStride = blockDocs + sparse.Block/8

// pack takes the head of documents of a side of one segment.
func (s *stream) pack(from *side, docs []int) {
	seg := &from.head[0]
	count := func(r uint8) int64 {
		lo, hi := seg.of(docs[r])
		return hi - lo
	}
	s.start, s.doc = resized(s.start, len(docs)+1)[:1], resized(s.doc, len(docs))
	s.start[0] = 0
	total := 0
	for r := range s.doc {
		s.doc[r] = uint8(r)
		total += int(count(uint8(r)))
	}
	s.offset, s.value = resized(s.offset, total)[:0], resized(s.value, total)[:0]
	slices.SortStableFunc(s.doc, func(a, b uint8) int { return cmp.Compare(count(a), count(b)) })
	for _, r := range s.doc {
		lo, hi := seg.of(docs[r])
		s.offset, s.value = append(s.offset, seg.offset[lo:hi]...), append(s.value, seg.value[lo:hi]...)
		s.start = append(s.start, int64(len(s.offset)))
	}
}

// rowDots fills a tile with c, row by row, and returns the places that are close, as dots does it column by column. Of
// two of the panel's own documents it takes the pair whose column isn't the earlier one.
func (p *panel) rowDots(t *device.Tile, lo, at int, own bool) []uint32 {
	width, s, dense := p.b.kernels.Panel, &p.packed, *p.b.kept.panels.Load()
	found := 0
	for j := lo; j < t.Hi; j += width {
		found += p.b.kernels.PanelDotRows(p.close[found:], j-lo, device.CloseC, p.tile[j-lo:], tileStride,
			p.tail[at+j-lo:], p.stride, dense[j/width], s.start, s.doc, s.offset, s.value)
		p.stats.HeadValues += int64(len(s.value))
	}
	t.Value, t.RowStride, t.ColStride = p.tile[t.Lo-lo:], tileStride, 1
	p.longPairs(nil, t) // their sums are gone, but short documents have few such pairs
	near := p.close[:found]
	if own {
		near = slices.DeleteFunc(near, func(at uint32) bool { return lo+int(at%tileStride) < p.docs[at/tileStride] })
		for i := range near {
			near[i] -= uint32(t.Lo - lo)
		}
	}
	p.lap(&p.stats.Head)
	return near
}
