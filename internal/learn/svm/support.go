package svm

import (
	"context"
	"fmt"
	"sync"

	"github.com/gramengine/gram/engine"
	"github.com/gramengine/gram/internal/run"
	"github.com/gramengine/gram/sparse"
)

// supportEngine holds the engine of the support vectors, nil until it is made or if there are none,
// and lists for explanations.
type supportEngine struct {
	mu    sync.Mutex
	e     *engine.Engine
	lists *supportLists
}

// SupportEngine returns the engine of the support vectors, and makes it if weights decide and
// nothing has requested kernel values yet. It is nil for models of sets, precomputed kernels, and
// without support vectors. It fails if memory doesn't suffice, if a device fails, and when ctx is
// done.
func (p *Predictor) SupportEngine(ctx context.Context) (*engine.Engine, error) {
	p.own.mu.Lock()
	defer p.own.mu.Unlock()
	m, opt := p.m, p.opt
	if p.own.e != nil || m.Support.Rows() == 0 || p.rows > 0 {
		return p.own.e, nil
	}
	need := opt.HeldBytes + p.w.Bytes() + engine.NewBytes(m.Support.Rows(), m.Embedder.Cols(), m.Support.NNZ())
	if opt.MemoryBytes > 0 && need > opt.MemoryBytes {
		return nil, p.tooLarge(need)
	}
	x, err := m.Embedder.TransformRows(ctx, m.Support, nil, opt.Workers)
	if err != nil {
		return nil, fmt.Errorf("svm: the model's support vectors: %w", err)
	}
	own := engine.Options{ISA: opt.ISA, Workers: opt.Workers, Device: opt.Device, KeptBytes: keptBytes}
	if opt.MemoryBytes > 0 {
		own.KeptBytes = min(keptBytes, (opt.MemoryBytes-need)/4)
	}
	p.own.e, err = engine.NewContext(ctx, x, own)
	return p.own.e, err
}

// keptBytes is the maximum memory for dense support vectors. 20 Newsgroups needs 44 MiB.
const keptBytes = 256 << 20

// Engine returns the engine of the support vectors, whose Stats count dot products. It is nil if
// the model has no support vectors or, until [Predictor.SupportEngine] makes it, if weights decide.
func (p *Predictor) Engine() *engine.Engine {
	p.own.mu.Lock()
	defer p.own.mu.Unlock()
	return p.own.e
}

// supportLists holds the support vectors by column, in the length that the kernel uses: column j
// has entries first[j] to end[j]. A document's kernel values need only the columns of its terms.
type supportLists struct {
	first, end []int64
	rows       []uint32
	values     []float32
}

// bytes returns the memory of the lists.
func (l *supportLists) bytes() int64 {
	if l == nil {
		return 0
	}
	return 16*int64(len(l.end)) + 8*int64(len(l.rows))
}

// lists returns the lists, and makes them on the first call.
func (p *Predictor) lists(ctx context.Context) (*supportLists, error) {
	p.own.mu.Lock()
	defer p.own.mu.Unlock()
	if p.own.lists != nil {
		return p.own.lists, nil
	}
	f, support := p.m.Embedder, p.m.Support
	need := p.opt.HeldBytes + p.w.Bytes() + 16*int64(f.Cols()) + 8*(support.NNZ()+int64(support.Rows()))
	if p.opt.MemoryBytes > 0 && need > p.opt.MemoryBytes {
		return nil, p.tooLarge(need)
	}
	l := &supportLists{first: make([]int64, f.Cols()+1), end: make([]int64, f.Cols())}
	for _, t := range support.Terms {
		if column, ok := f.Column(t); ok {
			l.first[column+1]++
		}
	}
	l.first[f.Cols()] += int64(support.Rows()) // of support vectors without terms
	for j := range l.end {
		l.first[j+1] += l.first[j]
		l.end[j] = l.first[j]
	}
	l.rows, l.values = make([]uint32, l.first[f.Cols()]), make([]float32, l.first[f.Cols()])
	for first := 0; first < support.Rows(); first += weightRows {
		rows := run.Numbers(first, min(first+weightRows, support.Rows()))
		x, err := f.TransformRows(ctx, support, rows, p.opt.Workers)
		if err != nil {
			return nil, fmt.Errorf("svm: the model's support vectors: %w", err)
		}
		for i, row := range rows {
			terms, unit := x.Row(i)
			for at, t := range terms {
				l.rows[l.end[t]], l.values[l.end[t]] = uint32(row), float32(float64(unit[at])*p.w.length(x, i))
				l.end[t]++
			}
		}
	}
	p.own.lists = l
	return l, nil
}

// weightsRows is [Predictor.KernelRows] if weights decide, by sums in float64.
func (p *Predictor) weightsRows(ctx context.Context, docs *sparse.CSR) (*engine.Dense, error) {
	l, err := p.lists(ctx)
	if err != nil {
		return nil, err
	}
	x, err := p.m.Embedder.TransformRows(ctx, docs, nil, 1)
	if err != nil {
		return nil, err
	}
	out, sums := engine.NewDense(x.Rows(), p.m.Support.Rows()), make([]float64, p.m.Support.Rows())
	for i := range x.Rows() {
		clear(sums)
		terms, unit := x.Row(i)
		for at, t := range terms {
			v := float64(unit[at]) * p.w.length(x, i)
			rows := l.rows[l.first[t]:l.end[t]]
			for k, value := range l.values[l.first[t]:l.end[t]] {
				sums[rows[k]] += float64(v * float64(value))
			}
		}
		for s, v := range sums {
			out.Row(i)[s] = float32(v)
		}
	}
	return out, nil
}
