package sparse

import (
	"context"
	"fmt"
	"math"

	"github.com/gramengine/gram/internal/run"
)

// Transform embeds documents. Let v be the weighted values of a document (raw values times
// weights), n the norm of v that Norm selects, and x = v/n, or x = (v/n)^p with a power p. Row i of
// the result is x/‖x‖₂, and Norms[i] is ‖x‖₂. If the pairing isn't [Cosine], row i is the histogram
// x, and Norms[i] is 1.
//
// Terms outside the training documents are dropped, unless the embedder is Open. Values of weight 0
// are also dropped, such as a term in every document with tfidf. In scaled columns, zeros are
// scaled, too. A document without remaining terms becomes the unit vector of the last column. Its
// norm is 0, or 1 for histograms and L1-normalised square roots. Unless the embedder is Open, its
// cosine is 1 with other such documents, and 0 with all others.
//
// Transform returns the error of [Embedding.Fit] or [CSR.Validate], or an error if a row's norm
// overflows or underflows. It returns a [*ValueError] for a value that isn't finite, is negative
// with a power or in a histogram, is below 1 if counts are damped, or overflows float64 when
// weighted.
func (f *Embedder) Transform(m *CSR) (*Embedded, error) {
	return f.TransformRows(context.Background(), m, nil, 0)
}

// TransformRows is like [Embedder.Transform], for the rows rows[0], rows[1], … of m, or for all
// rows if rows is nil. workers is the number of goroutines, or 0 for one per CPU. It returns the
// error of the first invalid row in this order, or ctx.Err(). Other rows are neither read nor
// checked. The result retains rows.
func (f *Embedder) TransformRows(ctx context.Context, m *CSR, rows []int, workers int) (*Embedded, error) {
	if err := f.Validate(); err != nil {
		return nil, err
	}
	if err := m.validateShape(); err != nil {
		return nil, err
	}
	if workers < 0 {
		return nil, fmt.Errorf("sparse: workers must be positive, or 0 for one per CPU, got %d", workers)
	}
	n := len(rows)
	if rows == nil {
		n = m.Rows()
	}
	x := &Embedded{
		CSR: CSR{Cols: f.Cols(), Offsets: make([]int64, n+1)}, Embedder: f, SourceRows: rows,
		Norms: make([]float64, n), Divisors: make([]float64, n),
	}
	err := run.ForEachChunk(ctx, run.NumWorkers(workers), n, func(_, lo, hi int) error {
		for i := lo; i < hi; i++ {
			r := x.SourceRow(i)
			if r < 0 || r >= m.Rows() {
				return fmt.Errorf("sparse: row %d is out of range for a matrix with %d rows", r, m.Rows())
			}
			if err := m.validateRow(r); err != nil {
				return err
			}
			terms, values := m.Row(r) // scaling of views changes no value to 0
			if f.filledTerms != nil {
				terms, values = f.scaledRow(m, r)
			}
			x.Offsets[i+1] = f.storedCount(terms, values)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	x.Allocate()
	x.RawValues = make([]float32, len(x.Values))
	err = run.ForEachChunk(ctx, run.NumWorkers(workers), n, func(_, lo, hi int) (err error) {
		var unit []float64
		for i := lo; i < hi && err == nil; i++ {
			terms, values := f.scaledRow(m, x.SourceRow(i))
			unit, err = x.embedRow(i, terms, values, x.SourceRow(i), unit)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return x, nil
}

func (f *Embedder) storedCount(terms []uint32, values []float32) int64 {
	var n int64
	unseen, w := false, weighter{f: f}
	for k, t := range terms {
		column, ok := f.Column(t)
		switch {
		case values[k] == 0 && f.Shifts == nil:
		case !ok:
			unseen = f.Open
		case f.isUnweighted() || w.weightedValue(column, values[k]) != 0:
			n++
		}
	}
	if unseen {
		n++
	}
	return max(n, 1)
}

// embedRow writes row i from the terms and values of row r of the matrix. It returns the buffer
// unit, which grows if necessary.
func (x *Embedded) embedRow(i int, terms []uint32, values []float32, r int, unit []float64) ([]float64, error) {
	f := x.Embedder
	at := x.Offsets[i]
	unit = unit[:0]
	add := func(column uint32, raw float32, weighted float64) {
		x.Terms[at], x.RawValues[at] = column, raw
		unit = append(unit, weighted)
		at++
	}
	var l1, l2, unseen float64
	w := weighter{f: f}
	for k, t := range terms {
		column, ok := f.Column(t)
		if !ok && f.Open {
			unseen += float64(float64(values[k]) * float64(values[k]))
		}
		if !ok || values[k] == 0 && f.Shifts == nil {
			continue
		}
		v := w.weightedValue(column, values[k])
		if v == 0 {
			continue
		}
		if math.IsNaN(v) || math.IsInf(v, 0) || v < 0 && (f.Power != 0 || f.Pairing != Cosine) && !f.isVector(column) {
			return unit, &ValueError{r, t, values[k], "finite" + f.nonNegativeReason()}
		}
		add(column, values[k], v)
		l1 += math.Abs(v)
		l2 += float64(v * v)
	}
	if unseen != 0 {
		if !(unseen <= math.MaxFloat32*math.MaxFloat32) {
			return unit, fmt.Errorf(
				"sparse: row %d: the terms outside the training documents have norm %v, which overflows float32",
				r, math.Sqrt(unseen))
		}
		norm := float32(math.Sqrt(unseen))
		add(uint32(len(f.Terms)), norm, float64(norm))
		l1 += math.Sqrt(unseen)
		l2 += unseen
	}
	l2 = math.Sqrt(l2)
	if at > x.Offsets[i] && !(l2 > 0 && max(l1, l2) <= math.MaxFloat64) { // products may overflow
		return unit, fmt.Errorf("sparse: row %d: norm of the weighted values must be positive and finite, got %v", r, l2)
	}
	switch empty := at == x.Offsets[i]; {
	case empty:
		add(uint32(len(f.Terms)), 1, 1)
		x.Divisors[i] = 1
		x.Norms[i] = f.norm(0, 0)
	case f.hasGeneralPower(): // reuse the powers, because computing them takes half of the embedding time
		var largest float64
		unit, largest = x.powers(i, unit)
		var squares float64
		for _, u := range unit {
			squares += float64(u * u)
		}
		x.Divisors[i] = math.Sqrt(squares)
		x.Norms[i] = float64(power(largest/f.divisor(l1, l2), f.Power) * x.Divisors[i]) // (max v/n)^p times the divisor
		if !(x.Norms[i] <= math.MaxFloat64) {
			return unit, fmt.Errorf("sparse: row %d: norm in embedding %s must be finite, got %v", r, f, x.Norms[i])
		}
		for k, u := range unit {
			unit[k] = u / x.Divisors[i]
			x.Values[x.Offsets[i]+int64(k)] = float32(unit[k])
		}
		return unit, nil
	case f.Power == SquareRoot || f.Pairing != Cosine:
		x.Divisors[i], x.Norms[i] = l1, f.norm(l1, l2)
	default:
		x.Divisors[i], x.Norms[i] = l2, f.norm(l1, l2)
	}
	f.normalize(unit, x.Divisors[i])
	for k, u := range unit {
		if f.Pairing != Cosine {
			u = max(u, MinHistogramValue)
		}
		x.Values[x.Offsets[i]+int64(k)] = float32(u)
	}
	return unit, nil
}
