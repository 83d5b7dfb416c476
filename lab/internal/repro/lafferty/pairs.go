package lafferty

import (
	"context"
	"errors"
	"runtime"

	"github.com/gramengine/gram/asm"
	"github.com/gramengine/gram/engine"
	"github.com/gramengine/gram/engine/kernel"
	"github.com/gramengine/gram/internal/run"
	"github.com/gramengine/gram/lab/internal/repro"
	"github.com/gramengine/gram/solver"
	"github.com/gramengine/gram/sparse"
)

type matrix struct {
	n int
	k []float32
}

func (m matrix) row(i int) []float32 { return m.k[i*m.n : (i+1)*m.n] }

// products holds c = 1 - cosine for pairs of row and column documents in one embedding, and a
// buffer for a kernel's matrix.
type products struct {
	c                  []float32
	rowNorms, colNorms []float32 // norms of rows and columns
	m                  matrix
}

// newProducts computes c for all pairs. If rows and columns are the same documents, it computes
// each pair once.
func newProducts(ctx context.Context, r *repro.Env, rows, cols *sparse.Embedded,
	report *repro.Report) (p *products, err error) {
	runtime.GC() // free the products of the previous embedding
	stage := "dot products of " + cols.Embedder.Embedding.String()
	g, err := engine.NewContext(ctx, cols, engine.Options{
		ISA: r.ISA, Device: r.Device, Workers: r.NumWorkers(), MemoryBytes: r.MemoryBytes,
		Progress: func(p engine.Progress) { r.ReportProgress(stage, p.Done, p.Total) },
	})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, g.Close()) }()
	c, err := kernel.ParseIn("c", cols.Embedder.Embedding)
	if err != nil {
		return nil, err
	}
	p = &products{rowNorms: toFloat32(rows.Norms), colNorms: toFloat32(cols.Norms)}
	if rows == cols {
		all, err := g.Gram(ctx, c, nil)
		if err != nil {
			return nil, err
		}
		p.c = all.Data
	} else {
		all, err := g.Rows(ctx, c, engine.Request{TestDocuments: rows}, nil)
		if err != nil {
			return nil, err
		}
		p.c = all.Data
	}
	report.DotProductCount += g.Stats().Pairs
	p.m = matrix{len(p.colNorms), make([]float32, len(p.c))}
	return p, nil
}

func toFloat32(v []float64) []float32 {
	out := make([]float32, len(v))
	for i := range v {
		out[i] = float32(v[i])
	}
	return out
}

// matrix returns the matrix of kernel k. The result is valid until the next call.
func (p *products) matrix(ctx context.Context, k kernel.Kernel, loops *asm.Kernels, workers int) (matrix, error) {
	return p.m, run.Tasks(ctx, workers, len(p.rowNorms), func(_ context.Context, _, i int) error {
		return kernel.Apply(k, loops, p.m.row(i), p.c[i*p.m.n:(i+1)*p.m.n], p.rowNorms[i:i+1], p.colNorms)
	})
}

// testBlock is the number of documents classified at a time. With this many columns, the rows of
// several hundred support vectors fit into the L2 cache.
const testBlock = 512

// forEachDecision calls do with a classifier's decision value, Σ Coef[s]·row(s)[j] - Rho, for each
// document j < n. row must return the kernel values of support vector s.
func forEachDecision(loops *asm.Kernels, machine *solver.DecisionFunction, n int, row func(s int) []float32,
	do func(j int, value float64)) {
	var rows [][]float32
	for s := range machine.Support {
		rows = append(rows, row(s))
	}
	var values [testBlock]float64
	for lo := 0; lo < n; lo += testBlock {
		sums := values[:min(testBlock, n-lo)]
		for i := range sums {
			sums[i] = -machine.Rho
		}
		loops.AddRows(sums, rows, lo, machine.Coef)
		for i, v := range sums {
			do(lo+i, v)
		}
	}
}
