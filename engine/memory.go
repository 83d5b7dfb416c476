package engine

import (
	"context"
	"math"

	"github.com/gramengine/gram/engine/internal/compute"
	panels "github.com/gramengine/gram/engine/internal/panel"
	"github.com/gramengine/gram/internal/run"
	"github.com/gramengine/gram/sparse"
)

// MemoryError says that a computation needs more memory than was allowed or than the machine has
// left, before any of it was done: What was asked for, Need and Limit in bytes, and Machine where
// Limit is what the machine, or the container that the program is in, has left.
type MemoryError = run.MemoryError

// ErrNotFinite is part of the error of every computation with a value of a kernel that is beyond the
// range of float32, or no number.
var ErrNotFinite = sparse.ErrNotFinite

// NewBytes returns the most memory that New can take for documents of so many rows, columns and
// values, in bytes: the embedded documents, their head/tail form, the posting lists and what making
// these takes in passing, but not the scratch space of workers. It is known before the documents
// are embedded, and New holds Options.MemoryBytes against it. Numbers below 0 count as 0, and a
// result beyond int64 is the greatest one.
func NewBytes(rows, cols int, values int64) int64 {
	rows, cols, values = max(rows, 0), max(cols, 0), max(values, 0)
	if float64(values)*40+float64(rows)*56+float64(cols)*(28+float64(rows)/(1<<14)) >= math.MaxInt64/2 {
		return math.MaxInt64
	}
	tables := 4 * int64(rows/(1<<16)+1) * int64(cols) // of posting lists, where that is more than 4 bytes a value
	return sparse.EmbeddedBytes(rows, values) + 28*values + 32*int64(rows) + 20*int64(cols) + tables
}

// ScratchBytes bounds what an engine of documents of so many rows, columns and values, and up to so many values each,
// holds for each worker beside what NewBytes says, unless its head has more than 16,384 terms. Numbers below 0 count
// as 0.
func ScratchBytes(rows, cols int, values int64, longest int) int64 {
	const panel = 64 // documents: tiles and sums, the head in dense form, visits and values
	block := int64(panels.Block(max(rows, 0), max(cols, 0), max(values, 0)))
	return 3<<18 + 4*panel*(block+int64(min(max(cols, 0), 1<<14))) + 27*panel*min(int64(max(longest, 0)), 1<<40)
}

// fits returns a MemoryError where bytes beyond what the engine holds are more than was allowed, or
// than there are, and before that the error of a ctx that has ended: nothing is allocated then.
func (e *Engine) fits(ctx context.Context, what string, bytes int64) error {
	if err := run.Given(ctx, "engine"); err != nil {
		return err
	}
	if err := compute.Allowed(what, run.AddBytes(e.Bytes(), bytes), e.memory); err != nil {
		return err
	}
	return compute.Affordable(what, bytes)
}
