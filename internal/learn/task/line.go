package task

import (
	"context"
	"math"

	"github.com/gramengine/gram/sparse"
)

// AddProducts adds to each f[k] the inner product of row i, scaled to the given length, and the
// weights w[column·len(f) + k]. Sums are in float64 in column order, without fused multiply-adds.
func AddProducts(f, w []float64, x *sparse.Embedded, i int, length float64) {
	terms, unit := x.Row(i)
	for at, t := range terms {
		v := float64(unit[at]) * length
		w := w[int(t)*len(f):][:len(f)]
		for k := range f {
			f[k] += float64(v * w[k])
		}
	}
}

// Line is a function ⟨w, x⟩ of an embedded document x, or of x scaled to length 1.
type Line struct {
	Embedder *sparse.Embedder
	Weight   func(column uint32) float64
	Unit     bool
}

// Effects returns, for each term of the first document in docs, the decrease of ⟨w, x⟩ if the term
// is removed. Removing column j rescales the others to the norm. If the embedding has Σ|xₖ|ᵉ = 1,
// with Sᵥ = Σ|xₖ|ᵉ and Dᵥ = Σ wₖxₖ over the view v of j, the view's part becomes
//
//	(Dᵥ - wⱼxⱼ) (Sᵥ / (Sᵥ - |xⱼ|ᵉ))^(1/e)
//
// The other views' shares only change if the view had no other column. It takes three passes. The
// result is nil if the embedding is open, has scaled columns, isn't compared by dot products, or
// has a view with a norm other than 1. Errors are those of [sparse.Embedder.Transform].
func (l *Line) Effects(ctx context.Context, docs *sparse.CSR) ([]float64, error) {
	f := l.Embedder
	e, ok := l.exponent()
	if !ok {
		return nil, nil
	}
	terms, counts := docs.Row(0)
	both := &sparse.CSR{Cols: docs.Cols, Offsets: []int64{0, int64(len(terms)), int64(len(terms))}, Terms: terms,
		Values: counts, Views: docs.Views} // and a document without terms
	x, err := f.TransformRows(ctx, both, nil, 1)
	if err != nil {
		return nil, err
	}
	columns, _ := x.Row(0)
	values, none := l.vector(x, 0), l.vector(x, 1)
	views := make([]view, max(len(f.Views), 1))
	at, place := make([]int, len(columns)), make(map[uint32]int, len(columns)) // view and index of each column
	var whole, all float64
	for j, column := range columns {
		place[column] = j
		if j > 0 {
			at[j] = at[j-1]
		}
		for int(column) < len(f.Terms) && at[j]+1 < len(f.Views) && f.Terms[column] >= f.Views[at[j]+1].First {
			at[j]++
		}
		v := &views[at[j]]
		if v.columns == 0 {
			v.first = j
		}
		v.columns++
		v.add(values[j], l.Weight(column), e)
	}
	for _, v := range views {
		whole, all = whole+v.product, all+v.mass
	}
	effects := make([]float64, len(terms))
	for i, t := range terms {
		column, known := f.Column(t)
		j, there := place[column]
		if !known || !there {
			continue
		}
		v := &views[at[j]]
		switch {
		case len(columns) == 1:
			effects[i] = whole - l.Weight(uint32(len(f.Terms)))*none[0]
		case v.columns == 1: // the other views take its share
			effects[i] = whole - (whole-v.product)*math.Pow(all/(all-v.mass), 1/e)
		default:
			left := view{}
			if mass := math.Pow(math.Abs(values[j]), e); mass < v.mass/2 {
				left.mass, left.product = v.mass-mass, v.product-float64(l.Weight(column)*values[j])
			} else { // avoids cancellation; at most one column has such a mass
				for k := v.first; k < v.first+v.columns; k++ {
					if k != j {
						left.add(values[k], l.Weight(columns[k]), e)
					}
				}
			}
			if e != 0 {
				left.product *= math.Pow(v.mass/left.mass, 1/e)
			}
			effects[i] = v.product - left.product
		}
	}
	return effects, nil
}

// view holds the sums of one view of a document.
type view struct {
	columns, first int
	mass, product  float64
}

func (v *view) add(value, weight, e float64) {
	v.mass += math.Pow(math.Abs(value), e)
	v.product += float64(weight * value)
}

// exponent returns e with Σ|xₖ|ᵉ = 1, or 0 if nothing is scaled.
func (l *Line) exponent() (e float64, ok bool) {
	f, power := l.Embedder, l.Embedder.Power
	if power == 0 {
		power = 1
	}
	switch {
	case f.Norm == sparse.NormL1:
		e = 1 / power
	case f.Norm == sparse.NormL2:
		e = 2 / power
	}
	if l.Unit {
		e = 2
	}
	return e, f.Pairing == sparse.Dot && !f.Open && !f.Scales() && (len(f.Views) < 2 || e == 2)
}

// vector returns row i, in length 1 if l.Unit is set.
func (l *Line) vector(x *sparse.Embedded, i int) []float64 {
	if l.Unit {
		return x.Unit64(i, nil)
	}
	return x.Vector64(i, nil)
}
