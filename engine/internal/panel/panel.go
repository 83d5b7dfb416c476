package panel

import (
	"context"
	"slices"
	"time"

	"github.com/gramengine/gram/asm"
	"github.com/gramengine/gram/engine/device"
	"github.com/gramengine/gram/sparse"
)

// blockDocs is the number of documents in a tile of dot products with a panel. The tile has 512 ×
// 64 values or 128 KiB, and fits in the L2 cache. blockDocs is a multiple of sparse.BlockSize. The
// tail uses larger blocks, because each posting list costs one or two mispredicted branches per
// block (see MinTailBlockDocs).
const blockDocs = 4 * sparse.BlockSize

// groupSegments is the number of segments per group, and of groups per larger group. Up to
// directSegments segments need no groups. Each group costs two passes over the tile.
const (
	groupSegments  = 8
	directSegments = 2 * groupSegments
)

// panel is a worker's scratch space. It holds a panel of dense documents, by which other documents
// are multiplied.
type panel struct {
	b *Backend

	from      *docSet     // documents of the panel
	streaming *docSet     // documents that are multiplied by the dense panel
	docs      []int       // the panel's documents, at most Kernels.PanelWidth, as indices into from
	longTails []int       // documents with more than maxAccurateTail tail values, as indices into docs
	minTails  []float32   // smallest tail value of each document in longTails
	dense     []float32   // [headTerms][PanelWidth], segment by segment
	visits    []asm.Visit // visits in the current block
	tail      []int32     // [PanelWidth][stride]; all 0 between blocks
	stride    int         // see Backend.stride
	tile      []float32   // [blockDocs][PanelWidth], or [PanelWidth][tileStride] if the columns are dense
	packed    stream      // the panel's documents if the columns are dense
	groups    [][]float32 // tiles of groups of segments, by level; allocated on demand

	closePairs []uint32 // indices of close pairs in the tile
	farPairs   []uint32 // indices of pairs that share many terms of the tail
	marks      []uint64 // one bit per tail term of a document
	exact      unitCache
	scratch    []float64
	terms      []float32 // products of a posting list; see pairing

	last  time.Time    // start of the current stage
	stats device.Stats // counts not yet added to Backend.stats
}

// stride returns the number of tail sums per panel document. Padding makes documents use different
// cache sets.
func (b *Backend) stride() int { return b.postings.block + sparse.BlockSize/8 }

func (b *Backend) tileValues() int {
	if b.denseColumns {
		return tileStride * b.kernels.PanelWidth
	}
	return blockDocs * b.kernels.PanelWidth
}

func newPanel(b *Backend) *panel {
	r := b.kernels.PanelWidth
	p := &panel{
		b: b, streaming: b.columns, stride: b.stride(),
		tile:       make([]float32, b.tileValues()),
		closePairs: make([]uint32, blockDocs*r),
	}
	if !b.denseColumns {
		p.dense = make([]float32, b.layout.headTerms()*r)
	}
	p.tail = make([]int32, p.stride*r)
	if b.pairing.terms != nil {
		p.terms = make([]float32, maxTermProducts)
	}
	return p
}

func (p *panel) load(from *docSet, docs []int) {
	p.startTimer()
	p.setDocs(from, docs)
	if p.b.denseColumns {
		p.packed.pack(from, docs)
		return
	}
	p.scatter(false)
}

func (p *panel) setDocs(from *docSet, docs []int) {
	p.from, p.docs, p.longTails, p.minTails = from, docs, p.longTails[:0], p.minTails[:0]
	p.exact.reset(from.x, docs)
	for r, d := range docs {
		if from.tail.Offsets[d+1]-from.tail.Offsets[d] > maxAccurateTail {
			p.longTails, p.minTails = append(p.longTails, r), append(p.minTails, from.minTail(d))
		}
	}
}

func (p *panel) unload() {
	if p.b.denseColumns {
		return
	}
	p.startTimer()
	values := int64(0)
	for s := range p.from.head {
		seg := &p.from.head[s]
		for _, d := range p.docs {
			lo, hi := seg.valueRange(d)
			values += hi - lo
		}
	}
	if values > int64(len(p.dense))/32 {
		clear(p.dense)
	} else {
		p.scatter(true)
	}
	p.lap(&p.stats.LoadTime)
}

