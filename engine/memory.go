package engine

import (
	"fmt"

	"github.com/gramengine/gram/sparse"
)

// MemoryError says that a computation needs more memory than was allowed, before any of it was done.
type MemoryError struct {
	What        string // what was asked for
	Need, Limit int64  // bytes
}

// Error names what was asked for and both numbers.
func (e *MemoryError) Error() string {
	return fmt.Sprintf("engine: %s needs %s of memory, expected at most %s", e.What, sparse.FormatBytes(e.Need), sparse.FormatBytes(e.Limit))
}

// NewBytes returns the most memory that New can take for documents of so many rows, columns and values, in bytes: the embedded documents, their
// head/tail form, the posting lists and what making these takes in passing, but not the scratch space of workers. It is known
// before the documents are embedded, and New holds Options.MemoryBytes against it.
func NewBytes(rows, cols int, values int64) int64 {
	return sparse.EmbeddedBytes(rows, values) + 28*values + 32*int64(rows) + 28*int64(cols)
}

// fits returns a MemoryError where bytes beyond what the engine holds are more than was allowed.
func (e *Engine) fits(what string, bytes int64) error {
	if need := e.Bytes() + bytes; e.memory > 0 && need > e.memory {
		return &MemoryError{what, need, e.memory}
	}
	return nil
}
