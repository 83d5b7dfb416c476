package repro

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/gramengine/gram/engine"
	"github.com/gramengine/gram/sparse"
)

// Pairs holds c = 1 - cosine of all pairs of documents in one embedding, each computed once, from which the matrices of any number of kernels are mapped.
type Pairs struct {
	engine *engine.Engine
	cached *engine.Cached
	n      int
}

// NewPairs embeds documents and computes c of all pairs; idf weights are those of all documents. stage is what the progress says.
func (r *Run) NewPairs(ctx context.Context, docs *sparse.CSR, e sparse.Embedding, stage string) (*Pairs, error) {
	return r.newPairs(ctx, e.Fit(docs), docs, stage)
}

// newPairs is NewPairs with an embedding that was fitted before.
func (r *Run) newPairs(ctx context.Context, e *sparse.Embedder, docs *sparse.CSR, stage string) (*Pairs, error) {
	runtime.GC() // those of another embedding make room, before the collector would come by itself
	x, err := e.Transform(docs)
	if err != nil {
		return nil, err
	}
	opt := engine.Options{ISA: r.ISA, Device: r.Device, Workers: r.Threads(), MemoryBytes: r.MemoryBytes, Progress: func(p engine.Progress) { r.Progress(stage, p.Done, p.Total) }}
	g, err := engine.NewContext(ctx, x, opt)
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
	return &Pairs{g, cached, g.Len()}, nil
}

// Close gives back what a device holds of the documents. Nil pairs hold nothing.
func (p *Pairs) Close() error {
	if p == nil {
		return nil
	}
	return p.engine.Close()
}

// DotProducts is how many were computed.
func (p *Pairs) DotProducts() int64 { return p.engine.Stats().Pairs }

// stripe is how many rows are mapped at a time.
const stripe = 32

// Fill writes the whole matrix of a kernel, whose embedding is that of the pairs, to k: n×n values.
func (p *Pairs) Fill(ctx context.Context, kernel engine.Kernel, k []float32, workers int) error {
	switch {
	case len(k) != p.n*p.n:
		return fmt.Errorf("repro: %d values in k, expected %d for %d documents", len(k), p.n*p.n, p.n)
	case workers < 1:
		return fmt.Errorf("repro: %d workers, expected 1 or more", workers)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var next atomic.Int64
	var all sync.WaitGroup
	for range workers {
		all.Go(func() {
			for ctx.Err() == nil {
				lo := int(next.Add(stripe)) - stripe
				if lo >= p.n {
					return
				}
				var rows []int
				var dst [][]float32
				for i := lo; i < min(lo+stripe, p.n); i++ {
					rows, dst = append(rows, i), append(dst, k[i*p.n:(i+1)*p.n])
				}
				if err := p.cached.Rows(ctx, kernel, rows, [][2]int{{0, p.n}}, dst); err != nil {
					cancel(err)
				}
			}
		})
	}
	all.Wait()
	return context.Cause(ctx)
}
