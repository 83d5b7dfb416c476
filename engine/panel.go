package engine

import (
	"context"
	"sort"
	"sync/atomic"

	"github.com/gramengine/gram/asm"
	"github.com/gramengine/gram/sparse"
)

// blockDocs is the number of documents whose dot products with a panel are computed at a time: their tile of c, 512 × 32 values or
// 64 KiB, stays in the second-level cache from the tail through the head to the map. It is a multiple of sparse.Block.
const blockDocs = 4 * sparse.Block

// side is a set of documents in the two forms that a tile needs: as float32 in head/tail form, and as embedded for exact recomputation.
type side struct {
	x     *sparse.Embedded
	split *sparse.HeadTail
	norms []float32
}

func newSide(x *sparse.Embedded, layout *sparse.Layout) *side {
	s := &side{x: x, split: layout.Split(x), norms: make([]float32, x.Rows())}
	for i, n := range x.Norms {
		s.norms[i] = float32(n)
	}
	return s
}

// panel is one worker's scratch space: a panel of documents in dense form, which the engine's documents stream past.
type panel struct {
	e *Engine

	from    *side     // where the panel's documents come from
	docs    []int     // the panel's documents, up to Kernels.Panel
	norms   []float32 // their norms; 0 in columns without a document
	dense   []float32 // [Head][Panel], a segment behind the other
	cursors []asm.Cursor
	tail    []float64 // [Panel][blockDocs], all 0 between blocks
	tile    []float32 // [blockDocs][Panel]

	exact   unitCache
	scratch []float64
}

func newPanel(e *Engine) *panel {
	r := e.kernels.Panel
	return &panel{
		e:     e,
		norms: make([]float32, r),
		dense: make([]float32, e.layout.Head()*r),
		tile:  make([]float32, blockDocs*r),
		tail:  make([]float64, blockDocs*r),
	}
}

// panelBytes is what newPanel allocates for the given kernels and head.
func panelBytes(k *asm.Kernels, head int) int64 { return int64(4 * k.Panel * (head + 3*blockDocs)) }

// load scatters documents into the panel. It must be empty.
func (p *panel) load(from *side, docs []int) {
	p.from, p.docs = from, docs
	p.exact.reset(from.x, docs)
	clear(p.norms)
	for r, d := range docs {
		p.norms[r] = from.norms[d]
	}
	p.scatter(false)
}

// unload empties the panel, touching only what load wrote.
func (p *panel) unload() { p.scatter(true) }

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

// seek places a cursor at the first document not below j0 in the posting list of every tail term of the panel's documents.
func (p *panel) seek(j0 int) {
	post := p.e.postings
	p.cursors = p.cursors[:0]
	for r, d := range p.docs {
		terms, values := p.from.split.Tail.Row(d)
		for k, t := range terms {
			lo, hi := post.Offsets[t], post.Offsets[t+1]
			if j0 > 0 {
				list := post.Terms[lo:hi]
				lo += int64(sort.Search(len(list), func(i int) bool { return int(list[i]) >= j0 }))
			}
			if lo < hi {
				p.cursors = append(p.cursors, asm.Cursor{Next: lo, End: hi, Scale: values[k], Column: uint32(r)})
			}
		}
	}
}

// run computes c between the engine's documents j0 <= j < j1 and the panel's, and hands it to visit a block at a time: c[(j-lo)*Panel+r]
// for lo <= j < hi. visit may overwrite c. run returns early, with the context's error, when ctx ends.
func (p *panel) run(ctx context.Context, j0, j1 int, visit func(lo, hi int, c []float32)) error {
	e, k := p.e, p.e.kernels
	r := k.Panel
	atomic.AddInt64(&e.stats.Pairs, int64(j1-j0)*int64(len(p.docs)))
	// Blocks are whole, so the first and the last may hold documents that weren't asked for.
	from := j0 - j0%sparse.Block
	p.seek(from)
	for lo := from; lo < j1; lo += blockDocs {
		if err := ctx.Err(); err != nil {
			return context.Cause(ctx)
		}
		hi := min(lo+blockDocs, e.Len())
		tile := p.tile[:(hi-lo)*r]
		k.TailAdd(p.tail, blockDocs, e.postings.Terms, e.postings.Values, p.cursors, uint32(lo), uint32(hi))
		k.TailStore(tile, r, p.tail, blockDocs, r, hi-lo)
		for s := len(e.own.split.Head) - 1; s >= 0; s-- {
			seg := &e.own.split.Head[s]
			for b := lo; b < hi; b += sparse.Block {
				end := min(b+sparse.Block, hi)
				k.PanelDot(tile[(b-lo)*r:], p.segment(s), seg.Start[b:end+1], seg.Doc[b:end], seg.Offset, seg.Value)
			}
		}
		first, last := max(lo, j0), min(hi, j1)
		tile = tile[(first-lo)*r : (last-lo)*r]
		k.Finish(tile, tile)
		p.recompute(first, tile)
		visit(first, last, tile)
	}
	return nil
}

// recompute replaces every c below closeC by its exact value.
func (p *panel) recompute(lo int, tile []float32) {
	own, width := p.e.own, p.e.kernels.Panel
	n, last := int64(0), -1
	var terms []uint32
	for at, c := range tile {
		if !(c < closeC) || at%width >= len(p.docs) {
			continue
		}
		j, r := lo+at/width, at%width
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
		tile[at] = float32(exactC(panelTerms, unit, terms, p.scratch))
		n++
	}
	if n > 0 {
		atomic.AddInt64(&p.e.stats.Recomputed, n)
	}
}
