package panel

import (
	"cmp"
	"slices"

	"github.com/gramengine/gram/engine/device"
	"github.com/gramengine/gram/sparse"
)

// For short documents rows and columns swap roles. All column documents are stored as dense panels,
// and each document of a panel of rows is multiplied by the dense panels. Tail sums are already
// stored row by row, so nothing is transposed. Short documents have a small head, so the dense
// panels are small. Sums have the same terms in the same order, so results are bit-identical to
// panel.computeDots.

// DenseOperand selects the dense documents, by which the other documents are multiplied.
type DenseOperand int

const (
	DenseByCost  DenseOperand = iota // chosen by the cost model
	DenseRows                        // the rows of a panel are dense, and are multiplied by all columns
	DenseColumns                     // all columns are dense, and are multiplied by the rows of a panel
)

// stream is the head of a panel's documents, sorted by number of values as PanelDot requires.
type stream struct {
	start  []int64
	doc    []uint8
	offset []uint16
	value  []float32
}

// tileStride is the stride of a tile stored by rows. Padding makes rows use different cache sets.
const tileStride = blockDocs + sparse.BlockSize/8

// pack copies the head of documents. The head must have a single segment.
func (s *stream) pack(from *docSet, docs []int) {
	seg := &from.head[0]
	count := func(r uint8) int64 {
		lo, hi := seg.valueRange(docs[r])
		return hi - lo
	}
	s.start, s.doc = resize(s.start, len(docs)+1)[:1], resize(s.doc, len(docs))
	s.start[0] = 0
	total := 0
	for r := range s.doc {
		s.doc[r] = uint8(r)
		total += int(count(uint8(r)))
	}
	s.offset, s.value = resize(s.offset, total)[:0], resize(s.value, total)[:0]
	slices.SortStableFunc(s.doc, func(a, b uint8) int { return cmp.Compare(count(a), count(b)) })
	for _, r := range s.doc {
		lo, hi := seg.valueRange(docs[r])
		s.offset, s.value = append(s.offset, seg.offset[lo:hi]...), append(s.value, seg.value[lo:hi]...)
		s.start = append(s.start, int64(len(s.offset)))
	}
}

// computeRowDots is like computeDots, but fills the tile row by row. If both documents of a close
// pair are in the panel, it returns the pair only if the column isn't the earlier document.
func (p *panel) computeRowDots(t *device.Tile, lo, at int, own bool) []uint32 {
	width, s, dense := p.b.kernels.PanelWidth, &p.packed, *p.b.denseCopy.panels.Load()
	found := 0
	for j := lo; j < t.Hi; j += width {
		found += p.b.kernels.PanelDotRows(p.closePairs[found:], j-lo, device.CloseThreshold, p.tile[j-lo:], tileStride,
			p.tail[at+j-lo:], p.stride, dense[j/width], s.start, s.doc, s.offset, s.value)
		p.stats.HeadValues += int64(len(s.value))
	}
	t.Values, t.RowStride, t.ColStride = p.tile[t.Lo-lo:], tileStride, 1
	p.findLongPairs(nil, t) // nil, because the tail sums were cleared
	near := p.closePairs[:found]
	if own {
		near = slices.DeleteFunc(near, func(at uint32) bool { return lo+int(at%tileStride) < p.docs[at/tileStride] })
		for i := range near {
			near[i] -= uint32(t.Lo - lo)
		}
	}
	p.lap(&p.stats.HeadTime)
	return near
}
