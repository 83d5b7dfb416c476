package engine

import (
	"context"
	"math"
	"slices"
	"sync"

	"github.com/gramengine/gram/engine/internal/panel"
	"github.com/gramengine/gram/engine/kernel"
	"github.com/gramengine/gram/sparse"
)

// Reference computes kernel values in float64 directly from their definitions, with
// [kernel.Kernel].Eval. Tests compare all faster implementations with this slow and simple
// implementation.
//
// Let a and b be unit rows in float64, as returned by sparse.Embedded.UnitVector64. The sum
//
//	c = ½ Σ (aᵢ - bᵢ)²
//
// has no negative terms, so nothing cancels. The relative error of c for a and b is at most 2⁻⁵².
// Equal rows have c = 0. c is symmetric bit for bit. If two documents are proportional but their
// unit rows differ by rounding, c is about 10⁻³².
//
// For histograms, c is half the χ² distance, or the Jensen-Shannon divergence divided by ln 2.
// These sums have no negative terms either, and their relative error is at most 2⁻⁴⁶.
//
// A Reference stores the rows in float64, 8 bytes per value. It is immutable and may be used
// concurrently.
type Reference struct {
	x         *sparse.Embedded
	units     []float64                  // float64 values, with the offsets of x
	halfNorms []compensatedSum           // ½ Σ aᵢ² of each row; for histograms ½ Σ aᵢ
	term      func(a, b float64) float64 // summand of a histogram similarity; nil for the dot product
	share     func(a, b float64) float64 // summand of twice c
	scratch   sync.Pool                  // *rowLookup, for Row
}

// NewReference makes a reference for the documents x, which must stay unchanged. It panics if
// x.Validate fails, because a Reference for unsorted rows would return wrong values.
func NewReference(x *sparse.Embedded) *Reference {
	if err := x.Validate(); err != nil {
		panic(err)
	}
	r := &Reference{x: x, units: make([]float64, 0, len(x.Values))}
	r.term, r.share = referenceTerms(x.Embedder.Pairing)
	var row []float64
	for i := range x.Rows() {
		row = x.UnitVector64(i, row)
		r.units = append(r.units, row...)
		var s compensatedSum
		for _, v := range row {
			if r.term != nil {
				s = s.add(compensatedSum{-v, 0})
			} else {
				s = s.subtractProduct(v, v)
			}
		}
		r.halfNorms = append(r.halfNorms, compensatedSum{-s.total / 2, -s.correction / 2})
	}
	r.scratch.New = func() any { return &rowLookup{bits: make([]uint64, x.Cols/64+1), indices: make([]int32, x.Cols)} }
	return r
}

// Len returns the number of documents.
func (r *Reference) Len() int { return r.x.Rows() }

func (r *Reference) row(i int) ([]uint32, []float64) {
	terms, _ := r.x.Row(i)
	lo := r.x.Offsets[i]
	return terms, r.units[lo:][:len(terms)]
}

// C returns c = 1 - cosine of documents i and j, or 1 - similarity of two histograms. It merges the
// two rows.
func (r *Reference) C(i, j int) float64 {
	ti, a := r.row(i)
	tj, b := r.row(j)
	if r.share != nil {
		return panel.SumShares(ti, a, tj, b, r.share) / 2
	}
	var s compensatedSum
	for len(ti) > 0 && len(tj) > 0 {
		switch {
		case ti[0] < tj[0]:
			s = s.addSquare(a[0])
			ti, a = ti[1:], a[1:]
		case ti[0] > tj[0]:
			s = s.addSquare(b[0])
			tj, b = tj[1:], b[1:]
		default:
			s = s.addSquare(a[0] - b[0])
			ti, a, tj, b = ti[1:], a[1:], tj[1:], b[1:]
		}
	}
	for _, v := range a {
		s = s.addSquare(v)
	}
	for _, v := range b {
		s = s.addSquare(v)
	}
	return s.value() / 2
}

// Norm returns the norm of document i, or NaN if the documents lack norms.
func (r *Reference) Norm(i int) float64 {
	if r.x.Norms == nil {
		return math.NaN()
	}
	return r.x.Norms[i]
}

// Value returns k(xᵢ, xⱼ).
func (r *Reference) Value(k kernel.Kernel, i, j int) float64 {
	return r.Resolve(k).Eval(r.C(i, j), r.Norm(i), r.Norm(j))
}

// Resolve sets the parameters of k that depend on the training documents, as [kernel.Resolve] does.
func (r *Reference) Resolve(k kernel.Kernel) kernel.Kernel {
	return kernel.Resolve(k, len(r.x.Embedder.Terms))
}

