package engine

import (
	"context"
	"slices"

	"github.com/gramengine/gram/asm"
	"github.com/gramengine/gram/sparse"
)

// blockDocs is the number of documents whose dot products with a panel are computed at a time, from the head to the map: their tile of c,
// 512 × 64 values or 128 KiB, stays in the second-level cache. tailDocs is the number whose tail is added up at a time: large, because every posting list
// costs a mispredicted branch or two in every block, and small enough for one panel document's sums, 32 KiB, to stay near, and for those of all, 2 MiB, not to
// crowd out other cores in a third-level cache. Both are multiples of sparse.Block.
const (
	blockDocs = 4 * sparse.Block
	tailDocs  = 8 * blockDocs
)

// groupSegments is the number of segments of the head, or of groups of them, that are added up in one go, except that directSegments, as many as two levels
// of groups may add, need no groups: a group costs every document two passes over its row of the tile.
const (
	groupSegments  = 8
	directSegments = 2 * groupSegments
)

// side is a set of documents in the two forms that a tile needs: as float32 in head/tail form, and as embedded for exact recomputation.
type side struct {
	x     *sparse.Embedded
	split *sparse.HeadTail
	norms []float32
}

// newSide divides documents for a layout, on a number of goroutines; byRank is their transpose in the order of its ranks.
func newSide(ctx context.Context, x *sparse.Embedded, layout *sparse.Layout, byRank *sparse.CSR, workers int) (*side, error) {
	split, err := layout.Split(ctx, byRank, workers)
	if err != nil {
		return nil, err
	}
	s := &side{x: x, split: split, norms: make([]float32, x.Rows())}
	for i, n := range x.Norms {
		s.norms[i] = float32(n)
	}
	return s, nil
}

// testSide is newSide for test documents.
func (e *Engine) testSide(ctx context.Context, test *sparse.Embedded, workers int) (*side, error) {
	byRank, err := sparse.ByRank(ctx, &test.CSR, e.layout.Rank, workers)
	if err != nil {
		return nil, err
	}
	return newSide(ctx, test, e.layout, byRank, workers)
}

// panel is one worker's scratch space: a panel of documents in dense form, which the engine's documents stream past.
type panel struct {
	e *Engine

	from    *side     // where the panel's documents come from
	docs    []int     // the panel's documents, up to Kernels.Panel
	norms   []float32 // their norms; 0 in columns without a document
	dense   []float32 // [Head][Panel], a segment behind the other
	cursors []asm.Cursor
	ends    []int64     // where the posting list of each cursor ends
	next    int         // document that the cursors stand at after a range of columns, or -1
	tail    []float64   // [Panel][tailDocs], all 0 where no block is under way; nil where the tail is direct
	tile    []float32   // [blockDocs][Panel]
	groups  [][]float32 // the same for groups of segments, level by level, made where there are so many

	close   []uint32 // places in the tile
	exact   unitCache
	scratch []float64
	terms   []float32 // of a posting list; see pairing

	clock
	stats Stats // not yet added to the engine's
}

func newPanel(e *Engine) *panel {
	r := e.kernels.Panel
	p := &panel{
		e:     e,
		norms: make([]float32, r),
		dense: make([]float32, e.layout.Head()*r),
		tile:  make([]float32, blockDocs*r),
		close: make([]uint32, blockDocs*r),
	}
	if !e.tailDirect {
		p.tail = make([]float64, tailDocs*r)
	}
	if e.pairing.terms != nil {
		p.terms = make([]float32, termsAtOnce)
	}
	return p
}

// load scatters documents into the panel. It must be empty.
func (p *panel) load(from *side, docs []int) {
	p.start()
	p.from, p.docs, p.next = from, docs, -1
	p.exact.reset(from.x, docs)
	clear(p.norms)
	for r, d := range docs {
		p.norms[r] = from.norms[d]
	}
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
	l := p.e.layout
	return p.dense[l.Bounds[s]*l.Panel : l.Bounds[s+1]*l.Panel]
}

func (p *panel) scatter(zero bool) {
	for s := range p.from.split.Head {
		seg := &p.from.split.Head[s]
		dense := p.segment(s)
		for r, d := range p.docs {
			lo, hi := seg.Of(d)
			for k := lo; k < hi; k++ {
				v := seg.Value[k]
				if zero {
					v = 0
				}
				dense[int(seg.Offset[k])+r] = v
			}
		}
	}
}

// seek places a cursor in the posting list of every tail term of the panel's documents: at its first document not below from or, for the symmetric half, at
// the document itself, so that of two documents in the panel only the later one meets the earlier.
func (p *panel) seek(half bool, from uint32) {
	post := p.e.postings
	p.cursors, p.ends = p.cursors[:0], p.ends[:0]
	tail := &p.from.split.Tail
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
			next, end := post.Offsets[t], post.Offsets[t+1]-1
			switch {
			case half:
				next += int64(p.e.place[k])
			case from > 0:
				at, _ := slices.BinarySearch(post.Doc[next:end], from)
				next += int64(at)
			}
			if next < end {
				p.cursors = append(p.cursors, asm.Cursor{Next: next, Scale: tail.Values[k], Column: uint32(r)})
				p.ends = append(p.ends, end)
			}
		}
	}
}

