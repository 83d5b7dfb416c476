package svm

import (
	"context"
	"slices"

	"github.com/gramengine/gram/engine"
	"github.com/gramengine/gram/engine/kernel"
	"github.com/gramengine/gram/solver"
)

// gramMatrix is a Gram matrix on a problem's documents. Unless it is precomputed, only its diagonal
// is computed initially.
type gramMatrix struct {
	p    *Problem
	rows *engine.Matrix // matrix that the engine computes; nil for a precomputed kernel
}

// gram returns the matrix of a resolved kernel. It fails if the kernel doesn't match the embedding
// of the problem's documents, or if it needs norms that aren't valid.
func (p *Problem) gram(k kernel.Kernel) (gramMatrix, error) {
	if p.values != nil {
		return gramMatrix{p: p}, nil
	}
	m, err := p.cached.Matrix(k)
	return gramMatrix{p: p, rows: m}, err
}

// trainingMatrix returns the matrix to train on, and a function that frees it. If docs isn't nil,
// the matrix has only these documents. Otherwise, trainingMatrix first computes the matrix or its
// tiles of c, if they fit into memory.
func (g gramMatrix) trainingMatrix(ctx context.Context, docs []int) (solver.Matrix, func(), error) {
	keep := func() {}
	if g.rows == nil {
		m, err := g.dense(nil)
		return m, keep, err
	}
	if docs != nil {
		some, err := g.rows.Submatrix(ctx, docs)
		if err != nil {
			return nil, nil, err
		}
		m, err := solver.NewDense(some.N, some.Data)
		return m, keep, err
	}
	if g.p.opt.SingleUse {
		ready, err := g.rows.Materialise(ctx)
		if err != nil {
			return nil, nil, err
		}
		if ready != nil {
			m, err := solver.NewDense(ready.N, ready.Data)
			return m, ready.Close, err // Close frees memory for the next training run
		}
	}
	return g.rows, keep, g.p.cached.Build(ctx)
}

// dense returns a precomputed matrix. Document i of the matrix is order[i] of the problem, or i if
// order is nil.
func (g gramMatrix) dense(order []int) (solver.Matrix, error) {
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

func (p *Problem) checkKernel(k kernel.Kernel) error {
	_, err := p.gram(k)
	return err
}
