package svm

import (
	"context"
	"slices"

	"github.com/gramengine/gram/engine"
	"github.com/gramengine/gram/engine/kernel"
	"github.com/gramengine/gram/solver"
)

// gram is the Gram matrix of a kernel on the documents of a problem; nothing of it is computed yet but
// the diagonal.
type gram struct {
	p    *Problem
	rows *engine.Matrix // one that the engine computes; nil for others
}

// gram returns the matrix of a kernel that is resolved. It fails if the problem has no matrix of the kernel.
func (p *Problem) gram(k kernel.Kernel) (gram, error) {
	if p.values != nil {
		return gram{p: p}, nil
	}
	m, err := p.cached.Matrix(k)
	return gram{p: p, rows: m}, err
}

// train returns the matrix to train on, of some documents where these aren't nil, computed where all of
// it fits into memory, and a function that frees it.
func (g gram) train(ctx context.Context, docs []int) (solver.Matrix, func(), error) {
	keep := func() {}
	if g.rows == nil {
		m, err := g.dense(nil)
		return m, keep, err
	}
	if docs != nil {
		some, err := g.rows.Of(ctx, docs)
		if err != nil {
			return nil, nil, err
		}
		m, err := solver.NewDense(some.N, some.Data)
		return m, keep, err
	}
	if g.p.opt.Once {
		ready, err := g.rows.Ready(ctx)
		if err != nil {
			return nil, nil, err
		}
		if ready != nil {
			m, err := solver.NewDense(ready.N, ready.Data)
			return m, ready.Close, err // the next training has its room
		}
	}
	return g.rows, keep, g.p.cached.Build(ctx)
}

// dense returns the matrix where the engine doesn't compute it. Document i of it is order[i] of the
// problem, or i where order is nil.
func (g gram) dense(order []int) (solver.Matrix, error) {
	n, data := g.p.Len(), g.p.values
	if !slices.IsSorted(order) {
		data = make([]float32, n*n)
		for i, from := range order {
			for j, doc := range order {
				data[i*n+j] = g.p.values[from*n+doc]
			}
		}
	}
	return solver.NewDense(n, data)
}

// suits checks that the problem has values of the kernel.
func (p *Problem) suits(k kernel.Kernel) error {
	_, err := p.gram(k)
	return err
}
