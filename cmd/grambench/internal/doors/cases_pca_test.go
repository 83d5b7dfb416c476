package doors

import (
	"context"
	"errors"
	"fmt"

	"github.com/gramengine/gram/engine"
	"github.com/gramengine/gram/engine/spectrum"
	"github.com/gramengine/gram/learn/pca"
	"github.com/gramengine/gram/sparse"
	"gonum.org/v1/gonum/mat"
)

func pcaCases() map[string]testCase {
	return map[string]testCase{
		"spectrum.Leading":                  {run: leading},
		"spectrum.BlockOperator.Len":        {run: leading},
		"spectrum.BlockOperator.ApplyBlock": {run: leading},
		"spectrum.LeadingOptions.Progress":  {run: leading},
		"spectrum.LeadingBytes": {run: func(p *program) {
			n, opt := p.odd(), spectrum.LeadingOptions{K: p.odd(), Block: p.odd(), Vectors: p.odd()}
			p.quiet(fmt.Sprint(n, opt), func() { spectrum.LeadingBytes(n, opt) })
		}},
		"pca.Fit":                    {run: components},
		"pca.Bytes":                  {run: components},
		"pca.LeastBytes":             {run: components},
		"pca.Options.Progress":       {run: components},
		"pca.Components.Map":         {run: components},
		"pca.Components.Coordinates": {run: components},
		"pca.Components.Project":     {run: components},
		"pca.FitLandmarks":           {run: sketches},
		"pca.LandmarkBytes":          {run: sketches},
		"pca.Options.Passed":         {run: sketches},
	}
}

// blocks is a matrix by its products with blocks, which may fail.
type blocks struct{ *operator }

func (b blocks) ApplyBlock(_ context.Context, dst, src *mat.Dense) error {
	if b.panics != nil {
		panic(b.panics)
	}
	dst.Mul(b.Symmetric, src)
	if b.spoils != 0 {
		dst.Set(0, 0, b.spoils)
	}
	return b.fails
}

func leading(p *program) {
	try := func(b spectrum.BlockOperator, opt spectrum.LeadingOptions) func() error {
		return func() error {
			l, err := spectrum.Leading(p.ctx, b, opt)
			if err == nil {
				for _, v := range l.Values {
					finite(p, "values", []float64{v.Value, v.Residual})
				}
			}
			return err
		}
	}
	b := blocks{p.operator()}
	p.good(fmt.Sprint(b.N, " rows"), try(b, spectrum.LeadingOptions{K: pick(p, 0, 1, 3, 100)}))
	p.bad("fewer values than none", try(b, spectrum.LeadingOptions{K: -1}))
	p.bad("a tolerance that is none", try(b, spectrum.LeadingOptions{Tolerance: -1}))
	p.bad("of nil", try(nil, spectrum.LeadingOptions{}))
	p.bad("progress that panics", try(b, spectrum.LeadingOptions{Progress: func(int, int, float64) { panic(ownPanic) }}))
	wrong := *b.operator
	wrong.fails = errors.New("operator: failed")
	p.bad("of an operator that fails", try(blocks{&wrong}, spectrum.LeadingOptions{}))
	wrong = *b.operator
	wrong.spoils = p.notFinite()
	p.bad("of an operator of no numbers", try(blocks{&wrong}, spectrum.LeadingOptions{}))
	wrong = *b.operator
	wrong.length = -1
	p.bad("of fewer rows than none", try(blocks{&wrong}, spectrum.LeadingOptions{}))
}

func components(p *program) {
	k := p.kernel()
	eng, x := p.engineOf(k)
	defer eng.Close()
	opt := pca.Options{Components: pick(p, 0, 1, 3), Seed: p.Uint64()}
	p.quiet("Bytes", func() { pca.Bytes(eng, opt) })
	p.quiet("LeastBytes", func() { pca.LeastBytes(p.odd(), p.odd(), opt) })
	var c *pca.Components
	p.any(fmt.Sprint(k), func() (err error) { // documents that are the same have no components
		c, err = pca.Fit(p.ctx, eng, x, k, opt)
		return err
	})
	if c != nil {
		p.quiet("Coordinates, Map", func() { c.Coordinates(); c.Map() })
		p.good("Project", func() error { _, err := c.Project(p.ctx, eng, x); return err })
		p.bad("Project of nothing", func() error { _, err := c.Project(p.ctx, eng, nil); return err })
		p.bad("Project by nothing", func() error { _, err := c.Project(p.ctx, nil, x); return err })
		p.bad("progress that panics", func() error {
			opt.Progress = func(int, int, float64) { panic(ownPanic) }
			_, err := pca.Fit(p.ctx, eng, x, k, opt)
			return err
		})
	}
	p.bad("Project without components", func() error {
		_, err := (*pca.Components)(nil).Project(p.ctx, eng, x)
		return err
	})
	p.bad("Fit of nothing", func() error { _, err := pca.Fit(p.ctx, nil, x, k, opt); return err })
	p.bad("Fit of no documents", func() error { _, err := pca.Fit(p.ctx, eng, nil, k, opt); return err })
	p.bad("Fit by no kernel", func() error { _, err := pca.Fit(p.ctx, eng, x, nil, opt); return err })
	p.bad("Fit of fewer than none", func() error {
		_, err := pca.Fit(p.ctx, eng, x, k, pca.Options{Components: -1})
		return err
	})
}

func sketches(p *program) {
	k := p.kernel()
	docs := p.documents()
	x := p.embedded(k.Embedding(), docs)
	at := p.indices(1+p.IntN(5), docs.Rows())
	z, err := x.Embedder.TransformRows(p.ctx, docs, at, 1)
	if err != nil {
		p.fails("%v", err)
		return
	}
	eng, err := engine.New(z, p.engineOptions())
	if err != nil {
		p.fails("%v", err)
		return
	}
	defer eng.Close()
	opt := pca.Options{Components: pick(p, 0, 1, 3), Seed: p.Uint64()}
	p.quiet("LandmarkBytes", func() { pca.LandmarkBytes(eng, opt) })
	fit := func(eng *engine.Engine, z *sparse.Embedded, k engine.Kernel, docs *sparse.CSR, opt pca.Options) func() error {
		return func() error { _, err := pca.FitLandmarks(p.ctx, eng, z, k, docs, opt); return err }
	}
	p.any(fmt.Sprint(k), func() error { // documents may be all the same, kernels positive definite conditionally only
		c, err := pca.FitLandmarks(p.ctx, eng, z, k, docs, opt)
		if err != nil {
			return err
		}
		finite(p, "what is left", []float64{c.Total, c.Residual})
		_, err = c.Project(p.ctx, eng, x)
		return err
	})
	p.bad("progress that panics", fit(eng, z, engine.MustParseKernel("linear"), docs, pca.Options{
		Passed: func(int, int) { panic(ownPanic) },
	}))
	p.bad("of nothing", fit(nil, z, k, docs, opt))
	p.bad("of no landmarks", fit(eng, nil, k, docs, opt))
	p.bad("of no documents", fit(eng, z, k, nil, opt))
	p.bad("by no kernel", fit(eng, z, nil, docs, opt))
	p.bad("of fewer than none", fit(eng, z, k, docs, pca.Options{Components: -1}))
	p.bad("in too little memory", fit(eng, z, k, docs, pca.Options{MemoryBytes: 1}))
	broken, what := p.broken()
	p.bad("of "+what, fit(eng, z, k, broken, opt))
}
