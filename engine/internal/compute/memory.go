package compute

import (
	"math"
	"runtime/debug"

	"github.com/gramengine/gram/internal/run"
)

// MatrixBytes returns the size of a float32 matrix in bytes, or the largest int64 on overflow.
func MatrixBytes(rows, cols int) int64 {
	if cols > 0 && int64(rows) > math.MaxInt64/4/int64(cols) {
		return math.MaxInt64
	}
	return 4 * int64(rows) * int64(cols)
}

// CheckLimit returns a MemoryError if need, in bytes, exceeds limit. A limit of 0 means no limit.
func CheckLimit(what string, need, limit int64) error {
	if limit > 0 && need > limit {
		return &run.MemoryError{Computation: "engine: " + what, NeedBytes: need, LimitBytes: limit}
	}
	return nil
}

// AvailableMemory is run.AvailableBytes. Tests replace it.
var AvailableMemory = run.AvailableBytes

// smallBytes is the size below which free memory isn't checked, because the system call takes time.
const smallBytes = 64 << 20

// CheckFreeMemory returns a MemoryError if the computer's free memory is less than bytes. Free
// memory includes garbage of the Go heap.
func CheckFreeMemory(what string, bytes int64) error {
	if bytes > math.MaxInt {
		return &run.MemoryError{Computation: "engine: " + what, NeedBytes: bytes, LimitBytes: math.MaxInt,
			IsSystemLimit: true}
	}
	if bytes < smallBytes {
		return nil
	}
	left, known := AvailableMemory()
	if !known || bytes <= left {
		return nil
	}
	debug.FreeOSMemory()
	if left, _ = AvailableMemory(); bytes > left {
		return &run.MemoryError{Computation: "engine: " + what, NeedBytes: bytes, LimitBytes: left, IsSystemLimit: true}
	}
	return nil
}
