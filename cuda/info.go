package cuda

import (
	"errors"

	"github.com/gramengine/gram/engine/device"
)

// ErrNotBuilt is returned if this program has no GPU back end.
var ErrNotBuilt = errors.New("not built into this program; build it with make cuda")

// ErrClosed is returned if a Device or its Columns are used after Close.
var ErrClosed = errors.New("closed")

// Columns are documents on a device. Requests compute rows of the Gram matrix with these columns.
// Columns must be closed before the device.
type Columns interface {
	device.Accelerator
	device.Reducer

	// HostBytes returns the maximum size in bytes of page-locked host memory for results.
	HostBytes() int64

	// Close frees the documents and their tiles. It is idempotent.
	Close() error
}

// Info describes a device and its driver.
type Info struct {
	Name            string `json:"name"`
	Driver          string `json:"driver"`             // highest CUDA version that the driver supports, such as 12.4
	Capability      string `json:"compute_capability"` // compute capability, such as 9.0
	Multiprocessors int    `json:"multiprocessors"`
	MemoryBytes     int64  `json:"memory_bytes"`
	FreeBytes       int64  `json:"memory_free_bytes"`
	SharedBytes     int    `json:"shared_memory_bytes"` // maximum shared memory per thread block
	Module          string `json:"module,omitempty"`    // kernel file (GRAM_CUDA_MODULE), if any
}

// KernelTime is the total duration of all launches of a kernel. The kernel "copy" stands for copies
// of tiles to the host.
type KernelTime struct {
	Kernel   string  `json:"kernel"`
	Launches int     `json:"launches"`
	Seconds  float64 `json:"seconds"`
}
