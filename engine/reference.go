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

// Reference computes kernels in float64 straight from their definition: the unit rows in float64, c
// as half the squared distance, compensated sums, [kernel.Kernel].Eval. It is slow, simple, and what
// everything faster is checked against.
//
// With unit rows a and b as sparse.Embedded.Unit64 gives them,
//
//	c = ½ Σ (aᵢ - bᵢ)²
//
// has no negative terms, so nothing cancels: c is within 2⁻⁵² of what these rows give, relative to
// itself, down to exactly 0 for equal rows, and the same bits for (i, j) and (j, i). Rows that are
// proportional but not equal may show a c of the size of their own rounding, squared: about 10⁻³².
//
// Of histograms, c is half their χ² distance, or their Jensen-Shannon divergence divided by ln 2,
// in forms: again without negative terms, within 2⁻⁴⁶ of what the rows give.
//
// A Reference holds the rows in float64, 8 bytes a value. It is immutable and may be used
// concurrently.
type Reference struct {
	x       *sparse.Embedded
	units   []float64                  // float64 values, at the same offsets as x's
	halves  []sum                      // ½ Σ aᵢ² of each row; of a histogram ½ Σ aᵢ
	term    func(a, b float64) float64 // of a similarity of histograms, nil for the dot product
	share   func(a, b float64) float64 // the same of twice c
	scratch sync.Pool                  // of *scatter, for Row
}

// NewReference makes a reference for the documents x, which must stay unchanged. It panics with
// what x.Validate finds: a reference for rows that aren't in order would agree with the wrong
// values of an engine.
func NewReference(x *sparse.Embedded) *Reference {
	if err := x.Validate(); err != nil {
		panic(err)
	}
	r := &Reference{x: x, units: make([]float64, 0, len(x.Values))}
	r.term, r.share = referenceTerms(x.Embedder.Pairing)
	var row []float64
	for i := range x.Rows() {
		row = x.Unit64(i, row)
		r.units = append(r.units, row...)
		var s sum
		for _, v := range row {
			if r.term != nil {
				s = s.and(sum{-v, 0})
			} else {
				s = s.minus(v, v)
			}
		}
		r.halves = append(r.halves, sum{-s.total / 2, -s.lost / 2})
	}
	r.scratch.New = func() any { return &scatter{has: make([]uint64, x.Cols/64+1), place: make([]int32, x.Cols)} }
	return r
}

// Len returns the number of documents.
func (r *Reference) Len() int { return r.x.Rows() }

// row returns the columns and float64 values of row i.
func (r *Reference) row(i int) ([]uint32, []float64) {
	terms, _ := r.x.Row(i)
	lo := r.x.Offsets[i]
	return terms, r.units[lo:][:len(terms)]
}

// C returns c = 1 - cosine of documents i and j, or 1 - similarity of two histograms, by merging
// their rows.
func (r *Reference) C(i, j int) float64 {
	ti, a := r.row(i)
	tj, b := r.row(j)
	if r.share != nil {
		return panel.MergeShares(ti, a, tj, b, r.share) / 2
	}
	var s sum
	for len(ti) > 0 && len(tj) > 0 {
		switch {
		case ti[0] < tj[0]:
			s = s.plus(a[0])
			ti, a = ti[1:], a[1:]
		case ti[0] > tj[0]:
			s = s.plus(b[0])
			tj, b = tj[1:], b[1:]
		default:
			s = s.plus(a[0] - b[0])
			ti, a, tj, b = ti[1:], a[1:], tj[1:], b[1:]
		}
	}
	for _, v := range a {
		s = s.plus(v)
	}
	for _, v := range b {
		s = s.plus(v)
	}
	return s.value() / 2
}

// Norm returns the norm of document i, NaN where the documents have none.
func (r *Reference) Norm(i int) float64 {
	if r.x.Norms == nil {
		return math.NaN()
	}
	return r.x.Norms[i]
}

// Value returns k's value for documents i and j.
func (r *Reference) Value(k kernel.Kernel, i, j int) float64 {
	return r.Resolve(k).Eval(r.C(i, j), r.Norm(i), r.Norm(j))
}

// Resolve returns k with what depends on the documents filled in, as [kernel.Resolve] does: terms are
// those of the training documents.
func (r *Reference) Resolve(k kernel.Kernel) kernel.Kernel {
	return kernel.Resolve(k, len(r.x.Embedder.Terms))
}