func (p *panel) segment(s int) []float32 {
	l := p.b.layout
	return p.dense[l.bounds[s]*l.panel : l.bounds[s+1]*l.panel]
}

func (p *panel) scatter(zero bool) {
	for s := range p.from.head {
		seg := &p.from.head[s]
		dense := p.segment(s)
		for r, d := range p.docs {
			lo, hi := seg.valueRange(d)
			for k := lo; k < hi; k++ {
				v := seg.value[k]
				if zero {
					v = 0
				}
				dense[int(seg.offset[k])+r] = v
			}
		}
	}
}

// findVisits lists the parts of block b's posting lists that the panel's documents need, for
// documents from <= j < to of the block. If half is set, each panel document is matched only with
// later documents and itself, so that a pair within the panel is computed once.
func (p *panel) findVisits(b int, half bool, from, to int) {
	post, tail := p.b.postings, &p.from.tail
	first := post.first[b*(post.listCount+1):][:post.listCount+1]
	doc := post.doc[post.base[b]:]
	var most int64
	for _, d := range p.docs {
		most += tail.Offsets[d+1] - tail.Offsets[d]
	}
	if int64(cap(p.visits)) <= most { // panelBytes assumes this limit, so visits doesn't grow beyond it
		p.visits = make([]asm.Visit, most+1)
	}
	visits, n := p.visits[:most+1], 0 // one extra, because a visit is written before its list is known to be empty
	for r, d := range p.docs {
		lo, hi := tail.Offsets[d], tail.Offsets[d+1]
		terms, values := tail.Terms[lo:hi], tail.Values[lo:hi]
		values = values[:len(terms)]
		switch of := d / post.block; {
		case half && of > b:
		case half && of == b && to == post.block:
			place := p.b.columns.positions[lo:hi][:len(terms)]
			for k, t := range terms { // each list contains at least the panel's document
				begin := first[t] + uint32(place[k])
				visits[n] = asm.Visit{First: begin, Count: first[t+1] - begin, Scale: values[k], Column: uint32(r)}
				n++
			}
		case from == 0 && to == post.block:
			for k, t := range terms {
				begin, end := first[t], first[t+1]
				visits[n] = asm.Visit{First: begin, Count: end - begin, Scale: values[k], Column: uint32(r)}
				if begin < end { // the compiler emits a conditional move
					n++
				}
			}
		default:
			for k, t := range terms {
				begin, end := first[t], first[t+1]
				if half && of == b {
					begin += uint32(p.b.columns.positions[lo+int64(k)])
				}
				begin += uint32(searchFrom(doc[begin:end], from, post.block))
				end = begin + uint32(searchFrom(doc[begin:end], to, post.block))
				if begin < end {
					visits[n] = asm.Visit{First: begin, Count: end - begin, Scale: values[k], Column: uint32(r)}
					n++
				}
			}
		}
	}
	for _, v := range visits[:n] {
		p.stats.TailMatches += int64(v.Count)
	}
	p.visits = visits[:n]
}

// searchFrom returns the index of the first element of docs that is at least from. docs ascends,
// with values below n. Most terms are evenly distributed, so the search starts at the expected
// index and doubles its steps. Binary search would cause a cache miss at each step.
func searchFrom(docs []uint16, from, n int) int {
	lo, hi := 0, len(docs)
	switch {
	case hi == 0 || from == 0:
		return 0
	case from >= n:
		return hi
	}
	at, step := min(from*hi/n, hi-1), 4
	if int(docs[at]) < from {
		for lo = at + 1; at+step < hi; step *= 2 {
			if int(docs[at+step]) >= from {
				hi = at + step
				break
			}
			lo = at + step + 1
		}
	} else {
		for hi = at; at-step >= 0; step *= 2 {
			if int(docs[at-step]) < from {
				lo = at - step + 1
				break
			}
			hi = at - step
		}
	}
	place, _ := slices.BinarySearchFunc(docs[lo:hi], from, func(d uint16, from int) int { return int(d) - from })
	return lo + place
}

