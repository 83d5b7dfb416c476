package doors

import (
	"fmt"
	"math"
	"slices"

	"github.com/gramengine/gram/sparse"
)

func fit(p *program) {
	e, m := p.embedding(), p.matrix()
	p.good("of a good matrix", func() error { return e.Fit(m).Validate() })
	// What Fit finds wrong, the embedder it returns says later.
	b, why := p.broken()
	p.bad("of a matrix with "+why, func() error { return e.Fit(b).Validate() })
	p.bad("of a matrix with "+why+", then Transform", func() error { _, err := e.Fit(b).Transform(m); return err })
	p.bad("of nil", func() error { return e.Fit(nil).Validate() })
	wrong := e
	wrong.Weighting, wrong.Norm = pick(p, sparse.Weighting(9), e.Weighting), 9
	p.bad(fmt.Sprintf("of the embedding %#v", wrong), func() error { return wrong.Fit(m).Validate() })
	wrong = e
	wrong.Power = pick(p, math.NaN(), -1, math.Inf(1), 1e9)
	p.bad(fmt.Sprintf("of the embedding %#v", wrong), func() error { return wrong.Fit(m).Validate() })
}

func transform(p *program) {
	e, m := p.embedding(), p.documents()
	f := e.Fit(m)
	other := p.matrix()
	p.good(fmt.Sprint(e, " of other documents"), func() error {
		x, err := f.Transform(other)
		if err == nil {
			finite(p, "values", x.Values)
			finite(p, "norms", x.Norms)
			for i := range x.Rows() {
				if len(x.Terms) > 0 && x.Offsets[i] == x.Offsets[i+1] {
					p.fails("%v: row %d is empty", e, i)
				}
			}
			err = x.CSR.Validate()
		}
		return err
	})
	b, why := p.broken()
	p.bad("of a matrix with "+why, func() error { _, err := f.Transform(b); return err })
	p.bad("of nil", func() error { _, err := f.Transform(nil); return err })
	p.any("by the zero value", func() error { _, err := (&sparse.Embedder{}).Transform(m); return err })
	if len(f.Terms) > 1 {
		wrong := *f
		wrong.Terms = wrong.Terms[:len(wrong.Terms)-1]
		p.any("by an embedder that was changed", func() error { _, err := wrong.Transform(m); return err })
	}

	// Huge and tiny values.
	huge := clone(m)
	for k := range huge.Values {
		huge.Values[k] = pick(p, float32(math.MaxFloat32), math.SmallestNonzeroFloat32, -1, 0, 1e30, 1e-30)
	}
	p.any(fmt.Sprint(e, " of huge values"), func() error {
		x, err := e.Fit(huge).Transform(huge)
		if err == nil {
			finite(p, "values", x.Values)
			finite(p, "norms", x.Norms)
			err = x.CSR.Validate()
		}
		return err
	})
}

func transformRows(p *program) {
	e, m := p.embedding(), p.documents()
	f := e.Fit(m)
	rows := p.indices(p.IntN(2*m.Rows()), m.Rows())
	workers := pick(p, 0, 1, 2, 7)
	p.good("of good rows", func() error {
		x, err := f.TransformRows(p.ctx, m, rows, workers)
		if err == nil && rows != nil && x.Rows() != len(rows) {
			p.fails("%d rows, expected %d", x.Rows(), len(rows))
		}
		return err
	})
	p.any("on fewer goroutines than none", func() error {
		_, err := f.TransformRows(p.ctx, m, rows, pick(p, -1, math.MinInt))
		return err
	})
	wrong := append(slices.Clone(rows), p.outside(m.Rows()))
	p.bad(fmt.Sprint("of rows ", wrong, " of ", m.Rows()), func() error {
		_, err := f.TransformRows(p.ctx, m, wrong, workers)
		return err
	})
	b, why := p.broken()
	p.bad("of a matrix with "+why, func() error { _, err := f.TransformRows(p.ctx, b, nil, workers); return err })
	p.bad("of nil", func() error { _, err := f.TransformRows(p.ctx, nil, nil, workers); return err })
}

func embeddedDigest(p *program) {
	e, m := p.embedding(), p.matrix()
	p.good("of good documents", func() error { x := p.embedded(e, m); x.Digest(); x.Empty(); return nil })
}

