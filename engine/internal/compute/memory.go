package compute

import (
	"math"
	"runtime/debug"

	"github.com/gramengine/gram/internal/run"
)

// MatrixBytes returns the memory of a matrix of float32, the greatest int64 where it is beyond
// that.
func MatrixBytes(rows, cols int) int64 {
	if cols > 0 && int64(rows) > math.MaxInt64/4/int64(cols) {
		return math.MaxInt64
	}
	return 4 * int64(rows) * int64(cols)
}

// Allowed returns a MemoryError where need is above a limit, of which 0 is none.
func Allowed(what string, need, limit int64) error {
	if limit > 0 && need > limit {
		return &run.MemoryError{What: "engine: " + what, Need: need, Limit: limit}
	}
	return nil
}

// Available is run.Available; tests have it say something else.
var Available = run.Available

// smallBytes are few enough for nobody to ask the system, which takes time.
const smallBytes = 64 << 20

// Affordable returns a MemoryError if the machine has less than so many bytes left. Garbage counts as free.
func Affordable(what string, bytes int64) error {
	if bytes > math.MaxInt {
		return &run.MemoryError{What: "engine: " + what, Need: bytes, Limit: math.MaxInt, Machine: true}
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
		return &run.MemoryError{What: "engine: " + what, Need: bytes, Limit: left, Machine: true}
	}
	return nil
}
