package engine

import (
	"errors"

	"github.com/gramengine/gram/asm"
	"github.com/gramengine/gram/engine/device"
	"github.com/gramengine/gram/engine/internal/panel"
	"github.com/gramengine/gram/sparse"
)

// Aliases for types of package device and of the CPU back end.
type (
	Device       = device.Backend     // back end that computes c, for example on a GPU
	Stats        = device.Stats       // counters since the engine was made
	DenseOperand = panel.DenseOperand // selection of dense rows or dense columns
)

// Head describes the dense terms. TermCount is the number of dense terms, which are the most
// frequent terms. SegmentCount is the number of segments of the head. DenseOperand determines
// whether rows or columns are dense. PredictedTime is the estimated time for the dot products of
// one triangle of the Gram matrix on one core.
type Head = panel.Head

// With DenseRows, each panel of rows is stored densely and multiplied by all columns. With
// DenseColumns, all columns are stored densely and multiplied by each row.
const (
	DenseRows    DenseOperand = panel.DenseRows
	DenseColumns DenseOperand = panel.DenseColumns
)

// Info describes an engine.
type Info struct {
	Documents *sparse.Embedded

	Backend string       // name of the instruction set or device
	Kernels *asm.Kernels // kernels of the instruction set
	Workers int          // number of goroutines
	Bytes   int64        // memory of the documents and the back end, in bytes
	Head    Head         // head of the CPU back end, without PredictedTime; zero if a device computes c
	Heads   []Head       // heads that the cost model compared, in order of TermCount; nil if a device computes c

	// Recommended settings for calls of [Engine.EachTile] with test documents: rows per call,
	// concurrent calls, and workers per call. A device needs large batches, and computes one batch
	// while the next batch is embedded.
	BatchRows, ConcurrentBatches, BatchWorkers int
}

// Info returns the properties of the engine. Later computations may increase Bytes.
func (e *Engine) Info() Info {
	c := e.c
	i := Info{Documents: c.X, Backend: c.Backend.Name(), Kernels: c.Kernels, Workers: c.Workers, Bytes: c.Bytes()}
	i.BatchRows, i.ConcurrentBatches, i.BatchWorkers = e.planBatches()
	if b, ok := c.Backend.(*panel.Backend); ok {
		i.Head, i.Heads = b.Heads()
	}
	return i
}

func (e *Engine) planBatches() (rows, atOnce, workers int) {
	if b, ok := e.c.Backend.(device.Accelerator); ok {
		return max(b.BatchRows(), 1), 2, e.c.Workers
	}
	return 256, e.c.Workers, 1
}

// Stats returns the counts of all completed computations.
func (e *Engine) Stats() Stats { return e.c.Stats() }

// Close frees the back end's resources. No computation may be running. Computations after Close
// fail. Close is idempotent, and does nothing for a nil engine.
func (e *Engine) Close() error {
	if e == nil || e.closed.Swap(true) || e.c.Backend == nil {
		return nil
	}
	return e.c.Backend.Close()
}

func (e *Engine) checkOpen() error {
	if e.closed.Load() {
		return errors.New("engine: the engine is closed")
	}
	return nil
}
