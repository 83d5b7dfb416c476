package engine

import (
	"github.com/gramengine/gram/asm"
	"github.com/gramengine/gram/sparse"
)

// pairing is how an engine computes the similarity s of two documents, of which c is 1 - s: the dot product of unit vectors, or one of the sums over the
// common terms of two histograms. All that comes before and after s is the same: head and tail, c, close pairs, kernels, caches.
type pairing struct {
	cost    asm.Cost
	segment int // values that any document has in a segment of the head

	panel func(out, panel []float32, start []int64, doc []uint8, offset []uint16, value []float32)
	terms func(dst, y []float32, x float32) // nil for the dot product, whose tails have kernels of their own

	// exact returns c of two rows from their columns and float64 values, in a form that has no negative terms.
	exact func(aTerms []uint32, a []float64, bTerms []uint32, b []float64) float64
}

// The least share that embeddings make must be one that the kernels take: the difference of both must be a number not below 0.
const _ = uint(sparse.LeastShare - asm.LeastShare)

func pairingOf(k *asm.Kernels, p sparse.Pairing) pairing {
	histograms := func(of asm.Pairing, exact func([]uint32, []float64, []uint32, []float64) float64) pairing {
		return pairing{of.Cost, segmentFew, of.Panel, of.Terms, exact}
	}
	switch p {
	case sparse.ChiSquare:
		return histograms(k.ChiSquare, exactChiSquare)
	case sparse.JensenShannon:
		return histograms(k.JensenShannon, exactJensenShannon)
	}
	return pairing{k.Cost, segmentMost, k.PanelDot, nil, exactC}
}

// termsAtOnce is how many values of a posting list are computed at a time.
const termsAtOnce = 512

// tailAdd adds the tails of documents base <= j < limit to the float64 block p.tail.
func (p *panel) tailAdd(base, limit uint32) {
	e := p.e
	if e.pairing.terms == nil {
		e.kernels.TailAdd(p.tail, tailDocs, e.postings.Doc, e.postings.Value, p.cursors, base, limit)
		return
	}
	p.eachMatch(limit, func(column uint32, docs []uint32, terms []float32) {
		sums := p.tail[int(column)*tailDocs:][:limit-base]
		for k, d := range docs {
			sums[d-base] += float64(terms[k])
		}
	})
}

// tailDirect adds them to a tile of float32.
func (p *panel) tailDirect(tile []float32, base, limit uint32) {
	e := p.e
	if e.pairing.terms == nil {
		e.kernels.TailDirect(tile, e.postings.Doc, e.postings.Value, p.cursors, base, limit)
		return
	}
	width := e.kernels.Panel
	p.eachMatch(limit, func(column uint32, docs []uint32, terms []float32) {
		for k, d := range docs {
			tile[int(d-base)*width+int(column)] += terms[k]
		}
	})
}

// eachMatch computes the terms of every cursor with its posting list up to the document limit, piece by piece, and moves the cursor there, as
// asm.Kernels.TailAdd does. The order of the terms of two documents depends on the pair alone.
func (p *panel) eachMatch(limit uint32, visit func(column uint32, docs []uint32, terms []float32)) {
	post, of := p.e.postings, p.e.pairing.terms
	for i := range p.cursors {
		c := &p.cursors[i]
		for post.Doc[c.Next] < limit {
			end := c.Next + 1
			for end-c.Next < termsAtOnce && post.Doc[end] < limit {
				end++
			}
			terms := p.terms[:end-c.Next]
			of(terms, post.Value[c.Next:end], c.Scale)
			visit(c.Column, post.Doc[c.Next:end], terms)
			c.Next = end
		}
	}
}
