package engine

import (
	"errors"

	"github.com/gramengine/gram/engine/device"
	"github.com/gramengine/gram/engine/internal/panel"
)

// Aliases for types of package device and of the processor's back end that this package's functions take or
// return.
type (
	Device = device.Backend // what computes c in place of the processor
	Stats  = device.Stats   // counts what an engine has computed since it was made
	Head   = panel.Head     // a choice of the terms that the dense panels hold
	Roles  = panel.Roles    // which documents the panels hold
)

// The roles of documents: dense are those of a panel of rows, which all columns pass, or all columns, which rows pass.
const (
	DenseRows    = panel.DenseRows
	DenseColumns = panel.DenseColumns
)

// Backend names what computes: the instruction set, or the device.
func (e *Engine) Backend() string { return e.c.Backend.Name() }

// Heads returns what the cost model of the processor's back end predicts for the possible choices
// of the head, in the order of their number of terms; nil where a device computes. That of the
// least predicted time is taken unless Options.HeadTerms says otherwise.
func (e *Engine) Heads() []Head {
	if b, ok := e.c.Backend.(interface{ Heads() []Head }); ok {
		return b.Heads()
	}
	return nil
}

// HeadTerms returns the number of terms in the dense head of the processor's back end, 0 where a
// device computes.
func (e *Engine) HeadTerms() int {
	if b, ok := e.c.Backend.(interface{ HeadTerms() int }); ok {
		return b.HeadTerms()
	}
	return 0
}

// Roles returns which documents the processor's back end holds in dense form, 0 where a device computes.
func (e *Engine) Roles() Roles {
	if b, ok := e.c.Backend.(interface{ Roles() Roles }); ok {
		return b.Roles()
	}
	return 0
}

// Batches says how documents are best handed to [Engine.Each] with Test: so many rows at a time, from
// so many goroutines, each of which may have so many workers. The processor takes few rows from
// each of its workers; a device takes many, and the next ones are got ready meanwhile.
func (e *Engine) Batches() (rows, atOnce, workers int) {
	if b, ok := e.c.Backend.(device.Accelerator); ok {
		return max(b.BatchRows(), 1), 2, e.c.Workers
	}
	return 256, e.c.Workers, 1
}

// Stats returns the counts of all computations that have ended or given up a worker; it may be
// called at any time.
func (e *Engine) Stats() Stats { return e.c.Stats() }

// Close gives back what a device holds. An engine without one needs no closing. No computation may
// be under way, and those that begin afterwards come back with an error. Closing it again does
// nothing.
func (e *Engine) Close() error {
	if e == nil || e.c == nil {
		return e.open()
	}
	if e.closed.Swap(true) || e.c.Backend == nil {
		return nil
	}
	return e.c.Backend.Close()
}

// open returns an error where the engine is closed, or isn't one of New.
func (e *Engine) open() error {
	if e == nil || e.c == nil {
		return errors.New("engine: an engine that New didn't make")
	}
	if e.closed.Load() {
		return errors.New("engine: it is closed, and can't be used any more")
	}
	return nil
}
