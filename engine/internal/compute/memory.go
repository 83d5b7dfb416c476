package compute

import (
	"fmt"
	"math"
	"runtime/debug"

	"github.com/gramengine/gram/sparse"
	"github.com/gramengine/gram/tiles"
)

// MemoryError says that a computation needs more memory than was allowed or than the system leaves to
// the program, before any of it was done.
type MemoryError struct {
	What        string // what was asked for
	Need, Limit int64  // bytes
	Machine     bool   // Limit is what the machine, its container or a limit of the process (ulimit) leaves
}

// Error names what was asked for and both numbers.
func (e *MemoryError) Error() string {
	limit := "expected at most " + sparse.FormatBytes(e.Limit)
	if e.Machine {
		limit = "the system leaves " + sparse.FormatBytes(e.Limit)
	}
	return fmt.Sprintf("engine: %s needs %s of memory, %s", e.What, sparse.FormatNeed(e.Need), limit)
}

// MatrixBytes returns the memory of a matrix of float32, the greatest int64 where it is beyond
// that.
func MatrixBytes(rows, cols int) int64 {
	if cols > 0 && int64(rows) > math.MaxInt64/4/int64(cols) {
		return math.MaxInt64
	}
	return 4 * int64(rows) * int64(cols)
}

// Together adds numbers of bytes, up to the greatest int64.
func Together(a, b int64) int64 {
	if a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}

// Allowed returns a MemoryError where need is above a limit, of which 0 is none.
func Allowed(what string, need, limit int64) error {
	if limit > 0 && need > limit {
		return &MemoryError{What: what, Need: need, Limit: limit}
	}
	return nil
}

// Available is tiles.Available; tests have it say something else.
var Available = tiles.Available

// smallBytes are few enough for nobody to ask the system, which takes time.
const smallBytes = 64 << 20

// Affordable returns a MemoryError where the machine has less than so many bytes left, or none can:
// the runtime would end the program. What is garbage, and what the runtime keeps for later, doesn't
// count as taken, so that the answer doesn't depend on when the collector ran.
func Affordable(what string, bytes int64) error {
	if bytes > math.MaxInt {
		return &MemoryError{What: what, Need: bytes, Limit: math.MaxInt, Machine: true}
	}
	if bytes < smallBytes {
		return nil
	}
	left, known := Available()
	if !known || bytes <= left {
		return nil
	}
	debug.FreeOSMemory()
	if left, _ = Available(); bytes > left {
		return &MemoryError{What: what, Need: bytes, Limit: left, Machine: true}
	}
	return nil
}
