package engine

import (
	"context"
	"math"

	"github.com/gramengine/gram/engine/internal/compute"
	panels "github.com/gramengine/gram/engine/internal/panel"
	"github.com/gramengine/gram/engine/kernel"
	"github.com/gramengine/gram/internal/run"
	"github.com/gramengine/gram/sparse"
)

// MemoryError reports that a computation needs more memory than is allowed or free. The computation
// hasn't started. The fields Computation, NeedBytes, LimitBytes, LimitSource, IsSystemLimit,
// IsTotalNeed and Source are described at [corpus.MemoryError].
type MemoryError = run.MemoryError

// ErrNotFinite is wrapped by errors for kernel values that are NaN or overflow float32.
var ErrNotFinite = kernel.ErrNotFinite

// MaxEngineBytes returns an upper bound on the bytes that New needs for documents with the given
// numbers of rows, columns and values. It includes the embedded documents, the back end's copy and
// temporary copies, but not the workers' scratch space. New compares it with Options.MemoryBytes.
func MaxEngineBytes(rows, cols int, values int64) int64 {
	if float64(values)*40+float64(rows)*56+float64(cols)*(28+float64(rows)/(1<<14)) >= math.MaxInt64/2 {
		return math.MaxInt64
	}
	tables := 4 * int64(rows/(1<<16)+1) * int64(cols) // offsets of posting lists
	return sparse.EmbeddedBytes(rows, values) + 28*values + 32*int64(rows) + 20*int64(cols) + tables
}

// ScratchBytes returns an upper bound on the scratch space of a worker in bytes. longest is the
// maximum number of values per document. The bound holds if the head has at most 16,384 terms.
func ScratchBytes(rows, cols int, values int64, longest int) int64 {
	const panel = 64 // documents per panel
	block := int64(panels.TailBlockDocs(rows, cols, values))
	return 3<<18 + 4*panel*(block+int64(min(cols, 1<<14))) + 27*panel*min(int64(longest), 1<<40)
}

// EstimatedBytes estimates the bytes of an engine for text, including the workers' scratch space.
func EstimatedBytes(rows, cols int, values int64, longest, workers int) int64 {
	scratch := (9<<18 + ScratchBytes(rows, cols, values, longest)) / 4 // on text, workers need far less than the bound
	return 24*values + 40*int64(rows) + 8*int64(cols) + int64(workers)*scratch
}

// checkFits returns a MemoryError if the engine's memory plus bytes exceed Options.MemoryBytes, or
// if bytes exceed the free memory. It fails if ctx is done.
func (e *Engine) checkFits(ctx context.Context, what string, bytes int64) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err := compute.CheckLimit(what, run.AddBytes(e.c.Bytes(), bytes), e.memoryLimit); err != nil {
		return err
	}
	return compute.CheckFreeMemory(what, bytes)
}
