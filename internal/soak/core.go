package soak

import (
	"context"
	"math"

	"github.com/gramengine/gram/internal/run"
)

// core is a logical CPU. Only compute may be called concurrently.
type core struct {
	Core
	room []float32
}

func newCore(id int) *core { return &core{Core: Core{ID: id}} }

// buffer returns n zeros. Later calls reuse the memory.
func (c *core) buffer(n int) []float32 {
	if cap(c.room) < n {
		c.room = make([]float32, n)
	}
	clear(c.room[:n])
	return c.room[:n]
}

// on returns a context whose tasks run on the core.
func (c *core) on(ctx context.Context, pinned bool) context.Context {
	if !pinned {
		return ctx
	}
	return run.OnWorker(ctx, func(int) func() {
		release, err := pin(c.ID)
		if err != nil {
			panic(err) // run.Tasks returns the panic as an error; without pinning, the core would be unknown
		}
		return release
	})
}

// compute runs a task on the core. It may be called concurrently.
func (c *core) compute(ctx context.Context, pin bool, t *task, out []float32) error {
	ctx = c.on(ctx, pin)
	if t.tiles != nil {
		return t.tiles(ctx, out)
	}
	return run.Tasks(ctx, 1, 1, func(context.Context, int, int) error { t.plain(out); return nil })
}

// bitsOf returns the bits of a value, which also distinguish NaN values, and 0 from -0.
func bitsOf(v float32) uint32 { return math.Float32bits(v) }

// differences returns the indices at which the values have different bits.
func differences(want, got []float32) (at []int) {
	for i, w := range want {
		if bitsOf(w) != bitsOf(got[i]) {
			at = append(at, i)
		}
	}
	return at
}
