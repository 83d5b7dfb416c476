package soak

import (
	"context"
	"math"

	"github.com/gramengine/gram/internal/run"
)

// core is a logical processor at work. One goroutine at a time uses it, but for compute.
type core struct {
	Core
	room []float32
}

func newCore(id int) *core { return &core{Core: Core{ID: id}} }

// buffer is room for so many values, which hold nothing of the task before.
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
			panic(err) // comes back as an error: what isn't pinned names no core
		}
		return release
	})
}

// compute does a task on the core. It may be called concurrently.
func (c *core) compute(ctx context.Context, pin bool, t *task, out []float32) error {
	ctx = c.on(ctx, pin)
	if t.tiles != nil {
		return t.tiles(ctx, out)
	}
	return run.Tasks(ctx, 1, 1, func(context.Context, int, int) error { t.plain(out); return nil })
}

// bitsOf are the bits of a value: no two that differ are equal, NaN and -0 included.
func bitsOf(v float32) uint32 { return math.Float32bits(v) }

// differences are the places where values don't have the same bits.
func differences(want, got []float32) (at []int) {
	for i, w := range want {
		if bitsOf(w) != bitsOf(got[i]) {
			at = append(at, i)
		}
	}
	return at
}
