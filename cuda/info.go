package cuda

import "errors"

// ErrNotBuilt says that this program has no GPU back end.
var ErrNotBuilt = errors.New("not built in; make cuda builds a program with it")

// Info is what is known of a device.
type Info struct {
	Name            string `json:"name"`
	Driver          string `json:"driver"`             // greatest CUDA version that the driver supports, such as 12.4
	Capability      string `json:"compute_capability"` // such as 9.0
	Multiprocessors int    `json:"multiprocessors"`
	MemoryBytes     int64  `json:"memory_bytes"`
	FreeBytes       int64  `json:"memory_free_bytes"`
	SharedBytes     int    `json:"shared_memory_bytes"` // that one block of threads can have
}
