package main

import (
	"context"

	"github.com/gramengine/gram/asm"
	"github.com/gramengine/gram/engine"
	"github.com/gramengine/gram/sparse"
)

// defaultShare is the part of the whole rows, one of so many, on which kernels other than c are compared where none was named.
const defaultShare = 8

// rowSource gives rows of Gram matrices.
type rowSource interface {
	Rows(ctx context.Context, k engine.Kernel, rows []int, dst *engine.Dense) error
}

// cachedRows gives them from tiles of c that all kernels share.
type cachedRows struct{ c *engine.Cached }

// Rows implements rowSource.
func (s cachedRows) Rows(ctx context.Context, k engine.Kernel, rows []int, dst *engine.Dense) error {
	to := make([][]float32, len(rows))
	for r := range to {
		to[r] = dst.Row(r)
	}
	return s.c.Rows(ctx, k, rows, [][2]int{{0, dst.Cols}}, to)
}

// keepRows puts a cache that holds c of the sample's rows before every engine, where memory allows: the kernels then cost their maps alone.
func (v *verifier) keepRows(x *sparse.Embedded, s *sample, engines map[asm.ISA]*engine.Engine, source map[asm.ISA]rowSource) error {
	// A tile takes somewhat more than its values, and each worker of an engine has a block to work in.
	bytes := 5*int64(len(s.rows))*int64(s.n) + int64(v.numWorkers())<<20 + 1<<20
	if budget := v.budget(); budget > 0 && v.held+int64(len(engines))*bytes+s.bytes(x, len(engines), v.numWorkers()) > budget {
		return nil
	}
	for isa, eng := range engines {
		if isa == cudaBackend {
			continue // it has maps of its own, which a cache of c would leave out
		}
		c, err := eng.Cached(engine.CachedOptions{CacheBytes: bytes})
		if err != nil {
			return err
		}
		source[isa] = cachedRows{c}
	}
	return nil
}