// Row writes c of document i and each document j to dst[j]. dst must have Len() values. If ctx is
// done, Row returns ctx.Err().
//
// The identity
//
//	c = ½ Σ (aᵢ - bᵢ)² = ½ Σ aᵢ² + ½ Σ bᵢ² - Σ aᵢbᵢ
//
// needs only common terms, so that it is several times as fast as merging rows. Products are exact,
// and sums are compensated, with an error of about 2⁻⁹⁰. The relative difference from C is at most
// 2⁻⁵¹ if c > minAccurateC, and 2⁻³⁸ for histograms if c > minAccurateHistogramC. Smaller values
// are computed by C. Row and C may differ in the last bits.
func (r *Reference) Row(ctx context.Context, i int, dst []float64) error {
	w := r.scratch.Get().(*rowLookup)
	defer r.scratch.Put(w)
	ti, a := r.row(i)
	w.fill(ti)
	defer w.clear(ti)
	for j := range r.Len() {
		if j%256 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		tj, b := r.row(j)
		var s compensatedSum
		least := minAccurateC
		if r.term != nil {
			least = minAccurateHistogramC
			for _, k := range w.matches(tj) {
				s = s.add(compensatedSum{-r.term(a[w.indices[tj[k]]], b[k]), 0})
			}
		} else {
			for _, k := range w.matches(tj) {
				s = s.subtractProduct(a[w.indices[tj[k]]], b[k])
			}
		}
		c := s.add(r.halfNorms[i]).add(r.halfNorms[j]).value()
		if !(c > least) {
			c = r.C(i, j)
		}
		dst[j] = c
	}
	return nil
}

// Below these values of c, cancellation makes the difference of sums too inaccurate.
const (
	minAccurateC          = 0x1p-30
	minAccurateHistogramC = 0x1p-10
)

type rowLookup struct {
	bits    []uint64 // one bit per term; fits into the L1 cache
	indices []int32  // indices[t] is the index of term t in the row, if the row has t
	matched []int32
}

func (w *rowLookup) fill(terms []uint32) {
	for k, t := range terms {
		w.bits[t/64] |= 1 << (t % 64)
		w.indices[t] = int32(k)
	}
}

func (w *rowLookup) clear(terms []uint32) {
	for _, t := range terms {
		w.bits[t/64] = 0
	}
}

// matches returns the indices k for which the row has terms[k]. Each index is written, and
// overwritten by the next index if the row lacks the term, to avoid mispredicted branches.
func (w *rowLookup) matches(terms []uint32) []int32 {
	w.matched = slices.Grow(w.matched[:0], len(terms))[:len(terms)]
	found, has := w.matched, w.bits
	n := 0
	for k, t := range terms {
		found[n] = int32(k)
		n += int(has[t/64] >> (t % 64) & 1)
	}
	return found[:n]
}

// compensatedSum is a compensated sum in float64. Its error is about one rounding for any number of
// terms. Source: Neumaier, ZAMM 54 (1974), in the branch-free form (Knuth's two-sum).
type compensatedSum struct{ total, correction float64 }

// addSquare returns the sum with v² added. s is passed by value, so that it stays in registers.
func (s compensatedSum) addSquare(v float64) compensatedSum {
	v = float64(v * v)
	t := s.total + v
	w := t - s.total
	return compensatedSum{t, s.correction + ((s.total - (t - w)) + (v - w))}
}

// subtractProduct returns the sum minus ab. The product ab is exact, as a sum of two numbers.
func (s compensatedSum) subtractProduct(a, b float64) compensatedSum {
	p := float64(a * b)
	return s.add(compensatedSum{-p, -math.FMA(a, b, -p)})
}

func (s compensatedSum) add(v compensatedSum) compensatedSum {
	t := s.total + v.total
	w := t - s.total
	return compensatedSum{t, s.correction + v.correction + ((s.total - (t - w)) + (v.total - w))}
}

func (s compensatedSum) value() float64 { return s.total + s.correction }

// referenceTerms returns the summand f(a, b) of a histogram similarity for a common term, and the
// summand of 2c, where c = 1 - similarity. Both functions are nil for the dot product. Neither
// shares code with the engine.
func referenceTerms(p sparse.Pairing) (term, share func(a, b float64) float64) {
	switch p {
	case sparse.ChiSquare:
		return func(a, b float64) float64 {
				return 2 * a * b / (a + b)
			}, func(a, b float64) float64 {
				return (a - b) * ((a - b) / (a + b))
			}
	case sparse.JensenShannon:
		return jensenShannonTerm, referenceShare
	}
	return nil, nil
}

// jensenShannonTerm returns f(a, b) = ½ (a log₂((a+b)/a) + b log₂((a+b)/b)) for positive a and b,
// with the error of four roundings and two logarithms.
func jensenShannonTerm(a, b float64) float64 {
	if a < b {
		a, b = b, a // the result must be symmetric bit for bit
	}
	return (float64(a*math.Log1p(b/a)) + float64(b*math.Log1p(a/b))) / (2 * math.Ln2)
}

// referenceShare returns S E(δ) / (2 ln 2) with S = a+b, δ = |a-b|/S, E(δ) = 2δ artanh δ +
// ln(1-δ²). For δ >= ½, where this form loses accuracy, E is computed as 2p ln 2p + 2(1-p) ln
// 2(1-p) with p = (1-δ)/2.
func referenceShare(a, b float64) float64 {
	s := a + b
	delta := math.Abs(a-b) / s
	var e float64
	if delta < 0.5 {
		e = 2*float64(delta*math.Atanh(delta)) + math.Log1p(-float64(delta*delta))
	} else {
		p := min(a, b) / s
		e = 2 * (float64(p*math.Log(2*p)) + float64((1-p)*math.Log(2*(1-p))))
	}
	return s * e / (2 * math.Ln2)
}
