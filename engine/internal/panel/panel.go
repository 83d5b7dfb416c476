package panel

import (
	"context"
	"slices"
	"time"

	"github.com/gramengine/gram/asm"
	"github.com/gramengine/gram/engine/device"
	"github.com/gramengine/gram/sparse"
)

// blockDocs is the number of documents whose dot products with a panel are computed at a time, from
// the head to the map: their tile of c, 512 × 64 values or 128 KiB, stays in the second-level
// cache. TailDocs is the number whose tail is added up at a time: large, because every posting list
// costs a mispredicted branch or two in every block, and small enough for one panel document's
// sums, 32 KiB, to stay near, and for those of all, 2 MiB, not to crowd out other cores in a
// third-level cache. Both are multiples of sparse.Block.
const (
	blockDocs = 4 * sparse.Block
	TailDocs  = 8 * blockDocs
)

// groupSegments is the number of segments of the head, or of groups of them, that are added up in
// one go, except that directSegments, as many as two levels of groups may add, need no groups: a
// group costs every document two passes over its row of the tile.
const (
	groupSegments  = 8
	directSegments = 2 * groupSegments
)

// panel is one worker's scratch space: a panel of documents in dense form, which the engine's
// documents stream past.
type panel struct {
	b *Backend

	from      *side     // where the panel's documents come from
	streaming *side     // the documents that pass: those of the columns, but for single documents
	docs      []int     // the panel's documents, up to Kernels.Panel
	dense     []float32 // [Head][Panel], a segment behind the other
	cursors   []asm.Cursor
	ends      []int64     // where the posting list of each cursor ends
	tail      []float64   // [Panel][TailDocs], all 0 where no block is under way; nil where the tail is direct
	tile      []float32   // [blockDocs][Panel]
	groups    [][]float32 // the same for groups of segments, level by level, made where there are so many

	close   []uint32 // places in the tile
	exact   unitCache
	scratch []float64
	terms   []float32 // of a posting list; see pairing

	last  time.Time    // when the stage under way began
	stats device.Stats // not yet added to those of the back end
}

func newPanel(b *Backend) *panel {
	r := b.kernels.Panel
	p := &panel{
		b: b, streaming: b.own,
		dense: make([]float32, b.layout.head()*r),
		tile:  make([]float32, blockDocs*r),
		close: make([]uint32, blockDocs*r),
	}
	if !b.tailDirect {
		p.tail = make([]float64, TailDocs*r)
	}
	if b.pairing.terms != nil {
		p.terms = make([]float32, termsAtOnce)
	}
	return p
}

// load scatters documents into the panel. It must be empty.
func (p *panel) load(from *side, docs []int) {
	p.start()
	p.from, p.docs = from, docs
	p.exact.reset(from.x, docs)
	p.scatter(false)
}

// unload empties the panel, touching only what load wrote.
func (p *panel) unload() {
	p.start()
	p.scatter(true)
	p.lap(&p.stats.Load)
}

// segment returns the part of the dense panel that belongs to segment s of the head.
func (p *panel) segment(s int) []float32 {
	l := p.b.layout
	return p.dense[l.bounds[s]*l.panel : l.bounds[s+1]*l.panel]
}

