//go:build cuda && cgo && linux

// Package driver loads libcuda.so.1 on first use and provides its entry points to gorgonia.org/cu.
// It adds driver functions that gorgonia.org/cu lacks, for pinned memory and for more than 48 KiB
// of shared memory. A program that imports this package links and starts without a driver.
package driver

/*
#cgo CFLAGS: -O2
#cgo LDFLAGS: -L${SRCDIR}/lib -ldl -lpthread
#include "calls.h"
#include "loader.h"
*/
import "C"

import (
	"fmt"
	"unsafe"

	"gorgonia.org/cu"
)

// Open loads the CUDA driver. It fails if there is no driver or no device. Later calls return the
// result of the first call.
func Open() error {
	switch rc := C.loader_open(); rc {
	case C.LOADER_OK:
		return nil
	case C.LOADER_NO_LIBRARY:
		if words := C.loader_error(); words != nil {
			return fmt.Errorf("no CUDA driver: %s", C.GoString(words))
		}
		return fmt.Errorf("no CUDA driver: libcuda.so.1 has no cuInit")
	case C.LOADER_NO_DEVICE:
		return fmt.Errorf("the CUDA driver found no device")
	default:
		return fmt.Errorf("cuInit: %w", driverError(rc))
	}
}

// driverError converts a driver result to gorgonia.org/cu's error type, which isn't exported.
func driverError(rc C.int) error {
	return convert(cu.Success, int(rc))
}

func convert[T ~int](_ T, v int) T { return T(v) }

// HostAlloc allocates page-locked memory, which is required for copies that overlap computations.
// The caller must free the memory with [HostFree]. A CUDA context must be current.
func HostAlloc(bytes int64) (unsafe.Pointer, error) {
	var p unsafe.Pointer
	if rc := C.calls_host_alloc(&p, C.size_t(bytes)); rc != 0 {
		return nil, fmt.Errorf("cuMemHostAlloc of %d bytes: %w", bytes, driverError(rc))
	}
	return p, nil
}

// HostFree frees memory that [HostAlloc] has allocated. It returns the driver's error, if any.
func HostFree(p unsafe.Pointer) error {
	if rc := C.calls_host_free(p); rc != 0 {
		return fmt.Errorf("cuMemFreeHost: %w", driverError(rc))
	}
	return nil
}

// AllowShared sets the maximum size of a function's dynamic shared memory, which is 48 KiB by
// default.
func AllowShared(f cu.Function, bytes int) error {
	if rc := C.calls_allow_shared(*(*C.uintptr_t)(unsafe.Pointer(&f)), C.int(bytes)); rc != 0 {
		return fmt.Errorf("cuFuncSetAttribute of %d bytes of shared memory: %w", bytes, driverError(rc))
	}
	return nil
}
