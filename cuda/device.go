//go:build cuda && cgo && linux

package cuda

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"sync"
	"sync/atomic"

	"gorgonia.org/cu"

	"github.com/gramengine/gram/cuda/internal/driver"
	"github.com/gramengine/gram/cuda/internal/timemodel"
)

// sharedPerBlockOptin is a device attribute that gorgonia.org/cu doesn't define.
const sharedPerBlockOptin cu.DeviceAttribute = 97

// Built reports whether this program contains the GPU back end.
const Built = true

// failed wraps an error of a driver function with the function's name.
func failed(call string, err error) error {
	if err == nil {
		return nil
	}
	return &Failure{fmt.Errorf("%s: %w", call, err)}
}

// first returns the first device visible to the driver (see CUDA_VISIBLE_DEVICES).
func first() (cu.Device, error) {
	if err := driver.Open(); err != nil {
		return 0, err
	}
	n, err := cu.NumDevices()
	if err != nil {
		return 0, failed("cuDeviceGetCount", err)
	}
	if n == 0 {
		return 0, errors.New("the CUDA driver found no device")
	}
	d, err := cu.GetDevice(0)
	return d, failed("cuDeviceGet", err)
}

// Probe returns information about the device that [Open] would open, or an error.
func Probe() (Info, error) {
	d, err := Open(Options{})
	if err != nil {
		return Info{}, err
	}
	return d.Info(), d.Close()
}

// Device is an open GPU. It may be used concurrently, but computations run one at a time.
type Device struct {
	handle
	d       cu.Device
	context cu.CUContext
	info    Info
	limit   int64 // maximum device memory in bytes
	tile    atomic.Int64

	image string // kernels as PTX or cubin

	denseShare int64 // argument share of timemodel.Costs.Terms
	tailShare  int64 // argument tail of newLayout; 0 except in tests and benchmarks
	rows       int   // rows per tile; computedRows except in tests
	// interpret emulates a kernel, or returns false if the driver must run it; nil except in tests.
	interpret func(name string, blocks [2]int, threads, shared int, parameters []uint64) (bool, error)

	mu      sync.Mutex // guards the fields below and serialises computations
	held    int64      // bytes allocated
	arena   arena      // memory of the current request
	kernels *kernels   // nil until first needed
	times   times
}

// Open opens the first device visible to the driver (see CUDA_VISIBLE_DEVICES). The caller must
// close it.
func Open(opt Options) (*Device, error) {
	if opt.MemoryBytes < 0 {
		return nil, fmt.Errorf("cuda: MemoryBytes must be positive, or 0 for no limit, got %d", opt.MemoryBytes)
	}
	file := os.Getenv(moduleVariable)
	image, err := readModule(file)
	if err != nil {
		return nil, err
	}
	d, err := first()
	if err != nil {
		return nil, err
	}
	dev := &Device{d: d, limit: opt.MemoryBytes, image: image, rows: computedRows}
	dev.handle = handle{d: dev, what: "device", live: true}
	dev.arena.rest.d = dev
	dev.times.on = os.Getenv(timesVariable) == "1"
	if opt.Tensor {
		dev.denseShare = timemodel.ByModel
	}
	dev.tile.Store(defaultTileBytes)
	if dev.context, err = d.RetainPrimaryCtx(); err != nil {
		return nil, failed("cuDevicePrimaryCtxRetain", err)
	}
	err = dev.do(func() (err error) {
		if dev.info, err = about(d); err == nil && file != "" {
			dev.info.Module = file
			err = checkModule(file, image, dev.info.Capability)
		}
		return err
	})
	if err != nil {
		return nil, errors.Join(err, failed("cuDevicePrimaryCtxRelease", d.ReleasePrimaryCtx()))
	}
	if dev.limit == 0 {
		dev.limit = dev.info.FreeBytes / 10 * 9
	}
	return dev, nil
}

// Info returns the information obtained when the device was opened.
func (d *Device) Info() Info { return d.info }

// Close closes the device. It is idempotent. It fails if Columns loaded on the device are still
// open.
func (d *Device) Close() error {
	first, err := d.end(func() error {
		err := errors.Join(d.free(&d.arena.block), d.times.close())
		if d.kernels != nil {
			err = errors.Join(err, d.kernels.close())
			d.kernels = nil
		}
		return err
	})
	if first {
		err = errors.Join(err, failed("cuDevicePrimaryCtxRelease", d.d.ReleasePrimaryCtx()))
	}
	return err
}

// inContext runs work while the device's context is current. If the context can't be set, began is
// false. The caller must hold d.mu. CUDA has a current context per OS thread, so the goroutine is
// locked to its thread.
func (d *Device) inContext(work func() error) (began bool, err error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := cu.SetCurrentContext(d.context); err != nil {
		return false, failed("cuCtxSetCurrent", err)
	}
	// This must also run if work panics.
	defer func() { err = errors.Join(err, failed("cuCtxSetCurrent", cu.SetCurrentContext(cu.CUContext{}))) }()
	defer d.times.drop()
	if err = work(); err == nil {
		err = d.times.collect()
	}
	return true, err
}

func about(d cu.Device) (info Info, err error) {
	v := cu.Version()
	if v < 0 {
		return info, &Failure{errors.New("cuDriverGetVersion failed")} // gorgonia.org/cu reports no details
	}
	info.Driver = version(v)
	if info.Name, err = d.Name(); err != nil {
		return info, failed("cuDeviceGetName", err)
	}
	major, minor, err := d.ComputeCapability()
	if err != nil {
		return info, failed("cuDeviceGetAttribute", err)
	}
	info.Capability = fmt.Sprintf("%d.%d", major, minor)
	if info.Multiprocessors, err = d.Attribute(cu.MultiprocessorCount); err != nil {
		return info, failed("cuDeviceGetAttribute", err)
	}
	if info.SharedBytes, err = d.Attribute(sharedPerBlockOptin); err != nil {
		return info, failed("cuDeviceGetAttribute", err)
	}
	info.FreeBytes, info.MemoryBytes, err = cu.MemInfo()
	return info, failed("cuMemGetInfo", err)
}

// version formats a CUDA version number, which is 1000 major + 10 minor.
func version(v int) string { return fmt.Sprintf("%d.%d", v/1000, v%1000/10) }
