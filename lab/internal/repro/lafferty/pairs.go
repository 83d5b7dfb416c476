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

// matrix is a matrix of kernel values in memory, with n columns.
type matrix struct {
	n int
	k []float32
}

// row returns row i.
func (m matrix) row(i int) []float32 { return m.k[i*m.n : (i+1)*m.n] }

// pairs holds c = 1 - cosine of all pairs of documents in one embedding, each computed once, from
// which the matrices of any number of kernels are mapped.
type pairs struct {
	engine *engine.Engine
	cached *engine.Cached
	m      matrix
}

// options are those of an engine of a run. stage names the dot products in progress.
func options(r *repro.Run, stage string) engine.Options {
	return engine.Options{
		ISA: r.ISA, Device: r.Device, Workers: r.Threads(), MemoryBytes: r.MemoryBytes,
		Progress: func(p engine.Progress) { r.Progress(stage, p.Done, p.Total) },
	}
}

// newPairs embeds documents and computes c of all pairs. stage names that in progress.
func newPairs(ctx context.Context, r *repro.Run, e *sparse.Embedder, docs *sparse.CSR, stage string) (*pairs, error) {
	runtime.GC() // the pairs of another embedding make room
	x, err := e.Transform(docs)
	if err != nil {
		return nil, err
	}
	g, err := engine.NewContext(ctx, x, options(r, stage))
	if err != nil {
		return nil, err
	}
	cached, err := g.Cached(engine.CachedOptions{})
	if err == nil {
		err = cached.Build(ctx)
	}
	if err != nil {
		return nil, errors.Join(err, g.Close())
	}
	n := g.Len()
	return &pairs{g, cached, matrix{n, make([]float32, n*n)}}, nil
}

// Close frees what a device holds of the documents. Nil pairs hold nothing.
func (p *pairs) Close() error {
	if p == nil {
		return nil
	}
	return p.engine.Close()
}

// stripe is how many rows are mapped at a time.
const stripe = 32

// matrix returns the whole matrix of a kernel, whose embedding is that of the pairs. It is valid
// until the next call.
func (p *pairs) matrix(ctx context.Context, kernel kernel.Kernel, workers int) (matrix, error) {
	n := p.m.n
	return p.m, run.Tasks(ctx, workers, (n+stripe-1)/stripe, func(ctx context.Context, _, at int) error {
		var rows []int
		var dst [][]float32
		for i := at * stripe; i < min((at+1)*stripe, n); i++ {
			rows, dst = append(rows, i), append(dst, p.m.row(i))
		}
		return p.cached.Rows(ctx, kernel, rows, [][2]int{{0, n}}, dst)
	})
}

// testBlock is how many documents are decided at a time: their part of the rows of several hundred
// support vectors stays in the second-level cache.
const testBlock = 512

// decide calls do with the decision values of a machine, Σ Coef[s]·row(s)[j] - Rho for document j,
// 0 <= j < n, where row(s) holds the kernel values of its support vector s.
func decide(loops *asm.Kernels, machine *solver.Machine, n int, row func(s int) []float32,
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
