package cuda

import "errors"

// ErrNotBuilt says that this program has no GPU back end.
var ErrNotBuilt = errors.New("not built in; make cuda builds a program with it")

// ErrClosed says that a Device, or what was made of one, is used after it was closed.
var ErrClosed = errors.New("closed")

// Info is what is known of a device.
type Info struct {
	Name            string `json:"name"`
	Driver          string `json:"driver"`             // greatest CUDA version that the driver supports, such as 12.4
	Capability      string `json:"compute_capability"` // such as 9.0
	Multiprocessors int    `json:"multiprocessors"`
	MemoryBytes     int64  `json:"memory_bytes"`
	FreeBytes       int64  `json:"memory_free_bytes"`
	SharedBytes     int    `json:"shared_memory_bytes"` // that one block of threads can have
	Module          string `json:"module,omitempty"`    // file of the kernels, see Options.Module; "": built in
}

// KernelTime is the time that a device took for all launches of a kernel; "copy" stands for copies
// of tiles to the machine.
type KernelTime struct {
	Kernel   string  `json:"kernel"`
	Launches int     `json:"launches"`
	Seconds  float64 `json:"seconds"`
}
