package main

import (
	"context"
	"fmt"
	"time"

	"github.com/gramengine/gram/asm"
	"github.com/gramengine/gram/engine"
	"github.com/gramengine/gram/engine/spectrum"
	"github.com/gramengine/gram/sparse"
)

// hyperbolicOn gives each kernel all values of t.
func hyperbolicOn(kernels []engine.Hyperbolic, ts []float64) ([]engine.Hyperbolic, error) {
	var out []engine.Hyperbolic
	for _, h := range kernels {
		for _, t := range ts {
			h.T = t
			h, err := engine.ParseHyperbolic(h.String()) // which knows what a t may be
			if err != nil {
				return nil, usageError{fmt.Errorf("-t: %w", err)}
			}
			out = append(out, h)
		}
	}
	return out, nil
}

// runSets adds the rows of kernels of sets of points, whose matrices are kept whole.
func (s *spectrumCall) runSets(ctx context.Context, e *env, p *progress, corpus *sparse.Corpus, r *spectrumReport) error {
	sets, err := s.setsOf(ctx, corpus)
	if err != nil {
		return err
	}
	n := len(sets.Names)
	x, held, err := s.normals(ctx, p, corpus, sets, nil)
	if err != nil {
		return err
	}
	r.Sets, r.Coordinates = n, x.P()
	for _, h := range s.ofSet {
		begin := time.Now()
		g, err := engine.NewHyperbolic(ctx, h, x, engine.Options{Workers: s.workers, MemoryBytes: int64(s.memory), Progress: p.computing})
		if err != nil {
			return err
		}
		warnUnproven(e.stderr, g.Kernel(), x.P())
		known := g.Kernel().PropertiesFor(x.P())
		row := &spectrumRow{Kernel: g.Kernel().String(), ISA: string(asm.Generic), Documents: n, Definite: known.Definite.String(), Condition: known.Condition}
		all := n <= mostWhole && !s.lanczos
		what, need := fmt.Sprintf("all eigenvalues of a Gram matrix of %s (-lanczos finds the extremes in less)", counted(n, "set", "sets")), held+g.GramBytes()+spectrum.AllBytes(n)
		if !all {
			what, need = fmt.Sprintf("the extreme eigenvalues of a Gram matrix of %s", counted(n, "set", "sets")), held+g.GramBytes()+spectrum.LanczosBytes(n, max(s.steps, 2*s.k))
		}
		if err := s.fits(what, need); err != nil {
			return err
		}
		p.stage("computing " + row.Kernel)
		m, err := g.Gram(ctx)
		if err != nil {
			return err
		}
		if all {
			err = s.wholeOf(ctx, e, p, m, need, row)
		} else {
			err = s.extremesOf(ctx, p, &gramOperator{m: m, workers: s.workers}, row)
		}
		if err != nil {
			return err
		}
		row.Seconds = time.Since(begin).Seconds()
		row.PeakBytes = peakBytes()
		row.T, row.family = parameterT(row.Kernel)
		r.Rows = append(r.Rows, row)
	}
	return nil
}
