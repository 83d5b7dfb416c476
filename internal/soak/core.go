package soak

import (
	"context"
	"math"

	"github.com/gramengine/gram/internal/run"
)

// core is a logical CPU. Only compute may be called concurrently.
type core struct {
	Core
	scratch []float32
}

func newCore(id int) *core { return &core{Core: Core{ID: id}} }

// buffer returns n zeros. Later calls reuse the memory.
func (c *core) buffer(n int) []float32 {
	if cap(c.scratch) < n {
		c.scratch = make([]float32, n)
	}
	clear(c.scratch[:n])
	return c.scratch[:n]
}

// pinnedContext returns a context whose tasks run on the core, or ctx if pinned is false.
func (c *core) pinnedContext(ctx context.Context, pinned bool) context.Context {
	if !pinned {
		return ctx
	}
	return run.WithWorkerHook(ctx, func(int) func() {
		release, err := pinThread(c.ID)
		if err != nil {
			panic(err) // run.Tasks returns the panic as an error; an unpinned task would run on an unknown core
		}
		return release
	})
}

func (c *core) compute(ctx context.Context, pin bool, t *task, out []float32) error {
	ctx = c.pinnedContext(ctx, pin)
	if t.computeTiles != nil {
		return t.computeTiles(ctx, out)
	}
	return run.Tasks(ctx, 1, 1, func(context.Context, int, int) error { t.compute(out); return nil })
}

// bitsOf returns the bits of a value, which also distinguish NaN values, and 0 from -0.
func bitsOf(v float32) uint32 { return math.Float32bits(v) }

func differingIndices(want, got []float32) (at []int) {
	for i, w := range want {
		if bitsOf(w) != bitsOf(got[i]) {
			at = append(at, i)
		}
	}
	return at
}
