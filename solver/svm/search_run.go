package svm

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/gramengine/gram/engine"
	"github.com/gramengine/gram/solver"
	"github.com/gramengine/gram/sparse"
)

// run goes through the embeddings of the grid.
func (q *searching) run(ctx context.Context, problem func(sparse.Embedding) (*Problem, error)) error {
	var done []sparse.Embedding
	for _, k := range q.g.Kernels {
		e := k.Embedding()
		if slices.Contains(done, e) {
			continue
		}
		done = append(done, e)
		p, err := problem(e)
		if err != nil {
			return err
		}
		if p == nil {
			return fmt.Errorf("svm: no problem for kernels of the embedding %s, and no error", e)
		}
		before := p.Cache().Computed
		err = q.embedding(ctx, p, e)
		q.out.DotProducts += p.Cache().Computed - before
		if err != nil {
			return err
		}
	}
	return nil
}

// embedding searches the kernels of one embedding.
func (q *searching) embedding(ctx context.Context, p *Problem, e sparse.Embedding) (err error) {
	var specs []kernelAt
	var kernels []engine.Kernel
	for i, k := range q.g.Kernels {
		if k.Embedding() == e {
			k = engine.Resolve(k, len(p.x.Embedder.Terms))
			if _, err := p.cached.Matrix(k); err != nil { // before any work is done
				return err
			}
			specs, kernels = append(specs, kernelAt{i, k}), append(kernels, k)
		}
	}
	ours, err := p.onMachine(&q.s, kernels...)
	if err != nil {
		return err
	}
	f, err := p.fold(&q.s, q.g.Folds, q.g.Seed, ours)
	if err != nil {
		return err
	}
	opt, err := f.options(len(q.cells))
	if err != nil {
		return err
	}
	begin := time.Now()
	if ours {
		if err := p.cached.Build(ctx); err != nil {
			return err
		}
	}
	q.out.Gram += time.Since(begin)
	begin = time.Now()
	defer func() { q.out.Solve += time.Since(begin) }()
	p.training.Store(true)
	defer p.training.Store(false)
	ctx, report := q.relay.start(ctx, p.opt.Progress)
	defer report.finish(&err)

	opt.Progress = q.solving
	var way path
	for _, at := range inPath(specs) {
		out, err := q.kernel(ctx, f, at.kernel, way.lead(at.kernel), opt)
		if err != nil {
			return err
		}
		if err := q.keep(f, at, out); err != nil {
			return err
		}
		way.add(at.kernel, out[q.first()])
	}
	return nil
}

// kernel validates the cells of a kernel, where its rows are best kept.
func (q *searching) kernel(ctx context.Context, f *folded, k engine.Kernel, near []weighted, opt solver.Options) (out []outcome, err error) {
	m, err := f.place(ctx, k)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, m.close()) }()
	q.out.SolvedOn, q.out.Unplaced = cmp.Or(m.backend(f.p), q.out.SolvedOn), cmp.Or(m.unplaced, q.out.Unplaced)
	opt.DeviceScores = m.board
	return f.validate(ctx, m.matrix, q.cells, near, opt)
}

// first is the cell that the solver takes first, whose solution is where the next kernel begins.
func (q *searching) first() int {
	best := 0
	for i, c := range q.cells {
		if b := q.cells[best]; cmp.Or(cmp.Compare(c.nu, b.nu), cmp.Compare(c.epsilon, b.epsilon), cmp.Compare(c.c, b.c)) < 0 {
			best = i
		}
	}
	return best
}
