package engine

import (
	"context"
	"sync"

	"github.com/gramengine/gram/sparse"
)

// Reference computes kernels in float64 straight from their definition: the unit rows in float64, c as half the squared distance, compensated
// sums, [Kernel].Eval. It is slow, simple, and what everything faster is held against.
//
// With unit rows a and b as sparse.Embedded.Unit64 gives them,
//
//	c = ½ Σ (aᵢ - bᵢ)²
//
// has no negative terms, so nothing cancels: c is within 2⁻⁵² of what these rows give, relative to itself, down to exactly 0 for equal rows, and
// the same bits for (i, j) and (j, i). Rows that are proportional but not equal may show a c of the size of their own rounding, squared: about 10⁻³².
//
// A Reference holds the rows in float64, 8 bytes a value. It is immutable and may be used concurrently.
type Reference struct {
	x       *sparse.Embedded
	units   []float64 // float64 values, at the same offsets as x's
	scratch sync.Pool // of *scatter, for Row
}

// NewReference makes a reference for the documents x.
func NewReference(x *sparse.Embedded) *Reference {
	r := &Reference{x: x, units: make([]float64, 0, len(x.Values))}
	var row []float64
	for i := range x.Rows() {
		row = x.Unit64(i, row)
		r.units = append(r.units, row...)
	}
	r.scratch.New = func() any { return &scatter{place: make([]int32, x.Cols)} }
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

// C returns c = 1 - cosine of documents i and j, by merging their rows.
func (r *Reference) C(i, j int) float64 {
	ti, a := r.row(i)
	tj, b := r.row(j)
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

// Norm returns the norm of document i.
func (r *Reference) Norm(i int) float64 { return r.x.Norms[i] }

// Value returns k's value for documents i and j.
func (r *Reference) Value(k Kernel, i, j int) float64 {
	return r.Resolve(k).Eval(r.C(i, j), r.x.Norms[i], r.x.Norms[j])
}

// Resolve returns k with what depends on the documents filled in, as [Resolve] does: terms are those of the training documents.
func (r *Reference) Resolve(k Kernel) Kernel { return Resolve(k, len(r.x.Embedder.Terms)) }

// Row writes c of document i against every document j to dst[j]; dst has Len() values. The values agree with C to within 2⁻⁵¹, not to the
// bit, since the terms are summed in another order. It returns ctx.Err() when ctx is done before the row is.
//
// Row i is laid out once so that every other row can look its terms up, which is several times as fast as merging and needs no luck with
// branches: first come the terms of j, each taking its partner in i with it, then what is left of i.
func (r *Reference) Row(ctx context.Context, i int, dst []float64) error {
	w := r.scratch.Get().(*scatter)
	defer r.scratch.Put(w)
	ti, a := r.row(i)
	w.fill(ti, a)
	defer w.clear(ti)
	for j := range r.Len() {
		if j%256 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		copy(w.left, w.value)
		tj, b := r.row(j)
		var s sum
		for k, t := range tj {
			p := w.place[t]
			s = s.plus(b[k] - w.left[p])
			w.left[p] = 0
		}
		for _, v := range w.left {
			s = s.plus(v)
		}
		dst[j] = s.value() / 2
	}
	return nil
}

// scatter is one row laid out for looking up its terms.
type scatter struct {
	place []int32   // place[t] is 1 + the position of term t in the row, 0 for terms that aren't in it
	value []float64 // value[place[t]] is the row's value for term t; value[0] is 0
	left  []float64 // value without the terms that the other row has
}

func (w *scatter) fill(terms []uint32, values []float64) {
	for k, t := range terms {
		w.place[t] = int32(k) + 1
	}
	w.value = append(append(w.value[:0], 0), values...)
	w.left = append(w.left[:0], w.value...)
}

func (w *scatter) clear(terms []uint32) {
	for _, t := range terms {
		w.place[t] = 0
	}
}

// sum is a sum of squares in float64 with its rounding errors carried along, so that its own error is about that of one rounding, however many
// terms it has. Source: Neumaier, ZAMM 54 (1974), in the form without branches (Knuth's two-sum).
type sum struct{ total, lost float64 }

// plus returns the sum with v² added. It works on values, not through a pointer, so that sums stay in registers.
func (s sum) plus(v float64) sum {
	v = float64(v * v)
	t := s.total + v
	w := t - s.total
	return sum{t, s.lost + ((s.total - (t - w)) + (v - w))}
}

func (s sum) value() float64 { return s.total + s.lost }
