package engine

import (
	"errors"

	"github.com/gramengine/gram/asm"
	"github.com/gramengine/gram/engine/device"
	"github.com/gramengine/gram/engine/internal/panel"
	"github.com/gramengine/gram/sparse"
)

// Aliases for types of package device and of the processor's back end that this package's functions take or
// return.
type (
	Device = device.Backend // what computes c in place of the processor
	Stats  = device.Stats   // counts what an engine has computed since it was made
	Roles  = panel.Roles    // which documents the panels hold
)

// Head is a choice of terms that dense panels hold: the number of Terms, the most frequent ones, in so many Segments,
// for the documents that Roles says. Predicted is the time for all dot products of the symmetric half on one core.
type Head = panel.Head

// The roles of documents: dense are those of a panel of rows, which all columns pass, or all columns, which rows pass.
const (
	DenseRows    Roles = panel.DenseRows
	DenseColumns Roles = panel.DenseColumns
)

// Info describes an engine.
type Info struct {
	Documents *sparse.Embedded

	Backend string       // instruction set, or the device
	Kernels *asm.Kernels // functions of the instruction set
	Workers int          // goroutines
	Bytes   int64        // memory for the documents and the back end
	Head    Head         // of the processor's back end; empty if a device computes, as Heads is
	Heads   []Head       // choices that the cost model compared, by number of terms

	// How test documents are best passed to [Engine.Each]: rows per call, concurrent calls, and workers per call. A
	// device prefers many rows, of which the next are embedded meanwhile.
	BatchRows, Batches, BatchWorkers int
}

// Info returns what the engine is made of at the moment.
func (e *Engine) Info() Info {
	c := e.c
	i := Info{Documents: c.X, Backend: c.Backend.Name(), Kernels: c.Kernels, Workers: c.Workers, Bytes: c.Bytes()}
	i.BatchRows, i.Batches, i.BatchWorkers = e.batches()
	if b, ok := c.Backend.(*panel.Backend); ok {
		i.Head, i.Heads = b.Heads()
	}
	return i
}

func (e *Engine) batches() (rows, atOnce, workers int) {
	if b, ok := e.c.Backend.(device.Accelerator); ok {
		return max(b.BatchRows(), 1), 2, e.c.Workers
	}
	return 256, e.c.Workers, 1
}

// Stats returns the counts of all computations that have ended or given up a worker.
func (e *Engine) Stats() Stats { return e.c.Stats() }

// Close releases a device; an engine without one needs no closing. No computation may be running, and later ones fail.
// It is idempotent, and does nothing if e is nil.
func (e *Engine) Close() error {
	if e == nil || e.closed.Swap(true) || e.c.Backend == nil {
		return nil
	}
	return e.c.Backend.Close()
}

// open returns an error if the engine is closed.
func (e *Engine) open() error {
	if e.closed.Load() {
		return errors.New("engine: it is closed, and can't be used any more")
	}
	return nil
}