func appendRaw(p *program) {
	x := p.embedded(p.embedding(), p.documents())
	i := p.IntN(x.Rows())
	p.good("of a row", func() error {
		if t, v := x.AppendRaw(i, nil, nil); len(t) != len(v) {
			p.fails("%d values of %d terms", len(v), len(t))
		}
		return nil
	})
	i = p.outside(x.Rows())
	p.bad(fmt.Sprint("of row ", i, " of ", x.Rows()), func() error { x.AppendRaw(i, nil, nil); return nil })
}

// vectors64 is the case of a row in float64.
func vectors64(vector bool) func(p *program) {
	of := (*sparse.Embedded).Unit64
	if vector {
		of = (*sparse.Embedded).Vector64
	}
	return func(p *program) {
		x := p.embedded(p.embedding(), p.documents())
		i := p.IntN(x.Rows())
		p.good("of a row", func() error {
			v := of(x, i, poisoned64(p, p.IntN(9)))
			if t, _ := x.Row(i); len(t) != len(v) {
				p.fails("%d values of %d columns", len(v), len(t))
			}
			finite(p, "row", v)
			return nil
		})
		i = p.outside(x.Rows())
		p.bad(fmt.Sprint("of row ", i, " of ", x.Rows()), func() error { of(x, i, nil); return nil })
		p.quiet("of the zero value", func() { of(&sparse.Embedded{}, 0, nil) })
		wrong := *x
		wrong.Raw = wrong.Raw[:max(len(wrong.Raw)-1, 0)]
		p.quiet("of documents that were changed", func() { of(&wrong, wrong.Rows()-1, nil) })
	}
}

func embedderColumn(p *program) {
	f := p.embedding().Fit(p.documents())
	t := uint32(p.odd())
	p.good(fmt.Sprint(t), func() error { f.Column(t); return nil })
	p.quiet("of the zero value", func() { (&sparse.Embedder{}).Column(t) })
}

func embedderFactors(p *program) {
	f := p.embedding().Fit(p.documents())
	column, raw := uint32(p.odd()), float32(1+p.IntN(9))
	p.good(fmt.Sprint(column), func() error {
		if v, weight := f.Factors(column, raw); !((v >= 1 || f.Scales()) && weight >= 0) {
			p.fails("factors %v and %v of %v", v, weight, raw)
		}
		return nil
	})
	p.quiet("of the zero value", func() { (&sparse.Embedder{}).Factors(column, raw) })
}

func restoreEmbedder(p *program) {
	f := p.embedding().Fit(p.documents())
	from := sparse.Embedder{Embedding: f.Embedding, Documents: f.Documents, Terms: slices.Clone(f.Terms),
		DF: slices.Clone(f.DF), Weights: slices.Clone(f.Weights), Shifts: slices.Clone(f.Shifts), Open: f.Open}
	p.good("of what Fit made", func() error { _, err := sparse.RestoreEmbedder(from); return err })
	wrong, n := from, len(from.Terms)
	why := ""
	switch k := p.IntN(7); {
	case k == 0:
		wrong.Documents, why = pick(p, -1, math.MinInt), "a negative number of documents"
	case k == 1:
		wrong.DF, why = append(slices.Clone(from.DF), 1), "a frequency too many"
	case k == 2:
		wrong.Terms, why = append(slices.Clone(from.Terms), 1<<30), "a term too many"
	case k == 3 && n > 0:
		wrong.DF, why = slices.Clone(from.DF), "a frequency that can't be"
		wrong.DF[p.IntN(n)] = pick(p, int32(0), -1, int32(from.Documents+1), math.MaxInt32)
	case k == 4 && n > 1:
		wrong.Terms, why = slices.Clone(from.Terms), "a term twice"
		wrong.Terms[1] = wrong.Terms[0]
	case k == 5:
		wrong.Weights, why = append(slices.Clone(from.Weights), math.NaN()), "a weight too many"
	default:
		wrong.Power, why = pick(p, math.NaN(), -1, 1e9), "a power that can't be"
	}
	p.bad("of "+why, func() error { _, err := sparse.RestoreEmbedder(wrong); return err })
	p.bad("Validate of "+why, func() error { w := wrong; return w.Validate() })
}

func withPower(p *program) {
	e, v := p.embedding(), p.strange()
	p.any(fmt.Sprint(e, " with ", v), func() error {
		w, err := e.WithPower(v)
		if err == nil && !(v >= sparse.LeastPower && v <= sparse.MostPower) {
			p.fails("%v with power %v is %v without an error", e, v, w)
		}
		return err
	})
	p.bad("with NaN", func() error { _, err := e.WithPower(math.NaN()); return err })
}
