package svm

import (
	"context"
	"errors"
	"fmt"

	"github.com/gramengine/gram/engine"
	"github.com/gramengine/gram/engine/kernel"
	"github.com/gramengine/gram/engine/normal"
	"github.com/gramengine/gram/internal/run"
	"github.com/gramengine/gram/solver"
)

// ofSets returns the matrix of a kernel that compares sets of points. The documents are distributions
// as normal.Distributions.Vectors makes them. Document i of the matrix is order[i] of the problem, or i
// where order is nil.
func (p *Problem) ofSets(ctx context.Context, h kernel.Hyperbolic, order []int) (solver.Matrix, error) {
	if !p.cached.Whole() { // whose room the matrix takes
		n := int64(p.Len())
		return nil, fmt.Errorf(
			"svm: the matrix of %d sets of points, %s, doesn't fit into the memory that there is for it, %s", n,
			run.FormatBytes(4*n*n), run.FormatBytes(p.budget.tiles),
		)
	}
	x, err := normal.Of(p.x)
	if bad := (*normal.DeviationError)(nil); errors.As(err, &bad) {
		return nil, fmt.Errorf("svm: document %d of %s is no set of points, expected a vector as "+
			"normal.Distributions.Vectors makes it, found the deviation %v in its last column",
			p.corpus.order[bad.Row]+1, p.corpus.source, bad.Sigma)
	}
	if err != nil {
		return nil, fmt.Errorf("svm: %s: %w", p.corpus.source, err)
	}
	if order != nil {
		x = x.In(order)
	}
	g, err := engine.NewHyperbolic(ctx, h, x, engine.Options{Workers: p.opt.Workers, Progress: p.computing})
	if err != nil {
		return nil, err
	}
	m, err := g.Gram(ctx)
	if err != nil {
		return nil, err
	}
	return solver.NewDense(m.N, m.Data)
}

// setPredictor prepares a predictor with a model of sets of points.
func (p *Predictor) setPredictor(ctx context.Context) error {
	h, _ := kernel.HyperbolicOf(p.k)
	x, err := p.m.Embedder.Transform(p.m.Support)
	if err != nil {
		return fmt.Errorf("svm: the model's support vectors: %w", err)
	}
	support, err := normal.Of(x)
	if err != nil {
		return fmt.Errorf("svm: the model's support vectors: %w", err)
	}
	p.sets, err = engine.NewHyperbolic(ctx, h, support, engine.Options{Workers: p.opt.Workers})
	return err
}

// setChunk predicts sets of points first <= i < end.
func (p *predicting) setChunk(ctx context.Context, first, end int, sums *solver.Sums) error {
	x, err := p.embed(ctx, first, end, 1)
	if err != nil {
		return err
	}
	normals, err := normal.Of(x)
	if bad := (*normal.DeviationError)(nil); errors.As(err, &bad) {
		return fmt.Errorf("svm: document %d is no set of points, as those that the model learnt from, expected a "+
			"vector as normal.Distributions.Vectors makes it, found the deviation %v in its last column",
			first+bad.Row+1, bad.Sigma)
	}
	if err != nil {
		return err
	}
	values := make([]float32, p.sets.Len())
	for i := first; i < end; i++ {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err := p.sets.Against(normals, i-first, values); err != nil {
			return err
		}
		sums.Start()
		if err := errors.Join(sums.AddRows(values, 1), p.results(sums, i, 1)); err != nil {
			return err
		}
	}
	return nil
}