// Row writes c of document i against every document j to dst[j]; dst has Len() values. It returns
// ctx.Err() when ctx is done before the row is.
//
// With sums that carry their rounding errors along, of products taken exactly,
//
//	c = ½ Σ (aᵢ - bᵢ)² = ½ Σ aᵢ² + ½ Σ bᵢ² - Σ aᵢbᵢ
//
// only needs the terms that both rows have, which is several times as fast as merging. What the
// sums carry is some 2⁻⁹⁰, so the difference is within 2⁻⁵¹ of C, relative to itself, down to c =
// cancelled; smaller ones are left to C. Row and C don't agree to the bit. The terms of histograms,
// which are rounded, leave 2⁻⁴⁸ in all, hence 2⁻³⁸ relative to c down to cancelledHistogram.
func (r *Reference) Row(ctx context.Context, i int, dst []float64) error {
	w := r.scratch.Get().(*scatter)
	defer r.scratch.Put(w)
	ti, a := r.row(i)
	w.fill(ti)
	defer w.clear(ti)
	for j := range r.Len() {
		if j%256 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		tj, b := r.row(j)
		var s sum
		least := cancelled
		if r.term != nil {
			least = cancelledHistogram
			for _, k := range w.matches(tj) {
				s = s.and(sum{-r.term(a[w.place[tj[k]]], b[k]), 0})
			}
		} else {
			for _, k := range w.matches(tj) {
				s = s.minus(a[w.place[tj[k]]], b[k])
			}
		}
		c := s.and(r.halves[i]).and(r.halves[j]).value()
		if !(c > least) {
			c = r.C(i, j)
		}
		dst[j] = c
	}
	return nil
}

// cancelled is the c below which a difference of sums has lost too much.
const (
	cancelled          = 0x1p-30
	cancelledHistogram = 0x1p-10
)

// scatter is one row laid out for looking up its terms.
type scatter struct {
	has   []uint64 // a bit for each term; small enough for the first cache
	place []int32  // place[t] is the position of term t in the row, where it has the term
	found []int32
}

func (w *scatter) fill(terms []uint32) {
	for k, t := range terms {
		w.has[t/64] |= 1 << (t % 64)
		w.place[t] = int32(k)
	}
}

func (w *scatter) clear(terms []uint32) {
	for _, t := range terms {
		w.has[t/64] = 0
	}
}

// matches returns the positions of those of terms that the row has, too. Each position is written
// down, and the next one overwrites it where it isn't one of them, since a branch would often go
// wrong.
func (w *scatter) matches(terms []uint32) []int32 {
	w.found = slices.Grow(w.found[:0], len(terms))[:len(terms)]
	found, has := w.found, w.has
	n := 0
	for k, t := range terms {
		found[n] = int32(k)
		n += int(has[t/64] >> (t % 64) & 1)
	}
	return found[:n]
}

// sum is a sum of squares in float64 with its rounding errors carried along, so that its own error
// is about that of one rounding, however many terms it has. Source: Neumaier, ZAMM 54 (1974), in
// the form without branches (Knuth's two-sum).
type sum struct{ total, lost float64 }

// plus returns the sum with v² added. It works on values, not through a pointer, so that sums stay
// in registers.
func (s sum) plus(v float64) sum {
	v = float64(v * v)
	t := s.total + v
	w := t - s.total
	return sum{t, s.lost + ((s.total - (t - w)) + (v - w))}
}

// minus returns the sum with ab taken away, the product exact as two numbers.
func (s sum) minus(a, b float64) sum {
	p := float64(a * b)
	return s.and(sum{-p, -math.FMA(a, b, -p)})
}

// and returns the sum of both.
func (s sum) and(v sum) sum {
	t := s.total + v.total
	w := t - s.total
	return sum{t, s.lost + v.lost + ((s.total - (t - w)) + (v.total - w))}
}

func (s sum) value() float64 { return s.total + s.lost }

// referenceTerms returns what a common term of two histograms adds to their similarity, f(a, b),
// and what it adds to twice c = 1 - similarity; nil for the dot product. They are written apart
// from those of the engine, from the definitions.
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

// jensenShannonTerm is f(a, b) = ½ (a log₂((a+b)/a) + b log₂((a+b)/b)), whose terms are both above
// 0: good to four roundings and those of two logarithms.
func jensenShannonTerm(a, b float64) float64 {
	if a < b {
		a, b = b, a // for the same bits
	}
	return (float64(a*math.Log1p(b/a)) + float64(b*math.Log1p(a/b))) / (2 * math.Ln2)
}

// referenceShare is S E(δ) / (2 ln 2), with E(δ) = 2δ artanh δ + ln(1-δ²), where two thirds of a
// term are left, or near δ = 1, where that goes wrong, by the definition of E.
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
