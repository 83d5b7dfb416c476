package main

import (
	"context"
	"fmt"

	"github.com/gramengine/gram/engine"
	"github.com/gramengine/gram/engine/spectrum"
)

// longSeconds is what a computation may take without being announced.
const longSeconds = 5

// whole computes all eigenvalues.
func (s *spectrumCall) whole(ctx context.Context, e *env, p *progress, eng *engine.Engine, k engine.Kernel, row *spectrumRow) error {
	n := eng.Len()
	need := runtimeBytes + eng.Bytes() + eng.GramBytes() + spectrum.AllBytes(n)
	if err := s.fits(fmt.Sprintf("all eigenvalues of %s (-lanczos finds the extremes in less)", gramOf(n)), need); err != nil {
		return err
	}
	p.stage("computing " + row.Kernel)
	m, err := eng.Gram(ctx, k)
	if err != nil {
		return err
	}
	return s.wholeOf(ctx, e, p, m, need, row)
}

// wholeOf computes all eigenvalues of a matrix, for which so many bytes are needed in all.
func (s *spectrumCall) wholeOf(ctx context.Context, e *env, p *progress, m *engine.Symmetric, need int64, row *spectrumRow) error {
	n := m.N
	seconds := estimateAll(ctx, n)
	if seconds > longSeconds {
		p.clear()
		fmt.Fprintf(e.stderr, "grambench: all %s eigenvalues of %s take about %.0f s and %s of memory\n", formatCount(n), row.Kernel, seconds, formatBytes(need))
	}
	p.stage("eigenvalues of " + row.Kernel)
	stop := p.expect(seconds)
	values, err := allOf(ctx, m, s.centre)
	stop()
	if err != nil {
		return err
	}
	row.take(values, s.k, s.radii)
	return nil
}

// extremes finds the extremes by Lanczos, beside documents that take so many bytes.
func (s *spectrumCall) extremes(ctx context.Context, p *progress, eng *engine.Engine, k engine.Kernel, held int64, row *spectrumRow) error {
	n := eng.Len()
	base := runtimeBytes + held + eng.Bytes() + spectrum.LanczosBytes(n, max(s.steps, 2*s.k))
	op := &gramOperator{eng: eng, k: k, workers: s.workers}
	budget := s.budget()
	p.stage("computing " + row.Kernel)
	if whole := base + eng.GramBytes(); budget == 0 || whole <= budget {
		var err error
		if op.m, err = eng.Gram(ctx, k); err != nil {
			return err
		}
	} else if err := s.fits("the extreme eigenvalues of "+gramOf(n), base+eng.StripesBytes()); err != nil {
		return err
	}
	return s.extremesOf(ctx, p, op, row)
}

// extremesOf finds the extremes of a matrix by its products.
func (s *spectrumCall) extremesOf(ctx context.Context, p *progress, op *gramOperator, row *spectrumRow) error {
	trace, squares, err := op.traces(ctx, s.centre)
	if err != nil {
		return err
	}
	var a spectrum.Operator = op
	if s.centre {
		a = spectrum.CentreOperator(op)
	}
	p.stage("Lanczos for " + row.Kernel)
	p.held = true // a product's progress is not the whole's
	defer func() { p.held = false }()
	found, err := spectrum.Lanczos(ctx, a, spectrum.Options{K: s.k, Steps: s.steps, Seed: s.seed,
		Progress: func(step, steps int, _ float64) { p.update(int64(step), int64(steps)) }})
	if err != nil {
		return err
	}
	row.takeExtremes(found, trace, squares, s.radii)
	return nil
}
