package doors

import (
	"fmt"
	"math"
	"slices"

	"github.com/gramengine/gram/engine"
	"github.com/gramengine/gram/engine/normal"
	"github.com/gramengine/gram/sparse"
)

func normalCases() map[string]testCase {
	return map[string]testCase{
		"engine.FitNormals":   {run: fitNormals},
		"engine.FitNormalsIn": {run: fitNormals},
		"kernel.Hyperbolic.PropertiesFor": {run: func(p *program) {
			h, n := p.hyperbolic(), p.odd()
			p.quiet(fmt.Sprint(h, n), func() { h.PropertiesFor(n) })
		}},
		"engine.HyperbolicGram.Against": {run: hyperbolicGram, index: true, panics: true},
		"engine.HyperbolicGram.Error":   {run: hyperbolicGram, index: true, panics: true},
		"engine.HyperbolicGram.Eval":    {run: hyperbolicGram, index: true, panics: true},
		"engine.HyperbolicGram.Rows":    {run: hyperbolicGram, index: true, panics: true},
		"normal.Fit":                    {run: fitNormals},
		"normal.FitIn":                  {run: fitNormals},
		"normal.Heat.Against":           {run: heat, index: true, panics: true},
		"normal.Heat.At":                {run: heat, index: true, panics: true},
		"normal.Heat.Error":             {run: heat, index: true, panics: true},
		"normal.Heat.Eval":              {run: heat, index: true, panics: true},
		"normal.NewHeat":                {run: heat, index: true, panics: true},
		"normal.Of":                     {run: normalsOf},
		"engine.NewHyperbolic":          {run: newHyperbolic},
		"normal.Distributions.Distance": {run: normals, index: true, panics: true},
		"normal.Distributions.In":       {run: normals, index: true, panics: true},
		"normal.Distributions.Mean":     {run: normals, index: true, panics: true},
		"normal.Distributions.Sigma":    {run: normals, index: true, panics: true},
		"normal.Distributions.Vectors":  {run: normals, index: true, panics: true},
		"engine.NormalsOf":              {run: normalsOf},
	}
}

// points draws points of sets, each with some spread.
func (p *program) points() (m *sparse.CSR, of []int32, sets int) {
	sets = 1 + p.IntN(5)
	cols := 1 + p.IntN(4)
	m = &sparse.CSR{Cols: cols, Offsets: []int64{0}}
	for s := range sets {
		for range 2 + p.IntN(4) {
			for t := range cols {
				m.Terms = append(m.Terms, uint32(t))
				m.Values = append(m.Values, float32(p.NormFloat64()))
			}
			m.Offsets = append(m.Offsets, int64(len(m.Terms)))
			of = append(of, int32(s))
		}
	}
	return m, of, sets
}

func (p *program) hyperbolic() engine.Hyperbolic {
	return engine.Hyperbolic{T: pick(p, 0.1, 0.5, 2), N: pick(p, 0, 0, 7, 8), Full: p.chance(2)}
}

func fitNormals(p *program) {
	m, of, sets := p.points()
	try := func(m *sparse.CSR, of []int32, sets int, columns []uint32, in bool) func() error {
		return func() error {
			var n *engine.Normals
			var err error
			if in {
				n, err = engine.FitNormalsIn(p.ctx, m, of, sets, columns)
			} else {
				n, err = engine.FitNormals(p.ctx, m, of, sets)
			}
			for i := 0; err == nil && i < n.Len(); i++ {
				finite(p, "mean", n.Mean(i))
				if s := n.Sigma(i); !(s > 0) {
					p.fails("σ of set %d is %v", i, s)
				}
			}
			return err
		}
	}
	p.good(fmt.Sprint(sets, " sets"), try(m, of, sets, nil, false))
	p.good(fmt.Sprint(sets, " sets in all columns"), try(m, of, sets, sparse.Order(make([]int32, m.Cols)), true))
	for _, in := range []bool{false, true} {
		columns := sparse.Order(make([]int32, m.Cols))
		p.bad("of nil", try(nil, of, sets, columns, in))
		p.bad("of a set short", try(m, of[:len(of)-1], sets, columns, in))
		p.bad("of fewer sets than there are", try(m, of, sets-1, columns, in))
		p.bad("of more sets than there can be", try(m, of, pick(p, 1<<40, math.MaxInt), columns, in))
		p.bad("of fewer sets than none", try(m, of, pick(p, -1, math.MinInt), columns, in))
		p.any("of a set without points", try(m, of, sets+1, columns, in))
		wrong := slices.Clone(of)
		wrong[p.IntN(len(of))] = pick(p, int32(sets), -1, math.MinInt32, math.MaxInt32)
		p.bad("of a set that there isn't", try(m, wrong, sets, columns, in))
		b, why := p.broken()
		p.bad("of points with "+why, try(b, make([]int32, b.Rows()), 1, []uint32{0}, in))
	}
	p.any("in columns of other points", try(m, of, sets, []uint32{0, math.MaxUint32}, true))
	p.bad("in columns that don't ascend", try(m, of, sets, []uint32{1, 0}, true))
	p.bad("in a column twice", try(m, of, sets, []uint32{0, 0}, true))
	p.bad("in no columns", try(m, of, sets, nil, true))
	huge := clone(m)
	for k := range huge.Values {
		huge.Values[k] = pick(p, float32(math.MaxFloat32), -math.MaxFloat32, math.SmallestNonzeroFloat32, 0)
	}
	p.any("of huge values", try(huge, of, sets, nil, false))
}

