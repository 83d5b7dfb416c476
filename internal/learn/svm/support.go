package svm

import (
	"context"
	"fmt"
	"sync"

	"github.com/gramengine/gram/engine"
)

type supportEngine struct {
	mu sync.Mutex
	e  *engine.Engine
}

// SupportEngine returns the engine of the support vectors. If predictions use weights, the first
// call makes the engine. The engine is nil if the kernel is precomputed, or if there are no support
// vectors. It fails if memory doesn't suffice, if the embedding rejects a support vector, if a
// device fails, and when ctx is done.
func (p *Predictor) SupportEngine(ctx context.Context) (*engine.Engine, error) {
	p.support.mu.Lock()
	defer p.support.mu.Unlock()
	m, opt := p.m, p.opt
	if p.support.e != nil || m.Support.Rows() == 0 || p.rows > 0 {
		return p.support.e, nil
	}
	need := opt.HeldBytes + p.w.Bytes() + engine.MaxEngineBytes(m.Support.Rows(), m.Embedder.Cols(), m.Support.NNZ())
	if opt.MemoryBytes > 0 && need > opt.MemoryBytes {
		return nil, p.memoryError(need)
	}
	x, err := m.Embedder.TransformRows(ctx, m.Support, nil, opt.Workers)
	if err != nil {
		return nil, fmt.Errorf("svm: support vectors: %w", err)
	}
	own := engine.Options{ISA: opt.ISA, Workers: opt.Workers, Device: opt.Device, DenseCopyBytes: maxDenseSupportBytes}
	if opt.MemoryBytes > 0 {
		own.DenseCopyBytes = min(maxDenseSupportBytes, (opt.MemoryBytes-need)/4)
	}
	p.support.e, err = engine.NewContext(ctx, x, own)
	return p.support.e, err
}

// maxDenseSupportBytes is the maximum memory for dense support vectors. 20 Newsgroups needs 44 MiB.
const maxDenseSupportBytes = 256 << 20

// Engine returns the engine of the support vectors, whose Stats count dot products. It is nil if
// the kernel is precomputed, if there are no support vectors, and after Close. If predictions use
// weights, it is nil until [Predictor.SupportEngine] makes it.
func (p *Predictor) Engine() *engine.Engine {
	p.support.mu.Lock()
	defer p.support.mu.Unlock()
	return p.support.e
}
