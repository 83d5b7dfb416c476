package panel

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/gramengine/gram/engine/device"
	"github.com/gramengine/gram/internal/run"
	"github.com/gramengine/gram/sparse"
	"github.com/gramengine/gram/tiles"
)

// A panel with a single document, such as a text to classify, would be nearly empty, but all
// columns would be multiplied by the whole panel. So for few documents rows and columns swap roles.
// From the second request with few documents on, the columns are stored as dense panels, and each
// document is multiplied by the dense panels. Only panel rows for the document's terms are read.
// Sums have the same terms in the same order, so results are bit-identical to panel.run.

// maxSingleRows is the maximum number of documents for which a request is computed document by
// document.
const maxSingleRows = 4

type denseCopy struct {
	limit        int64 // maximum memory in bytes
	requestCount atomic.Int64
	once         sync.Once
	panels       atomic.Pointer[[][]float32] // [headTerms][PanelWidth] each
	rowPool      sync.Pool                   // *singleRow
}

type singleRow struct {
	docs   docSet
	order  []uint64  // rank and index of the document's values, by descending rank
	sums   []float32 // dot products with all columns, later c
	starts [2]int64
}

func (k *denseCopy) bytes() int64 {
	if p := k.panels.Load(); p != nil && len(*p) > 0 {
		return 4 * int64(len(*p)) * int64(len((*p)[0]))
	}
	return 0
}

// densePanels returns the columns as dense panels. It returns nil if the request has more than
// maxSingleRows rows, omits columns, or has column documents as rows. Unless b.denseColumns is set,
// it also returns nil for the first request with few rows, or if the panels exceed the limit.
func (b *Backend) densePanels(r *device.Request) [][]float32 {
	own := b.columns.x
	if r.RowDocuments == nil || r.RowDocuments == own || len(r.RowIndices) > maxSingleRows || r.Lo != 0 ||
		r.Hi != own.Rows() || r.Hi == 0 {
		return nil
	}
	if !b.denseColumns && (b.denseCopyBytes() > b.denseCopy.limit || b.denseCopy.requestCount.Add(1) < 2) {
		return nil
	}
	b.fillDenseCopy()
	return *b.denseCopy.panels.Load()
}

func (b *Backend) denseCopyBytes() int64 {
	width := b.kernels.PanelWidth
	return 4 * int64((b.columns.x.Rows()+width-1)/width) * int64(b.layout.headTerms()*width)
}

// MakeDenseCopy makes the dense panels if their size is within Options.DenseCopyBytes and fits
// returns true for this size. Otherwise later requests don't make the panels either.
func (b *Backend) MakeDenseCopy(fits func(bytes int64) bool) {
	if bytes := b.denseCopyBytes(); !b.denseColumns && (bytes > b.denseCopy.limit || !fits(bytes)) {
		b.denseCopy.limit = -1
		return
	}
	b.denseCopy.requestCount.Add(1)
	b.fillDenseCopy()
}

func (b *Backend) fillDenseCopy() {
	b.denseCopy.once.Do(func() {
		width, rows := b.kernels.PanelWidth, b.columns.x.Rows()
		n, size := (rows+width-1)/width, b.layout.headTerms()*width
		all, panels := tiles.MakeFloats(n*size), make([][]float32, n)
		p := &panel{b: b, from: b.columns}
		for i := range panels {
			panels[i] = all[i*size : (i+1)*size : (i+1)*size]
			p.dense, p.docs = panels[i], p.docs[:0]
			for d := i * width; d < min((i+1)*width, rows); d++ {
				p.docs = append(p.docs, d)
			}
			p.scatter(false)
		}
		b.denseCopy.panels.Store(&panels)
	})
}

func (b *Backend) computeSingleRows(
	ctx context.Context, r *device.Request, panels [][]float32, visit func(t *device.Tile) error,
) error {
	workers := max(r.Workers, 1)
	return run.Tasks(ctx, workers, len(r.RowIndices), func(ctx context.Context, _, i int) error {
		p := b.acquirePanel()
		s, _ := b.denseCopy.rowPool.Get().(*singleRow)
		if s == nil {
			s = &singleRow{}
		}
		s.load(b, r.RowDocuments, r.RowIndices[i])
		dense := p.dense
		err := p.computeRow(ctx, s, r.RowDocuments, r.RowIndices[i], panels, func(lo, hi int, c []float32) error {
			return visit(&device.Tile{FirstRow: i, Rows: 1, Lo: lo, Hi: hi, Values: c, RowStride: 1, ColStride: 1})
		})
		p.dense, p.streaming = dense, b.columns
		b.denseCopy.rowPool.Put(s)
		b.releasePanel(p)
		return err
	})
}