// run computes c of the panel's documents with columns j0 <= j < n, and calls visit for each tile.
// visit may overwrite the tile. Row 0 of a tile is the panel's first document. n must be a multiple
// of sparse.BlockSize or the number of documents. If half is set, j0 is the panel's first document,
// and the panel holds consecutive columns. run stops if visit fails or ctx is done.
func (p *panel) run(ctx context.Context, half bool, j0, n int, visit func(t *device.Tile) error) error {
	block, dots := p.b.postings.block, p.computeDots
	if p.b.denseColumns {
		dots = p.computeRowDots
	}
	// Blocks of the head are whole, so the first block may contain documents before j0.
	for at := j0 - j0%sparse.BlockSize; at < n; {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		p.startTimer()
		b, end := at/block, min(at-at%block+block, n)
		from, to := at-b*block, end-b*block
		if half {
			from = 0 // findVisits begins at the panel document itself, which isn't before j0
		}
		if end == p.b.columns.x.Rows() {
			to = block
		}
		p.findVisits(b, half, from, to)
		p.lap(&p.stats.LoadTime)
		p.tailAdd(b)
		p.lap(&p.stats.TailTime)
		for lo := at; lo < end; lo += blockDocs {
			t := &device.Tile{Rows: len(p.docs), Lo: max(lo, j0), Hi: min(lo+blockDocs, end)}
			own := half && t.Lo == j0
			err := p.recompute(ctx, t, dots(t, lo, lo-b*block, own))
			if err == nil {
				err = p.recompute(ctx, t, p.farPairs)
			}
			if own && p.b.denseColumns {
				p.mirror(t)
			}
			p.lap(&p.stats.ConvertTime)
			if err == nil {
				err = visit(t)
			}
			if err != nil {
				clear(p.tail)
				return err
			}
			p.startTimer()
		}
		at = end
	}
	return nil
}

// computeDots fills a tile with c, column by column, and returns the indices of close pairs.
// p.tail[r*stride+at] is the tail sum of panel document r and document lo, which is at most t.Lo.
// Segments of the head are added from the rarest to the most frequent terms. If possible, the last
// segment also converts sums to c. own is set if the tile begins with the panel's own documents.
func (p *panel) computeDots(t *device.Tile, lo, at int, own bool) []uint32 {
	b, k, segments, hi := p.b, p.b.kernels, len(p.b.columns.head), t.Hi
	tile := p.tile[:(hi-lo)*k.PanelWidth]
	t.Values, t.RowStride, t.ColStride, t.PaddingValid = tile[(t.Lo-lo)*k.PanelWidth:], 1, k.PanelWidth, true
	k.TailStore(tile, k.PanelWidth, p.tail[at:], p.stride, k.PanelWidth, hi-lo)
	if own && len(p.longTails) > 0 {
		p.mirror(t)
	}
	p.findLongPairs(t.Values, t)
	p.lap(&p.stats.TailTime)
	last := b.pairing.finish
	if last == nil || own || t.Lo != lo || segments == 0 || segments > directSegments {
		p.addHeadDots(lo, hi, 0, segments, tile, 0)
		p.lap(&p.stats.HeadTime)
		if own {
			p.mirror(t)
		}
		return p.closePairs[:k.Finish(p.closePairs, t.Values, device.CloseThreshold)]
	}
	p.addHeadDots(lo, hi, 1, segments, tile, 0)
	seg, dense, found := &p.streaming.head[0], p.segment(0), 0
	p.stats.HeadValues += seg.start[hi] - seg.start[lo]
	for block := lo; block < hi; block += sparse.BlockSize {
		end := min(block+sparse.BlockSize, hi)
		first := (block - lo) * k.PanelWidth
		found += last(p.closePairs[found:], first, device.CloseThreshold,
			tile[first:], dense, seg.start[block:end+1], seg.doc[block:end], seg.offset, seg.value)
	}
	p.lap(&p.stats.HeadTime)
	return p.closePairs[:found]
}

