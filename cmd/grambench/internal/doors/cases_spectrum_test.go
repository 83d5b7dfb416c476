package doors

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/gramengine/gram/engine"
	"github.com/gramengine/gram/engine/spectrum"
	"gonum.org/v1/gonum/mat"
)

func spectrumCases() map[string]testCase {
	return map[string]testCase{
		"spectrum.All": {run: allEigenvalues},
		"spectrum.AllBytes": {run: func(p *program) {
			n := p.odd()
			p.quiet(fmt.Sprint(n), func() { spectrum.AllBytes(n) })
		}},
		"spectrum.Centre":         {run: centre, panics: true, index: true},
		"spectrum.CentreOperator": {run: centreOperator, panics: true},
		"spectrum.Lanczos":        {run: lanczos},
		"spectrum.LanczosBytes": {run: func(p *program) {
			n, s := p.odd(), p.odd()
			p.quiet(fmt.Sprint(n, s), func() { spectrum.LanczosBytes(n, s) })
		}},
		"spectrum.Operator.Apply":     {run: centreOperator, panics: true},
		"spectrum.Operator.Len":       {run: centreOperator, panics: true},
		"spectrum.Options.Progress":   {run: lanczosProgress},
		"spectrum.CoveringRadius":     {run: coveringRadius},
		"spectrum.RademacherBound":    {run: rademacherBound},
		"spectrum.RademacherSupremum": {run: rademacherSupremum},
		"spectrum.RademacherSum": {run: func(p *program) {
			values := guarded[float64](p, p.IntN(9))
			for i := range values {
				values[i] = p.NormFloat64()
			}
			p.quiet("of numbers", func() { finite(p, "sum", []float64{spectrum.RademacherSum(values, 0.5)}) })
			p.quiet("of any numbers", func() {
				spectrum.RademacherSum([]float64{p.strange(), p.strange()}, p.strange())
			})
		}},
		"spectrum.Rounding": {run: func(p *program) {
			n, v := p.odd(), p.strange()
			p.quiet(fmt.Sprint(n, v), func() { _ = spectrum.Rounding(n, v) })
		}},
	}
}

// symmetric draws a symmetric matrix.
func (p *program) symmetric(n int) *engine.Symmetric {
	s := &engine.Symmetric{N: n, Data: guarded[float32](p, n*n)}
	for i := range n {
		for j := range i + 1 {
			v := float32(p.NormFloat64())
			s.Data[i*n+j], s.Data[j*n+i] = v, v
		}
	}
	return s
}

// short is a symmetric matrix that lacks a value.
func (p *program) short(n int) *engine.Symmetric {
	s := p.symmetric(n)
	s.Data = s.Data[:n*n-1]
	return s
}

func allEigenvalues(p *program) {
	n := pick(p, 1, 2, 5, 20)
	s := p.symmetric(n)
	p.good(fmt.Sprint(n, " rows"), func() error {
		values, err := spectrum.All(p.ctx, s, 0)
		if err == nil && len(values) != n {
			p.fails("%d eigenvalues of %d rows", len(values), n)
		}
		finite(p, "eigenvalues", values)
		return err
	})
	s.Data[0] = float32(p.notFinite())
	p.bad("of a value that isn't finite", func() error { _, err := spectrum.All(p.ctx, s, 0); return err })
	p.bad("of a matrix that lacks a value", func() error { _, err := spectrum.All(p.ctx, p.short(n), 0); return err })
	p.bad("of nil", func() error { _, err := spectrum.All(p.ctx, nil, 0); return err })
	p.any("of no rows", func() error { _, err := spectrum.All(p.ctx, &engine.Symmetric{}, 0); return err })
}

func (p *program) notFinite() float64 { return pick(p, math.NaN(), math.Inf(1), math.Inf(-1)) }

func centre(p *program) {
	n := 1 + p.IntN(9)
	s := p.symmetric(n)
	p.good(fmt.Sprint(n, " rows"), func() error {
		c := spectrum.Centre(s)
		sum := 0.0
		for j := range n {
			sum += c.At(0, j)
		}
		if !(math.Abs(sum) < 1e-5) {
			p.fails("a row that adds to %v", sum)
		}
		return nil
	})
	p.quiet("of no rows", func() { spectrum.Centre(&engine.Symmetric{}) })
	i := p.outside(n)
	p.bad(fmt.Sprint("value in row ", i), func() error { spectrum.Centre(s).At(i, 0); return nil })
}

// operator is a matrix by its products, which may fail.
type operator struct {
	*engine.Symmetric
	length int
	fails  error
	panics any
	spoils float64 // what a value of the product becomes, if not 0
}

func (o *operator) Len() int { return o.length }

