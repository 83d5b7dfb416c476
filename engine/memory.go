package engine

import (
	"context"
	"math"

	"github.com/gramengine/gram/engine/internal/compute"
	panels "github.com/gramengine/gram/engine/internal/panel"
	"github.com/gramengine/gram/internal/run"
	"github.com/gramengine/gram/sparse"
)

// MemoryError reports, before a computation, that it needs more memory than is allowed or free; see
// [corpus.MemoryError] for its fields What, Need, Limit, Machine, Enough and Source.
type MemoryError = run.MemoryError

// ErrNotFinite is wrapped by the error of a computation that meets a kernel value outside float32, or NaN.
var ErrNotFinite = sparse.ErrNotFinite

// NewBytes bounds the memory of New for documents with so many rows, columns and values, in bytes: the embedded
// documents, their head/tail form, posting lists and temporary copies, without the workers' scratch space. New compares
// it with Options.MemoryBytes.
func NewBytes(rows, cols int, values int64) int64 {
	if float64(values)*40+float64(rows)*56+float64(cols)*(28+float64(rows)/(1<<14)) >= math.MaxInt64/2 {
		return math.MaxInt64
	}
	tables := 4 * int64(rows/(1<<16)+1) * int64(cols) // of posting lists, if that is more than 4 bytes a value
	return sparse.EmbeddedBytes(rows, values) + 28*values + 32*int64(rows) + 20*int64(cols) + tables
}

// ScratchBytes bounds the memory per worker beside NewBytes, for rows of up to longest values each, unless the head has
// more than 16,384 terms.
func ScratchBytes(rows, cols int, values int64, longest int) int64 {
	const panel = 64 // documents: tiles and sums, the head in dense form, visits and values
	block := int64(panels.Block(rows, cols, values))
	return 3<<18 + 4*panel*(block+int64(min(cols, 1<<14))) + 27*panel*min(int64(longest), 1<<40)
}

// HeldBytes estimates the memory of an engine of text, with the scratch space of so many workers, in bytes.
func HeldBytes(rows, cols int, values int64, longest, workers int) int64 {
	scratch := (9<<18 + ScratchBytes(rows, cols, values, longest)) / 4 // the bound without its constant part is far off
	return 24*values + 40*int64(rows) + 8*int64(cols) + int64(workers)*scratch
}

// fits returns the error of ctx, or a MemoryError if so many bytes beyond what the engine holds exceed its bound or the
// machine's memory.
func (e *Engine) fits(ctx context.Context, what string, bytes int64) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err := compute.Allowed(what, run.AddBytes(e.c.Bytes(), bytes), e.memory); err != nil {
		return err
	}
	return compute.Affordable(what, bytes)
}
