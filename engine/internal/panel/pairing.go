package panel

import (
	"github.com/gramengine/gram/asm"
	"github.com/gramengine/gram/sparse"
)

// pairing is how the similarity s of two documents is computed, of which c is 1 - s: the dot
// product of unit vectors, or one of the sums over the common terms of two histograms. All that
// comes before and after s is the same: head and tail, c, close pairs, kernels, caches.
type pairing struct {
	cost    asm.Cost
	segment int // values that any document has in a segment of the head

	panel func(out, panel []float32, start []int64, doc []uint8, offset []uint16, value []float32)
	terms func(dst, y []float32, x float32) // nil for the dot product, whose tails have kernels of their own

	// exact returns c of two rows from their columns and float64 values, in a form that has no
	// negative terms.
	exact func(aTerms []uint32, a []float64, bTerms []uint32, b []float64) float64
}

// The least share that embeddings make must be one that the kernels take: the difference of both
// must be a number not below 0.
const _ = uint(sparse.LeastShare - asm.LeastShare)

func pairingOf(k *asm.Kernels, p sparse.Pairing) pairing {
	switch p {
	case sparse.ChiSquare:
		return pairing{k.ChiSquare.Cost, segmentChiSquare, k.ChiSquare.Panel, k.ChiSquare.Terms, Exact(p)}
	case sparse.JensenShannon:
		return pairing{k.JensenShannon.Cost, segmentJensenShannon, k.JensenShannon.Panel, k.JensenShannon.Terms,
			Exact(p)}
	}
	return pairing{k.Cost, segmentMost, k.PanelDot, nil, Exact(p)}
}

// termsAtOnce is how many values of a posting list are computed at a time.
const termsAtOnce = 512

// tailAdd adds the tails of documents base <= j < limit to the float64 block p.tail.
func (p *panel) tailAdd(base, limit uint32) {
	b := p.b
	if b.pairing.terms == nil {
		b.kernels.TailAdd(p.tail, TailDocs, b.postings.doc, b.postings.value, p.cursors, base, limit)
		return
	}
	p.eachMatch(limit, func(column uint32, docs []uint32, terms []float32) {
		sums, docs := p.tail[int(column)*TailDocs:][:limit-base], docs[:len(terms)]
		for k, v := range terms {
			sums[docs[k]-base] += float64(v)
		}
	})
}

// tailDirect adds them to a tile of float32.
func (p *panel) tailDirect(tile []float32, base, limit uint32) {
	b := p.b
	if b.pairing.terms == nil {
		b.kernels.TailDirect(tile, b.postings.doc, b.postings.value, p.cursors, base, limit)
		return
	}
	width := b.kernels.Panel
	p.eachMatch(limit, func(column uint32, docs []uint32, terms []float32) {
		for k, d := range docs {
			tile[int(d-base)*width+int(column)] += terms[k]
		}
	})
}

// eachMatch computes the terms of every cursor with its posting list up to the document limit,
// piece by piece, and moves the cursor there, as asm.Kernels.TailAdd does. The order of the terms
// of two documents depends on the pair alone.
func (p *panel) eachMatch(limit uint32, visit func(column uint32, docs []uint32, terms []float32)) {
	post, of := p.b.postings, p.b.pairing.terms
	for i := range p.cursors {
		c := &p.cursors[i]
		list := post.doc[c.Next:p.ends[i]]
		n := below(list, limit)
		for lo := 0; lo < n; lo += termsAtOnce {
			hi := min(lo+termsAtOnce, n)
			terms := p.terms[:hi-lo]
			of(terms, post.value[int(c.Next)+lo:int(c.Next)+hi], c.Scale)
			visit(c.Column, list[lo:hi], terms)
		}
		c.Next += int64(n)
	}
}

// below returns how many documents of an ascending list are below limit. Its search has no branch
// that depends on them, since that would go wrong half the time; most lists end below it.
func below(docs []uint32, limit uint32) int {
	if len(docs) == 0 || docs[len(docs)-1] < limit {
		return len(docs)
	}
	first, n := 0, len(docs)
	for n > 1 { // docs[first-1] < limit, and docs[first+n-1] >= limit
		half := n / 2
		next := first
		if docs[first+half-1] < limit {
			next = first + half
		}
		first = next
		n -= half
	}
	return first
}