// findLongPairs finds pairs of a tile whose tails share more than maxAccurateTail terms. sums are
// the tail sums, or nil if unknown. For most pairs sums show that terms needn't be counted: if the
// smallest values are a and b > 0, m products add at least m·(a·b - 1) to the sum, including
// rounding. This bound requires values scaled by √TailOne. Histograms aren't scaled, so all their
// terms are counted.
func (p *panel) findLongPairs(sums []float32, t *device.Tile) {
	if p.farPairs = p.farPairs[:0]; len(p.longTails) == 0 {
		return
	}
	own := p.b.columns
	if p.marks == nil {
		p.farPairs, p.marks = make([]uint32, 0, p.b.maxFarPairs()), make([]uint64, p.b.postings.listCount/64+1)
	}
	from, _ := slices.BinarySearch(own.longTails, uint32(t.Lo))
	to, _ := slices.BinarySearch(own.longTails, uint32(t.Hi))
	for k, r := range p.longTails {
		var terms []uint32 // terms whose bits are set in p.marks
		for i := from; i < to; i++ {
			at := (int(own.longTails[i])-t.Lo)*t.ColStride + r*t.RowStride
			a, b := float64(own.minTails[i]), float64(p.minTails[k])
			if sums != nil && a > 0 && b > 0 && float64(sums[at])*asm.TailOne <= maxAccurateTail*(a*b-1) {
				continue
			}
			if terms == nil {
				terms, _ = p.from.tail.Row(p.docs[r])
				p.toggleMarks(terms)
			}
			shared := uint64(0)
			others, _ := own.tail.Row(int(own.longTails[i]))
			for _, t := range others {
				shared += p.marks[t/64] >> (t % 64) & 1
			}
			if shared > maxAccurateTail {
				p.farPairs = append(p.farPairs, uint32(at))
			}
		}
		p.toggleMarks(terms)
	}
	slices.Sort(p.farPairs)
}

func (b *Backend) maxFarPairs() int {
	return max(blockDocs*b.kernels.PanelWidth, len(b.columns.longTails))
}

func (p *panel) toggleMarks(terms []uint32) {
	for _, t := range terms {
		p.marks[t/64] ^= 1 << (t % 64)
	}
}

// addHeadDots adds dot products of the head to the tile of documents lo <= j < hi. It adds segments
// first <= s < last in descending order.
//
// Equal sums of many segments would all be rounded in the same direction. So more than
// directSegments segments are summed in groups, each in its own tile. Groups of groups are one
// level deeper.
func (p *panel) addHeadDots(lo, hi, first, last int, tile []float32, level int) {
	k := p.b.kernels
	size := groupSize(last - first)
	for s := first + (last-first-1)/size*size; s >= first; s -= size {
		if size > 1 {
			if level == len(p.groups) {
				p.groups = append(p.groups, make([]float32, blockDocs*k.PanelWidth))
			}
			group := p.groups[level][:len(tile)]
			clear(group)
			p.addHeadDots(lo, hi, s, min(s+size, last), group, level+1)
			k.Add(tile, tile, group)
			continue
		}
		seg, dense := &p.streaming.head[s], p.segment(s)
		p.stats.HeadValues += seg.start[hi] - seg.start[lo]
		for b := lo; b < hi; b += sparse.BlockSize {
			end := min(b+sparse.BlockSize, hi)
			p.b.pairing.panel(tile[(b-lo)*k.PanelWidth:], dense, seg.start[b:end+1], seg.doc[b:end], seg.offset, seg.value)
		}
	}
}

// mirror completes a tile that begins with the panel's own documents. It fills in the pairs that
// findVisits omitted, whose column is the earlier document.
func (p *panel) mirror(t *device.Tile) {
	for i := range p.docs {
		for j := range i {
			t.Values[i*t.RowStride+j*t.ColStride] = t.Values[j*t.RowStride+i*t.ColStride]
		}
	}
}

// recompute replaces values of a tile by exact values. It checks ctx regularly, because with long
// documents it may recompute the whole tile.
func (p *panel) recompute(ctx context.Context, t *device.Tile, places []uint32) error {
	own, last := p.b.columns, -1
	var terms []uint32
	for n, at := range places {
		if n%256 == 255 && ctx.Err() != nil {
			return context.Cause(ctx)
		}
		j, r := int(at)/t.ColStride, int(at)%t.ColStride
		if t.ColStride == 1 {
			j, r = int(at)%t.RowStride, int(at)/t.RowStride
		}
		if r >= len(p.docs) {
			continue
		}
		j += t.Lo
		if p.from == own && p.docs[r] == j {
			t.Values[at] = 0
			continue
		}
		if j != last {
			terms, _ = own.x.Row(j)
			p.scratch = own.x.UnitVector64(j, p.scratch)
			last = j
		}
		panelTerms, unit := p.exact.row(r)
		t.Values[at] = float32(p.b.pairing.exact(panelTerms, unit, terms, p.scratch))
		p.stats.RecomputedPairs++
	}
	return nil
}

func (p *panel) startTimer() { p.last = time.Now() }

func (p *panel) lap(stage *time.Duration) {
	now := time.Now()
	*stage += now.Sub(p.last)
	p.last = now
}
