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

// Numbers of device attributes that gorgonia.org/cu has no name for.
const sharedPerBlockOptin cu.DeviceAttribute = 97

// Built reports whether this program has the back end: it has.
const Built = true

// failed names the driver's function in its error.
func failed(call string, err error) error {
	if err == nil {
		return nil
	}
	return &Failure{fmt.Errorf("%s: %w", call, err)}
}

// first returns the device that computes: the driver's first, which CUDA_VISIBLE_DEVICES decides.
func first() (cu.Device, error) {
	if err := driver.Open(); err != nil {
		return 0, err
	}
	n, err := cu.NumDevices()
	if err != nil {
		return 0, failed("cuDeviceGetCount", err)
	}
	if n == 0 {
		return 0, errors.New("a CUDA driver without a device")
	}
	d, err := cu.GetDevice(0)
	return d, failed("cuDeviceGet", err)
}

// Probe returns what is known of the device that [Open] takes, or why there is none.
func Probe() (Info, error) {
	d, err := Open(Options{})
	if err != nil {
		return Info{}, err
	}
	return d.Info(), d.Close()
}

// Device is a GPU that is in use. It may be used concurrently; one computation runs at a time.
type Device struct {
	handle
	d       cu.Device
	context cu.CUContext
	info    Info
	limit   int64 // bytes of device memory that may be taken
	tile    atomic.Int64

	image string // the kernels: PTX or a cubin

	denseShare int64 // see timemodel's Costs.Terms
	tailShare  int64 // of the layout: 0, but in tests and benchmarks
	rows       int   // that are computed at a time: computedRows, but in tests
	// runs a kernel in the place of the driver and reports whether it did; nil but in tests
	interpret func(name string, blocks [2]int, threads, shared int, parameters []uint64) (bool, error)

	mu      sync.Mutex // held by whoever uses what follows, or computes
	held    int64      // bytes taken
	arena   arena      // of the request under way
	kernels *kernels   // nil until they are needed
	times   times
}

// Open takes the driver's first device, which CUDA_VISIBLE_DEVICES decides, or says why there is
// none. The caller closes it.
func Open(opt Options) (*Device, error) {
	if opt.MemoryBytes < 0 {
		return nil, fmt.Errorf("cuda: %d bytes of memory, expected a positive number, or 0", opt.MemoryBytes)
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

// Info returns what was known when the device was opened.
func (d *Device) Info() Info { return d.info }

// Close gives the device back; a second call does nothing. Columns that were loaded must be closed
// before: otherwise it does nothing but say so.
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

// inContext does work where the device's context can be made the current one, and reports whether that
// was so; d.mu is locked. In CUDA the current context belongs to a thread of the system, so the
// goroutine keeps its thread meanwhile.
func (d *Device) inContext(work func() error) (began bool, err error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := cu.SetCurrentContext(d.context); err != nil {
		return false, failed("cuCtxSetCurrent", err)
	}
	// also after a panic of a caller's function
	defer func() { err = errors.Join(err, failed("cuCtxSetCurrent", cu.SetCurrentContext(cu.CUContext{}))) }()
	defer d.times.drop()
	if err = work(); err == nil {
		err = d.times.collect()
	}
	return true, err
}

// about fills in Info; the current context is d's.
func about(d cu.Device) (info Info, err error) {
	v := cu.Version()
	if v < 0 {
		return info, &Failure{errors.New("cuDriverGetVersion failed")} // all that gorgonia.org/cu lets through
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

// version writes the driver's way of numbering versions of CUDA, 1000 major + 10 minor.
func version(v int) string { return fmt.Sprintf("%d.%d", v/1000, v%1000/10) }
