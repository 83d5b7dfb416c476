package panel

import (
	"math"

	"github.com/gramengine/gram/asm"
	"github.com/gramengine/gram/sparse"
)

// pairing is how the similarity s of two documents is computed, of which c is 1 - s: the dot
// product of unit vectors, or one of the sums over the common terms of two histograms. All that
// comes before and after s is the same: head and tail, c, close pairs, kernels, caches.
type pairing struct {
	cost      asm.Cost
	roundings float64 // see cut

	scale float32 // of the values of the tail

	panel func(out, panel []float32, start []int64, doc []uint8, offset []uint16, value []float32)
	last  func(
		index []uint32, first int, limit float32,
		out, panel []float32, start []int64, doc []uint8, offset []uint16, value []float32,
	) int // nil where no segment makes c
	terms func(dst, y []float32, x float32) // nil for the dot product, whose tails have kernels of their own

	// exact returns c of two rows from their columns and float64 values, in a form that has no
	// negative terms.
	exact func(aTerms []uint32, a []float64, bTerms []uint32, b []float64) float64
}

// The least share that embeddings make must be one that the kernels take: the difference of both
// must be a number not below 0.
const _ = uint(sparse.MinShare - asm.MinShare)

func pairingOf(k *asm.Kernels, p sparse.Pairing) pairing {
	switch p {
	case sparse.ChiSquare:
		return pairing{k.ChiSquare.Cost, roundingsChiSquare, 1, k.ChiSquare.Panel, nil, k.ChiSquare.Terms, Exact(p)}
	case sparse.JensenShannon:
		return pairing{k.JensenShannon.Cost, roundingsJensenShannon, 1, k.JensenShannon.Panel, nil, k.JensenShannon.Terms,
			Exact(p)}
	}
	return pairing{k.Cost, roundingsDot, float32(math.Sqrt(asm.TailOne)), k.PanelDot, k.PanelDotLast, nil, Exact(p)}
}

// termsAtOnce is how many values of a posting list are computed at a time.
const termsAtOnce = 512

// tailAdd adds what the visits name of block b of the posting lists to the sums.
func (p *panel) tailAdd(b int) {
	post := p.b.postings
	doc, value := post.doc[post.base[b]:], post.value[post.base[b]:]
	of := p.b.pairing.terms
	if of == nil {
		p.b.kernels.TailAdd(p.tail, p.stride, doc, value, p.visits)
		return
	}
	for _, v := range p.visits {
		row := p.tail[int(v.Column)*p.stride:]
		for lo, end := v.First, v.First+v.Count; lo < end; lo += termsAtOnce {
			hi := min(lo+termsAtOnce, end)
			terms := p.terms[:hi-lo]
			of(terms, value[lo:hi], v.Scale)
			for k, d := range doc[lo:hi] {
				row[d] += asm.TailFixed(terms[k] * asm.TailOne)
			}
		}
	}
}