func (p *panel) scatter(zero bool) {
	for s := range p.from.head {
		seg := &p.from.head[s]
		dense := p.segment(s)
		for r, d := range p.docs {
			lo, hi := seg.of(d)
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

// seek places a cursor in the posting list of every tail term of the panel's documents: at its
// first document not below from or, for the symmetric half, at the document itself, so that of two
// documents in the panel only the later one meets the earlier.
func (p *panel) seek(half bool, from uint32) {
	post := p.b.postings
	p.cursors, p.ends = p.cursors[:0], p.ends[:0]
	tail := &p.from.tail
	var most int64
	for _, d := range p.docs {
		most += tail.Offsets[d+1] - tail.Offsets[d]
	}
	if int64(cap(p.ends)) < most { // no more than that, as append would: panelBytes counts it
		p.cursors, p.ends = make([]asm.Cursor, 0, most), make([]int64, 0, most)
	}
	for r, d := range p.docs {
		for k := tail.Offsets[d]; k < tail.Offsets[d+1]; k++ {
			t := tail.Terms[k]
			next, end := post.offsets[t], post.offsets[t+1]-1
			switch {
			case half:
				next += int64(p.b.own.place[k])
			case from > 0:
				next += int64(firstFrom(post.doc[next:end], from, p.b.own.x.Rows()))
			}
			if next < end {
				p.cursors = append(p.cursors, asm.Cursor{Next: next, Scale: tail.Values[k], Column: uint32(r)})
				p.ends = append(p.ends, end)
			}
		}
	}
}

// firstFrom returns the place of the first of ascending documents, of n that there are, that isn't
// below from. Most terms occur evenly, so the search begins where it should be and doubles its steps:
// a binary search misses the cache in every step.
func firstFrom(docs []uint32, from uint32, n int) int {
	lo, hi := 0, len(docs)
	if hi == 0 {
		return 0
	}
	at, step := min(int(uint64(from)*uint64(hi)/uint64(n)), hi-1), 4
	if docs[at] < from {
		for lo = at + 1; at+step < hi; step *= 2 {
			if docs[at+step] >= from {
				hi = at + step
				break
			}
			lo = at + step + 1
		}
	} else {
		for hi = at; at-step >= 0; step *= 2 {
			if docs[at-step] < from {
				lo = at - step + 1
				break
			}
			hi = at - step
		}
	}
	place, _ := slices.BinarySearch(docs[lo:hi], from)
	return lo + place
}

// run computes c between the panel's documents and those of the columns j0 <= j < n, a block at a
// time, and hands it to visit as c[(j-lo)*Panel+r] for documents lo <= j < hi, which visit may
// overwrite. n is a multiple of sparse.Block or the number of all documents. For the symmetric
// half, j0 is the first of the panel's documents, which are the columns' own in sequence. An error
// of visit and the end of ctx end it.
func (p *panel) run(ctx context.Context, half bool, j0, n int, visit func(lo, hi int, c []float32) error) error {
	b, k := p.b, p.b.kernels
	p.seek(half, uint32(j0-j0%sparse.Block))
	p.stats.TailMatches -= p.passed()
	defer func() { p.stats.TailMatches += p.passed() }()
	p.lap(&p.stats.Load)
	// Blocks are whole, so the first may hold documents before j0.
	for tail := j0 - j0%sparse.Block; tail < n; tail += TailDocs {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		p.start()
		end := min(tail+TailDocs, n)
		if !b.tailDirect {
			p.tailAdd(uint32(tail), uint32(end))
		}
		for lo := tail; lo < end; lo += blockDocs {
			hi := min(lo+blockDocs, end)
			tile := p.tile[:(hi-lo)*k.Panel]
			p.dots(lo, hi, lo-tail, tile)
			first := max(lo, j0)
			tile = tile[(first-lo)*k.Panel:]
			if half && first == j0 {
				p.reflect(tile)
			}
			if err := p.recompute(ctx, first, tile, p.close[:k.Finish(p.close, tile, closeC)]); err != nil {
				clear(p.tail)
				return err
			}
			p.lap(&p.stats.Close)
			if err := visit(first, hi, tile); err != nil {
				clear(p.tail)
				return err
			}
			p.start()
		}
	}
	return nil
}

// passed returns the number of documents that the cursors have passed, up to a constant.
func (p *panel) passed() (sum int64) {
	for i := range p.cursors {
		sum += p.cursors[i].Next
	}
	return sum
}

// dots fills the tile of documents lo <= j < hi with dot products: the tail, of which that of
// document lo stands at column at of p.tail, and the head, from the rarest segment to the most
// frequent one.
func (p *panel) dots(lo, hi, at int, tile []float32) {
	k := p.b.kernels
	if p.b.tailDirect {
		clear(tile)
		p.tailDirect(tile, uint32(lo), uint32(hi))
	} else {
		k.TailStore(tile, k.Panel, p.tail[at:], TailDocs, k.Panel, hi-lo)
	}
	p.lap(&p.stats.Tail)
	p.head(lo, hi, 0, len(p.b.own.head), tile, 0)
	p.lap(&p.stats.Head)
}

// head adds the dot products over segments first <= s < last of the head to the tile of documents
// lo <= j < hi, the last segment first.
//
// Like equal terms of a segment, equal sums of many segments would all be rounded to one side: so
// no more than groupSegments of anything are added up in one go. More segments than directSegments
// are summed in groups, each in a tile of its own, and groups of groups likewise, one level deeper.
func (p *panel) head(lo, hi, first, last int, tile []float32, level int) {
	k := p.b.kernels
	size := 1
	if last-first > directSegments {
		for size*groupSegments < last-first {
			size *= groupSegments
		}
	}
	for s := first + (last-first-1)/size*size; s >= first; s -= size {
		if size > 1 {
			if level == len(p.groups) {
				p.groups = append(p.groups, make([]float32, blockDocs*k.Panel))
			}
			group := p.groups[level][:len(tile)]
			clear(group)
			p.head(lo, hi, s, min(s+size, last), group, level+1)
			k.Add(tile, tile, group)
			continue
		}
		seg, dense := &p.streaming.head[s], p.segment(s)
		p.stats.HeadValues += seg.start[hi] - seg.start[lo]
		for b := lo; b < hi; b += sparse.Block {
			end := min(b+sparse.Block, hi)
			p.b.pairing.panel(tile[(b-lo)*k.Panel:], dense, seg.start[b:end+1], seg.doc[b:end], seg.offset, seg.value)
		}
	}
}

// reflect completes the dot products among the panel's own documents, which begin the tile: seek
// left out those with an earlier document.
func (p *panel) reflect(tile []float32) {
	width := p.b.kernels.Panel
	for i := range p.docs {
		for j := range i {
			tile[j*width+i] = tile[i*width+j]
		}
	}
}

// recompute replaces the elements of a tile that begins with document lo, those at the given
// places, by their exact values. They may be all elements, of long documents: so it looks at ctx by
// itself.
func (p *panel) recompute(ctx context.Context, lo int, tile []float32, places []uint32) error {
	own, k := p.b.own, p.b.kernels
	last := -1
	var terms []uint32
	for n, at := range places {
		if n%256 == 255 && ctx.Err() != nil {
			return context.Cause(ctx)
		}
		j, r := lo+int(at)/k.Panel, int(at)%k.Panel
		if r >= len(p.docs) {
			continue
		}
		if p.from == own && p.docs[r] == j {
			tile[at] = 0
			continue
		}
		if j != last {
			terms, _ = own.x.Row(j)
			p.scratch = own.x.Unit64(j, p.scratch)
			last = j
		}
		panelTerms, unit := p.exact.row(r)
		tile[at] = float32(p.b.pairing.exact(panelTerms, unit, terms, p.scratch))
		p.stats.Recomputed++
	}
	return nil
}

func (p *panel) start() { p.last = time.Now() }

// lap adds the time since the last call of lap or start to a stage.
func (p *panel) lap(stage *time.Duration) {
	now := time.Now()
	*stage += now.Sub(p.last)
	p.last = now
}