func (p *program) normals() *engine.Normals {
	m, of, sets := p.points()
	n, err := engine.FitNormals(p.ctx, m, of, sets)
	if err != nil {
		panic(err)
	}
	return n
}

func normals(p *program) {
	n := p.normals()
	i, o := p.IntN(n.Len()), p.outside(n.Len())
	p.good("of a set", func() error {
		finite(p, "distribution", append(n.Mean(i), n.Sigma(i), n.Distance(i, 0)))
		return nil
	})
	p.bad(fmt.Sprint("Mean of ", o), func() error { n.Mean(o); return nil })
	p.bad(fmt.Sprint("Sigma of ", o), func() error { n.Sigma(o); return nil })
	p.bad(fmt.Sprint("Distance of ", o), func() error { n.Distance(o, 0); return nil })
	p.bad(fmt.Sprint("Distance to ", o), func() error { n.Distance(0, o); return nil })
	order := p.indices(p.IntN(9), n.Len())
	p.good("in an order", func() error {
		if s := n.In(order); s.Len() != len(order) {
			p.fails("%d distributions, expected %d", s.Len(), len(order))
		}
		return nil
	})
	p.bad(fmt.Sprint("In of ", o), func() error { n.In([]int{0, o}); return nil })
	sigma := pick(p, uint32(0), 5, 100, math.MaxUint32-1, math.MaxUint32)
	p.any(fmt.Sprint("σ in column ", sigma), func() error {
		m, err := n.Vectors(sigma)
		if err == nil {
			err = m.Validate()
		}
		return err
	})
}

func normalsOf(p *program) {
	n := p.normals()
	v, err := n.Vectors(100)
	if err != nil {
		return
	}
	raw := sparse.Embedding{}
	x := p.embedded(raw, v)
	p.good("of vectors", func() error {
		m, err := engine.NormalsOf(x)
		if err == nil && m.Len() != n.Len() {
			p.fails("%d distributions, expected %d", m.Len(), n.Len())
		}
		return err
	})
	p.bad("of nil", func() error { _, err := engine.NormalsOf(nil); return err })
	p.bad("of the zero value", func() error { _, err := engine.NormalsOf(&sparse.Embedded{}); return err })
	p.bad("of another embedding", func() error {
		_, err := engine.NormalsOf(p.embedded(sparse.Sphere, p.documents()))
		return err
	})
	p.any("of documents", func() error { _, err := engine.NormalsOf(p.embedded(raw, p.documents())); return err })
	if b, why := p.brokenEmbedded(raw); why != noNorms {
		p.bad("of documents with "+why, func() error { _, err := engine.NormalsOf(b); return err })
	}
}

func newHyperbolic(p *program) {
	n := p.normals()
	h := p.hyperbolic()
	p.good(fmt.Sprint(h), func() error { _, err := engine.NewHyperbolic(p.ctx, h, n, engine.Options{}); return err })
	wrong := engine.Hyperbolic{T: pick(p, p.strange(), 1e-290, 1e290, 1e-200, 1e200), N: pick(p, p.odd(), 0, 0, 2,
		1), Full: h.Full}
	p.any(fmt.Sprintf("%+v", wrong), func() error {
		g, err := engine.NewHyperbolic(p.ctx, wrong, n, engine.Options{})
		if err == nil {
			if !(wrong.T > 0) || math.IsInf(wrong.T, 1) {
				p.fails("a kernel of t=%v without an error", wrong.T)
			}
			far := n.Len() - 1
			if a, b := g.Eval(0, 0), g.Eval(0, far); a != a || b != b {
				p.fails("%v is %v and %v", wrong, a, b)
			}
			row := p.dense(1, n.Len())
			err = g.Rows(p.ctx, 0, row)
			p.defined("Rows", wrong.Kernel(), row.Data)
		}
		return err
	})
	p.bad("of nil", func() error { _, err := engine.NewHyperbolic(p.ctx, h, nil, engine.Options{}); return err })
	p.any("of no distributions made by hand", func() error {
		_, err := engine.NewHyperbolic(p.ctx, h, &engine.Normals{}, engine.Options{})
		return err
	})
	p.any("on fewer workers than none", func() error {
		_, err := engine.NewHyperbolic(p.ctx, h, n, engine.Options{Workers: -1})
		return err
	})
	p.bad("in a byte", func() error {
		_, err := engine.NewHyperbolic(p.ctx, h, n, engine.Options{MemoryBytes: 1})
		return err
	})
}

