//go:build cuda && cgo && linux

// Package driver gives gorgonia.org/cu the entry points of the CUDA driver by opening libcuda.so.1
// when a device is first asked for, and what that package lacks of the driver: pinned memory and
// more than 48 KiB of shared memory. A program with it links and starts on machines without a
// driver.
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

// Open returns nil where there is a CUDA driver with a device, and otherwise why not. It looks
// once; later calls say the same.
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
		return fmt.Errorf("a CUDA driver without a device")
	default:
		return fmt.Errorf("cuInit: %w", failed(rc))
	}
}

// failed is a result of the driver as the error that gorgonia.org/cu has for it, whose type has no
// name outside.
func failed(rc C.int) error {
	return convert(cu.Success, int(rc))
}

func convert[T ~int](_ T, v int) T { return T(v) }

// HostAlloc returns page-locked memory, from and to which copies run beside computations. It
// belongs to the caller, who gives it to [HostFree]. The current context must be set.
func HostAlloc(bytes int64) (unsafe.Pointer, error) {
	var p unsafe.Pointer
	if rc := C.calls_host_alloc(&p, C.size_t(bytes)); rc != 0 {
		return nil, fmt.Errorf("cuMemHostAlloc of %d bytes: %w", bytes, failed(rc))
	}
	return p, nil
}

// HostFree gives memory of [HostAlloc] back.
func HostFree(p unsafe.Pointer) error {
	if rc := C.calls_host_free(p); rc != 0 {
		return fmt.Errorf("cuMemFreeHost: %w", failed(rc))
	}
	return nil
}

// AllowShared lets launches of a function take up to bytes of dynamic shared memory; without it the
// bound is 48 KiB.
func AllowShared(f cu.Function, bytes int) error {
	if rc := C.calls_allow_shared(*(*C.uintptr_t)(unsafe.Pointer(&f)), C.int(bytes)); rc != 0 {
		return fmt.Errorf("cuFuncSetAttribute of %d bytes of shared memory: %w", bytes, failed(rc))
	}
	return nil
}
