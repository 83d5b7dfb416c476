package cuda

import (
	"errors"

	"github.com/gramengine/gram/engine/device"
)

// ErrNotBuilt is returned if this program has no GPU back end.
var ErrNotBuilt = errors.New("not built in; make cuda builds a program with it")

// ErrClosed is returned if a Device or its columns are used after Close.
var ErrClosed = errors.New("closed")

// Columns are documents on a device: the columns of the rows that it computes. They must be closed
// before the device.
type Columns interface {
	device.Accelerator
	device.Reducer

	// HostBytes returns the maximum page-locked memory.
	HostBytes() int64

	// Close frees the documents and their tiles. It is idempotent.
	Close() error
}

// Info describes a device.
type Info struct {
	Name            string `json:"name"`
	Driver          string `json:"driver"`             // highest CUDA version that the driver supports, such as 12.4
	Capability      string `json:"compute_capability"` // such as 9.0
	Multiprocessors int    `json:"multiprocessors"`
	MemoryBytes     int64  `json:"memory_bytes"`
	FreeBytes       int64  `json:"memory_free_bytes"`
	SharedBytes     int    `json:"shared_memory_bytes"` // maximum per block of threads
	Module          string `json:"module,omitempty"`    // file of the kernels (GRAM_CUDA_MODULE); "": built in
}

// KernelTime is the total time of all launches of a kernel; "copy" is the time of copying tiles to
// the host.
type KernelTime struct {
	Kernel   string  `json:"kernel"`
	Launches int     `json:"launches"`
	Seconds  float64 `json:"seconds"`
}