// run computes c between the panel's documents and all of the engine's (all) or, for the symmetric half, those from the panel's first on, which
// are the engine's own in sequence (half). It hands c to visit a block at a time, c[(j-lo)*Panel+r] for documents lo <= j < hi, which visit may
// overwrite. An error of visit and the end of ctx end it.
func (p *panel) run(ctx context.Context, part part, visit func(lo, hi int, c []float32) error) error {
	from := 0
	if part == half {
		from = p.docs[0]
	}
	return p.runColumns(ctx, part, from, p.e.Len(), visit)
}

// runColumns is run for the documents j0 <= j < n, where n is a multiple of sparse.Block or the number of all documents; for the symmetric half, j0 is
// the panel's first document. An element has the same bits as from run. Ranges that follow each other save the search in the posting lists.
func (p *panel) runColumns(ctx context.Context, part part, j0, n int, visit func(lo, hi int, c []float32) error) error {
	e, k := p.e, p.e.kernels
	if part == half || p.next != j0 {
		p.seek(part == half, uint32(j0-j0%sparse.Block))
	}
	p.next = -1
	p.stats.TailMatches -= p.passed()
	defer func() { p.stats.TailMatches += p.passed() }()
	p.lap(&p.stats.Load)
	// Blocks are whole, so the first may hold documents before j0.
	for tail := j0 - j0%sparse.Block; tail < n; tail += tailDocs {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		p.start()
		end := min(tail+tailDocs, n)
		if !e.tailDirect {
			p.tailAdd(uint32(tail), uint32(end))
		}
		for lo := tail; lo < end; lo += blockDocs {
			hi := min(lo+blockDocs, end)
			tile := p.tile[:(hi-lo)*k.Panel]
			p.dots(lo, hi, lo-tail, tile)
			first := max(lo, j0)
			tile = tile[(first-lo)*k.Panel:]
			if part == half && first == j0 {
				p.reflect(tile)
			}
			if err := p.recompute(ctx, first, tile, p.close[:k.Finish(p.close, tile, closeC)]); err != nil {
				clear(p.tail)
				return err
			}
			p.stats.Pairs += int64(hi-first) * int64(len(p.docs))
			p.lap(&p.stats.Close)
			if err := visit(first, hi, tile); err != nil {
				clear(p.tail)
				return err
			}
			p.start()
		}
	}
	p.next = n
	return nil
}

// passed returns the number of documents that the cursors have passed, up to a constant.
func (p *panel) passed() (sum int64) {
	for i := range p.cursors {
		sum += p.cursors[i].Next
	}
	return sum
}

// dots fills the tile of documents lo <= j < hi with dot products: the tail, of which that of document lo stands at column at of p.tail, and the
// head, from the rarest segment to the most frequent one.
func (p *panel) dots(lo, hi, at int, tile []float32) {
	e, k := p.e, p.e.kernels
	if e.tailDirect {
		clear(tile)
		p.tailDirect(tile, uint32(lo), uint32(hi))
	} else {
		k.TailStore(tile, k.Panel, p.tail[at:], tailDocs, k.Panel, hi-lo)
	}
	p.lap(&p.stats.Tail)
	p.head(lo, hi, 0, len(e.own.split.Head), tile, 0)
	p.lap(&p.stats.Head)
}

// head adds the dot products over segments first <= s < last of the head to the tile of documents lo <= j < hi, the last segment first.
//
// Like equal terms of a segment, equal sums of many segments would all be rounded to one side: so no more than groupSegments of anything are added up in
// one go. More segments than directSegments are summed in groups, each in a tile of its own, and groups of groups likewise, one level deeper.
func (p *panel) head(lo, hi, first, last int, tile []float32, level int) {
	k := p.e.kernels
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
		seg, dense := &p.e.own.split.Head[s], p.segment(s)
		p.stats.HeadValues += seg.Start[hi] - seg.Start[lo]
		for b := lo; b < hi; b += sparse.Block {
			end := min(b+sparse.Block, hi)
			p.e.pairing.panel(tile[(b-lo)*k.Panel:], dense, seg.Start[b:end+1], seg.Doc[b:end], seg.Offset, seg.Value)
		}
	}
}

// part says which of the engine's documents a panel meets.
type part int

const (
	all  part = iota // every document
	half             // the documents from the panel's first on
)

// reflect completes the dot products among the panel's own documents, which begin the tile: seek left out those with an earlier document.
func (p *panel) reflect(tile []float32) {
	width := p.e.kernels.Panel
	for i := range p.docs {
		for j := range i {
			tile[j*width+i] = tile[i*width+j]
		}
	}
}

// recompute replaces the elements of a tile that begins with document lo, those at the given places, by their exact values. They may be all elements, of long documents: so it
// looks at ctx by itself.
func (p *panel) recompute(ctx context.Context, lo int, tile []float32, places []uint32) error {
	own, k := p.e.own, p.e.kernels
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
		tile[at] = float32(p.e.pairing.exact(panelTerms, unit, terms, p.scratch))
		p.stats.Recomputed++
	}
	return nil
}