func hyperbolicGram(p *program) {
	n := p.normals()
	g, err := engine.NewHyperbolic(p.ctx, engine.Hyperbolic{T: 0.5}, n, engine.Options{Workers: p.IntN(3)})
	if err != nil {
		p.fails("%v", err)
		return
	}
	size := n.Len()
	o := p.outside(size)
	i, j := p.IntN(size), p.IntN(size)
	near := func(call string, i, j int, v float32) {
		if want := g.Eval(i, j); !(math.Abs(float64(v)-want) <= g.Error(i, j)) {
			p.fails("%s: %v of %d and %d, expected %v", call, v, i, j, want)
		}
	}
	p.good("Gram", func() error {
		m, err := g.Gram(p.ctx)
		if err == nil {
			near("Gram", i, j, m.Row(i)[j])
		}
		return err
	})
	first := p.IntN(size)
	dst := p.dense(size-first, size)
	p.good("Rows", func() error {
		err := g.Rows(p.ctx, first, dst)
		if err == nil {
			near("Rows", first, j, dst.Row(0)[j])
		}
		return err
	})
	row := poisoned(p, size)
	p.good("Against", func() error {
		err := g.Against(n, i, row)
		if err == nil {
			near("Against", j, i, row[j])
		}
		return err
	})
	p.bad(fmt.Sprint("Eval of ", o), func() error { g.Eval(o, 0); return nil })
	p.bad(fmt.Sprint("Error of ", o), func() error { g.Error(0, o); return nil })
	p.bad(fmt.Sprint("Rows from ", o), func() error { return g.Rows(p.ctx, o, p.dense(1, size)) })
	p.bad("Rows into nil", func() error { return g.Rows(p.ctx, 0, nil) })
	p.bad("Rows, a row too many", func() error { return g.Rows(p.ctx, first, p.dense(size-first+1, size)) })
	p.bad("Rows, a column too many", func() error { return g.Rows(p.ctx, 0, p.dense(1, size+1)) })
	p.bad("Rows, a column too few", func() error { return g.Rows(p.ctx, 0, p.dense(1, size-1)) })
	short := p.dense(1, size)
	short.Data = short.Data[:size-1]
	p.bad("Rows into a matrix that lacks a value", func() error { return g.Rows(p.ctx, 0, short) })
	p.bad("Against nil", func() error { return g.Against(nil, 0, row) })
	p.bad(fmt.Sprint("Against ", o), func() error { return g.Against(n, o, row) })
	p.bad("Against, a value short", func() error { return g.Against(n, i, row[:size-1]) })
	p.bad("Against, a value long", func() error { return g.Against(n, i, poisoned(p, size+1)) })
	other := p.normals()
	if other.P() != n.P() {
		p.bad("Against points of other coordinates", func() error { return g.Against(other, 0, row) })
	}
}

func heat(p *program) {
	n := p.normals()
	size := n.Len()
	var h *normal.Heat
	if !p.good("NewHeat", func() (err error) { h, err = normal.NewHeat(p.ctx, 0.5, n.P()+1, false, n); return err }) {
		return
	}
	i, o := p.IntN(size), p.outside(size)
	row := poisoned(p, size)
	p.good("Against", func() error { err := h.Against(n, i, row); finite(p, "Against", row); return err })
	p.good("At", func() error {
		if v, want := float64(h.At(i, 0)), h.Eval(i, 0); !(math.Abs(v-want) <= h.Error(i, 0)) {
			p.fails("%v of %d and 0, expected %v", v, i, want)
		}
		return nil
	})
	p.bad(fmt.Sprint("At ", o), func() error { h.At(o, 0); return nil })
	p.bad(fmt.Sprint("Eval of ", o), func() error { h.Eval(o, 0); return nil })
	p.bad("Against nil", func() error { return h.Against(nil, 0, row) })
	p.bad("Against, a value short", func() error { return h.Against(n, i, row[1:]) })
	t := pick(p, math.NaN(), -1, 0, math.Inf(1))
	p.bad(fmt.Sprint("NewHeat of t=", t), func() error { _, err := normal.NewHeat(p.ctx, t, 3, false, n); return err })
	p.bad("NewHeat of nil", func() error { _, err := normal.NewHeat(p.ctx, 1, 3, false, nil); return err })
}
