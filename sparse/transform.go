package sparse

import (
	"context"
	"fmt"
	"math"

	"github.com/gramengine/gram/internal/run"
)

// Transform embeds documents, training or test. Let v be the weighted values of a document (raw
// value times weight), n its norm of the embedding's kind, and x = v/n, or x = (v/n)^p with a power
// p. Row i of the result is x/‖x‖₂, and Norms[i] is ‖x‖₂. With a pairing other than the dot product
// row i is x itself, a histogram, and Norms[i] is 1.
//
// Terms that weren't seen at training are left out (unless the embedder is Open), and so are values
// of weight 0 (tfidf of a term that is in every document). Where columns are scaled, so are their
// zeros. A document without any term left becomes
// the unit vector of the last column, which only such documents use: its cosine is 0 with every
// other document and 1 with another of its kind. Its norm is 0, so that it's the zero vector to
// whatever looks at norms (1 for an L1-normalised square root, a point of the sphere).
//
// Errors: that of [Embedding.Fit]; documents that [CSR.Validate] refuses; a [*ValueError] for a
// value that isn't finite, is negative under a power, is below 1 where counts are damped, or
// overflows float64 with its weight.
func (f *Embedder) Transform(m *CSR) (*Embedded, error) {
	return f.TransformRows(context.Background(), m, nil, 0)
}

// TransformRows is [Embedder.Transform] for some rows of a matrix, in the given order, nil for all,
// on so many goroutines, 0 for one per processor. The error is that of the first row in this order,
// by its number in the matrix, or ctx.Err(). Other rows are neither read nor checked. The result holds rows.
func (f *Embedder) TransformRows(ctx context.Context, m *CSR, rows []int, workers int) (*Embedded, error) {
	if err := f.Validate(); err != nil {
		return nil, err
	}
	if err := m.validateShape(); err != nil {
		return nil, err
	}
	workers, err := goroutines(workers)
	if err != nil {
		return nil, err
	}
	n := len(rows)
	if rows == nil {
		n = m.Rows()
	}
	x := &Embedded{
		CSR: CSR{Cols: f.Cols(), Offsets: make([]int64, n+1)}, Embedder: f, From: rows,
		Norms: make([]float64, n), Divisors: make([]float64, n),
	}
	err = run.Chunks(ctx, workers, n, func(_, lo, hi int) error {
		for i := lo; i < hi; i++ {
			r := x.Source(i)
			if r < 0 || r >= m.Rows() {
				return fmt.Errorf("sparse: row %d, expected 0 to %d, one of the matrix", r, m.Rows()-1)
			}
			if err := m.validateRow(r); err != nil {
				return err
			}
			terms, values := m.Row(r) // whose views' shares make no value 0
			if f.filled != nil {
				terms, values = f.row(m, r)
			}
			x.Offsets[i+1] = f.kept(terms, values)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	x.Allocate()
	x.Raw = make([]float32, len(x.Values))
	err = run.Chunks(ctx, workers, n, func(_, lo, hi int) (err error) {
		var unit []float64
		for i := lo; i < hi && err == nil; i++ {
			terms, values := f.row(m, x.Source(i))
			unit, err = x.embed(i, terms, values, x.Source(i), unit)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return x, nil
}

// goroutines returns the number of workers, where 0 stands for one per processor.
func goroutines(workers int) (int, error) {
	if workers < 0 {
		return 0, fmt.Errorf("sparse: %d workers, expected at least 1, or 0 for one a processor", workers)
	}
	return run.Workers(workers), nil
}

// kept returns the number of values of a document in embedded form.
func (f *Embedder) kept(terms []uint32, values []float32) int64 {
	var n int64
	unseen, w := false, weigher{f: f}
	for k, t := range terms {
		column, ok := f.Column(t)
		switch {
		case values[k] == 0 && f.Shifts == nil:
		case !ok:
			unseen = f.Open
		case w.weighted(column, values[k]) != 0:
			n++
		}
	}
	if unseen {
		n++
	}
	return max(n, 1)
}

// embed writes row i, the given values of row r of a matrix. unit is scratch space.
func (x *Embedded) embed(i int, terms []uint32, values []float32, r int, unit []float64) ([]float64, error) {
	f := x.Embedder
	at := x.Offsets[i]
	add := func(column uint32, raw float32) {
		x.Terms[at], x.Raw[at] = column, raw
		at++
	}
	var l1, l2, unseen float64
	w := weigher{f: f}
	for k, t := range terms {
		column, ok := f.Column(t)
		if !ok && f.Open {
			unseen += float64(float64(values[k]) * float64(values[k]))
		}
		if !ok || values[k] == 0 && f.Shifts == nil {
			continue
		}
		v := w.weighted(column, values[k])
		if v == 0 {
			continue
		}
		if math.IsNaN(v) || math.IsInf(v, 0) || v < 0 && (f.Power != 0 || f.Pairing != Dot) {
			return unit, &ValueError{r, t, values[k], "a finite value" + f.wantsNonNegative()}
		}
		add(column, values[k])
		l1 += math.Abs(v)
		l2 += float64(v * v)
	}
	if unseen != 0 {
		if !(unseen <= math.MaxFloat32*math.MaxFloat32) {
			return unit, fmt.Errorf(
				"sparse: row %d: the terms that weren't seen at training have the length %v, expected a finite float32",
				r, math.Sqrt(unseen))
		}
		add(uint32(len(f.Terms)), float32(math.Sqrt(unseen)))
		l1 += math.Sqrt(unseen)
		l2 += unseen
	}
	l2 = math.Sqrt(l2)
	if at > x.Offsets[i] && !(l2 > 0 && max(l1, l2) <= math.MaxFloat64) { // weights are finite, no more
		return unit, fmt.Errorf("sparse: row %d: the weighted values have the length %v, expected a finite one above 0",
			r, l2)
	}
	switch empty := at == x.Offsets[i]; {
	case empty:
		add(uint32(len(f.Terms)), 1)
		x.Divisors[i] = 1
		x.Norms[i] = f.norm(0, 0)
	case f.general(): // the powers are half of all work, so that they aren't computed again by Unit64
		var largest float64
		unit, largest = x.powers(i, unit)
		var squares float64
		for _, u := range unit {
			squares += float64(u * u)
		}
		x.Divisors[i] = math.Sqrt(squares)
		x.Norms[i] = f.raisedNorm(x.Divisors[i], largest, l1, l2)
		if !(x.Norms[i] <= math.MaxFloat64) {
			return unit, fmt.Errorf("sparse: row %d: its norm under the embedding %s is %v, expected a finite one",
				r, f, x.Norms[i])
		}
		for k, u := range unit {
			unit[k] = u / x.Divisors[i]
			x.Values[x.Offsets[i]+int64(k)] = float32(unit[k])
		}
		return unit, nil
	case f.Power == Root || f.Pairing != Dot:
		x.Divisors[i], x.Norms[i] = l1, f.norm(l1, l2)
	default:
		x.Divisors[i], x.Norms[i] = l2, f.norm(l1, l2)
	}
	unit = x.Unit64(i, unit)
	for k, u := range unit {
		if f.Pairing != Dot {
			u = max(u, MinShare)
		}
		x.Values[x.Offsets[i]+int64(k)] = float32(u)
	}
	return unit, nil
}
