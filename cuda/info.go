package cuda

import (
	"errors"

	"github.com/gramengine/gram/engine/device"
)

// ErrNotBuilt says that this program has no GPU back end.
var ErrNotBuilt = errors.New("not built in; make cuda builds a program with it")

// ErrClosed says that a Device, or what was made of one, is used after it was closed.
var ErrClosed = errors.New("closed")

// Columns are documents on a device, the columns of the rows that it computes. They are closed before
// the device.
type Columns interface {
	device.Accelerator
	device.Reducer

	// HostBytes returns the page-locked memory that is taken at most.
	HostBytes() int64

	// Close gives back what the documents and their tiles take; a second call does nothing.
	Close() error
}

// Info is what is known of a device.
type Info struct {
	Name            string `json:"name"`
	Driver          string `json:"driver"`             // greatest CUDA version that the driver supports, such as 12.4
	Capability      string `json:"compute_capability"` // such as 9.0
	Multiprocessors int    `json:"multiprocessors"`
	MemoryBytes     int64  `json:"memory_bytes"`
	FreeBytes       int64  `json:"memory_free_bytes"`
	SharedBytes     int    `json:"shared_memory_bytes"` // that one block of threads can have
	Module          string `json:"module,omitempty"`    // file of the kernels, that of GRAM_CUDA_MODULE; "": built in
}

// KernelTime is the time that a device took for all launches of a kernel; "copy" stands for copies
// of tiles to the machine.
type KernelTime struct {
	Kernel   string  `json:"kernel"`
	Launches int     `json:"launches"`
	Seconds  float64 `json:"seconds"`
}