func (s *singleRow) load(b *Backend, x *sparse.Embedded, i int) {
	l := b.layout
	columns, values := x.Row(i)
	s.order = s.order[:0]
	for k, column := range columns {
		s.order = append(s.order, uint64(l.rank[column])<<32|uint64(k))
	}
	slices.Sort(s.order)
	slices.Reverse(s.order)
	if s.docs.head == nil {
		s.docs.head = make([]segment, len(l.bounds)-1)
		for k := range s.docs.head {
			s.docs.head[k] = segment{start: make([]int64, 2), doc: []uint8{0}, positions: []uint8{0}}
		}
		s.docs.tail.Offsets = s.starts[:]
	}
	tail := &s.docs.tail
	tail.Terms, tail.Values = tail.Terms[:0], tail.Values[:0]
	at, head := 0, l.headTerms()
	for ; at < len(s.order) && int(s.order[at]>>32) >= head; at++ {
		tail.Terms = append(tail.Terms, uint32(int(s.order[at]>>32)-head))
		tail.Values = append(tail.Values, values[uint32(s.order[at])]*l.scale)
	}
	tail.Offsets[1] = int64(len(tail.Terms))
	for k := len(s.docs.head) - 1; k >= 0; k-- {
		g := &s.docs.head[k]
		g.offset, g.value = g.offset[:0], g.value[:0]
		for ; at < len(s.order) && int(s.order[at]>>32) >= l.bounds[k]; at++ {
			g.offset = append(g.offset, uint16((int(s.order[at]>>32)-l.bounds[k])*l.panel))
			g.value = append(g.value, values[uint32(s.order[at])])
		}
		g.start[1] = int64(len(g.offset))
	}
}

// computeRow computes c of document i of x (stored in s) with all columns, and visits each block.
func (p *panel) computeRow(
	ctx context.Context, s *singleRow, x *sparse.Embedded, i int, panels [][]float32,
	visit func(lo, hi int, c []float32) error,
) error {
	b, k := p.b, p.b.kernels
	n, width := b.columns.x.Rows(), k.PanelWidth
	p.startTimer()
	p.setDocs(&s.docs, append(p.docs[:0:0], 0))
	p.exact.reset(x, []int{i})
	if s.sums = s.sums[:cap(s.sums)]; len(s.sums) < len(panels)*width {
		s.sums = make([]float32, len(panels)*width)
	}
	sums := s.sums[:len(panels)*width]
	clear(sums[n:])
	p.writeTailRow(sums[:n])
	p.findLongPairs(sums, &device.Tile{Hi: n, ColStride: 1})
	far := p.farPairs
	p.lap(&p.stats.TailTime)
	p.streaming = &s.docs
	for at, dense := range panels {
		p.dense = dense
		p.addHeadDots(0, 1, 0, len(s.docs.head), sums[at*width:(at+1)*width], 0)
	}
	p.lap(&p.stats.HeadTime)
	for lo := 0; lo < n; lo += blockDocs {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		p.startTimer()
		hi := min(lo+blockDocs, n)
		c := sums[lo:hi]
		near := p.closePairs[:k.Finish(p.closePairs, c, device.CloseThreshold)]
		for ; len(far) > 0 && int(far[0]) < hi; far = far[1:] {
			near = append(near, far[0]-uint32(lo))
		}
		for _, at := range near {
			j := lo + int(at)
			terms, _ := b.columns.x.Row(j)
			p.scratch = b.columns.x.UnitVector64(j, p.scratch)
			mine, unit := p.exact.row(0)
			c[at] = float32(b.pairing.exact(mine, unit, terms, p.scratch))
			p.stats.RecomputedPairs++
		}
		p.lap(&p.stats.ConvertTime)
		if err := visit(lo, hi, c); err != nil {
			return err
		}
	}
	return nil
}

func (p *panel) writeTailRow(sums []float32) {
	block := p.b.postings.block
	for lo := 0; lo < len(sums); lo += block {
		hi := min(lo+block, len(sums))
		p.findVisits(lo/block, false, 0, block)
		p.tailAdd(lo / block)
		p.b.kernels.TailStore(sums[lo:hi], 1, p.tail, p.stride, 1, hi-lo)
	}
}
