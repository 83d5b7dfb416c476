package compute

import (
	"math"
	"runtime/debug"

	"github.com/gramengine/gram/internal/run"
)

// MatrixBytes returns the memory of a float32 matrix in bytes, or the largest int64 on overflow.
func MatrixBytes(rows, cols int) int64 {
	if cols > 0 && int64(rows) > math.MaxInt64/4/int64(cols) {
		return math.MaxInt64
	}
	return 4 * int64(rows) * int64(cols)
}

// Allowed returns a MemoryError if need exceeds a positive limit. A limit of 0 means no limit.
func Allowed(what string, need, limit int64) error {
	if limit > 0 && need > limit {
		return &run.MemoryError{What: "engine: " + what, Need: need, Limit: limit}
	}
	return nil
}

// Available is run.Available. Tests replace it.
var Available = run.Available

// smallBytes is the size below which free memory isn't checked, because the system call takes time.
const smallBytes = 64 << 20

// Affordable returns a MemoryError if the computer's free memory is less than bytes. Free memory
// includes garbage of the Go heap.
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
