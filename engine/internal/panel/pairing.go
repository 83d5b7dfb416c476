package panel

import (
	"math"

	"github.com/gramengine/gram/asm"
	"github.com/gramengine/gram/sparse"
)

// pairing implements a similarity s = 1 - c of two documents. It is the dot product of unit
// vectors, or a sum over the common terms of two histograms.
type pairing struct {
	cost      asm.Cost
	roundings float64 // bound on rounding errors; see divideHead

	scale float32 // factor by which tail values are multiplied

	panel  func(out, panel []float32, start []int64, doc []uint8, offset []uint16, value []float32)
	finish func(
		index []uint32, first int, limit float32,
		out, panel []float32, start []int64, doc []uint8, offset []uint16, value []float32,
	) int // nil if a separate pass converts sums to c
	terms func(dst, y []float32, x float32) // nil for the dot product, which uses asm.Kernels.TailAdd

	// exact returns c of two rows, given their columns and float64 values, by a formula without
	// negative terms.
	exact func(aTerms []uint32, a []float64, bTerms []uint32, b []float64) float64
}

// This compiles only if sparse.MinHistogramValue >= asm.MinShare, which the kernels require.
const _ = uint(sparse.MinHistogramValue - asm.MinShare)

func pairingOf(k *asm.Kernels, p sparse.Pairing) pairing {
	switch p {
	case sparse.ChiSquare:
		return pairing{k.ChiSquare.Cost, roundingsChiSquare, 1, k.ChiSquare.Panel, nil, k.ChiSquare.Terms, ExactFunc(p)}
	case sparse.JensenShannon:
		return pairing{k.JensenShannon.Cost, roundingsJensenShannon, 1, k.JensenShannon.Panel, nil, k.JensenShannon.Terms,
			ExactFunc(p)}
	}
	return pairing{k.Cost, roundingsDot, float32(math.Sqrt(asm.TailOne)), k.PanelDot, k.PanelDotLast, nil, ExactFunc(p)}
}

// maxTermProducts is the maximum number of products of a posting list that are computed at a time.
const maxTermProducts = 512

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
		for lo, end := v.First, v.First+v.Count; lo < end; lo += maxTermProducts {
			hi := min(lo+maxTermProducts, end)
			terms := p.terms[:hi-lo]
			of(terms, value[lo:hi], v.Scale)
			for k, d := range doc[lo:hi] {
				row[d] += asm.RoundTail(terms[k] * asm.TailOne)
			}
		}
	}
}