func (o *operator) Apply(_ context.Context, dst, src []float64) error {
	if o.panics != nil {
		panic(o.panics)
	}
	for i := range o.N {
		dst[i] = 0
		for j := range o.N {
			dst[i] += float64(o.Data[i*o.N+j]) * src[j]
		}
	}
	if o.spoils != 0 {
		dst[0] = o.spoils
	}
	return o.fails
}

var _ mat.Symmetric = (*operator)(nil)

func (p *program) operator() *operator {
	n := pick(p, 1, 2, 5, 30)
	return &operator{Symmetric: p.symmetric(n), length: n}
}

func centreOperator(p *program) {
	o := p.operator()
	c := spectrum.CentreOperator(o)
	src, dst := guarded[float64](p, o.N), poisoned64(p, o.N)
	for i := range src {
		src[i] = p.NormFloat64()
	}
	p.good("a product", func() error {
		if c.Len() != o.N {
			p.fails("%d rows, expected %d", c.Len(), o.N)
		}
		err := c.Apply(p.ctx, dst, src)
		finite(p, "product", dst)
		return err
	})
	p.bad("of a vector short", func() error { return c.Apply(p.ctx, dst, src[:len(src)-1]) })
	p.bad("into a vector short", func() error { return c.Apply(p.ctx, dst[:len(dst)-1], src) })
	o.fails = errors.New("operator: failed")
	p.bad("of an operator that fails", func() error { return c.Apply(p.ctx, dst, src) })
}

func lanczos(p *program) {
	try := func(o *operator, opt spectrum.Options) func() error {
		return func() error {
			e, err := spectrum.Lanczos(p.ctx, o, opt)
			if err == nil {
				for _, v := range e.Largest {
					finite(p, "largest", []float64{v.Value, v.Residual})
				}
				for _, v := range e.Smallest {
					finite(p, "smallest", []float64{v.Value, v.Residual})
				}
			}
			return err
		}
	}
	o := p.operator()
	p.good(fmt.Sprint(o.N, " rows"), try(o, spectrum.Options{K: pick(p, 0, 1, 3), Steps: pick(p, 0, 1, 5)}))
	opt := spectrum.Options{K: p.odd(), Steps: p.odd(), Tolerance: p.strange(), Seed: p.Uint64()}
	p.any(fmt.Sprintf("%d rows with %+v", o.N, opt), try(o, opt))
	p.bad("more values than none", try(o, spectrum.Options{K: pick(p, -1, math.MinInt)}))
	p.bad("a tolerance that is none", try(o, spectrum.Options{Tolerance: pick(p, math.NaN(), -1)}))
	wrong := *o
	wrong.fails = errors.New("operator: failed")
	p.bad("of an operator that fails", try(&wrong, spectrum.Options{}))
	wrong = *o
	wrong.spoils = p.notFinite()
	p.bad(fmt.Sprint("of an operator that makes ", wrong.spoils), try(&wrong, spectrum.Options{}))
	wrong = *o
	wrong.length = pick(p, -1, math.MinInt)
	p.bad(fmt.Sprint("of ", wrong.length, " rows"), try(&wrong, spectrum.Options{}))
	zero := &operator{Symmetric: &engine.Symmetric{}}
	p.any("of no rows", try(zero, spectrum.Options{}))
	p.bad("of nil", func() error { _, err := spectrum.Lanczos(p.ctx, nil, spectrum.Options{}); return err })
}

func lanczosProgress(p *program) {
	o := p.operator()
	p.bad("that panics", func() error {
		called := false
		_, err := spectrum.Lanczos(p.ctx, o, spectrum.Options{Progress: func(int, int, float64) {
			called = true
			panic(ownPanic)
		}})
		if !called {
			return errors.New("not called: it had no time to")
		}
		return err
	})
}

func rademacherBound(p *program) {
	values := guarded[float64](p, p.IntN(9))
	for i := range values {
		values[i] = p.strange()
	}
	n := p.odd()
	p.quiet(fmt.Sprint(values, n), func() {
		spectrum.RademacherBound(values, n, p.strange(), p.strange(), p.strange(), p.strange())
	})
}

func coveringRadius(p *program) {
	values := guarded[float64](p, p.IntN(9))
	for i := range values {
		values[i] = p.strange()
	}
	logN := p.strange()
	p.quiet(fmt.Sprint(values, logN), func() { spectrum.CoveringRadius(values, logN) })
}

func rademacherSupremum(p *program) {
	values, signs := guarded[float64](p, p.IntN(9)), guarded[float64](p, p.IntN(9))
	for i := range values {
		values[i] = p.strange()
	}
	for i := range signs {
		signs[i] = p.strange()
	}
	r := p.strange()
	p.quiet(fmt.Sprint(values, signs, r), func() { spectrum.RademacherSupremum(values, signs, r) })
}
