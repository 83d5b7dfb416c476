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

func driverError(call string, err error) error {
	if err == nil {
		return nil
	}
	return &DeviceError{fmt.Errorf("%s: %w", call, err)}
}

// firstDevice returns the first device visible to the driver (see CUDA_VISIBLE_DEVICES).
func firstDevice() (cu.Device, error) {
	if err := driver.Open(); err != nil {
		return 0, err
	}
	n, err := cu.NumDevices()
	if err != nil {
		return 0, driverError("cuDeviceGetCount", err)
	}
	if n == 0 {
		return 0, errors.New("the CUDA driver found no device")
	}
	d, err := cu.GetDevice(0)
	return d, driverError("cuDeviceGet", err)
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
	d           cu.Device
	context     cu.CUContext
	info        Info
	limit       int64 // maximum device memory in bytes
	bufferBytes atomic.Int64

	module string // kernels as PTX or cubin

	denseShare int64 // argument share of timemodel.Costs.DenseTerms
	tailShare  int64 // argument tail of newLayout; nonzero only in tests and benchmarks
	tileRows   int   // maximum number of rows of a tile; differs from computedRows only in tests
	// interpret emulates a kernel, or returns false if the driver must run it. Only tests set it.
	interpret func(name string, blocks [2]int, threads, shared int, parameters []uint64) (bool, error)

	mu        sync.Mutex // guards the fields below and serialises computations
	allocated int64
	arena     arena    // memory of the current request
	kernels   *kernels // nil until first needed
	timer     kernelTimer
}

// Open opens the first device visible to the driver (see CUDA_VISIBLE_DEVICES). The caller must
// close the device.
func Open(opt Options) (*Device, error) {
	if opt.MemoryBytes < 0 {
		return nil, fmt.Errorf("cuda: MemoryBytes must be positive, or 0 for no limit, got %d", opt.MemoryBytes)
	}
	file := os.Getenv(moduleVariable)
	image, err := readModule(file)
	if err != nil {
		return nil, err
	}
	d, err := firstDevice()
	if err != nil {
		return nil, err
	}
	dev := &Device{d: d, limit: opt.MemoryBytes, module: image, tileRows: computedRows}
	dev.handle = handle{d: dev, description: "device", isOpen: true}
	dev.arena.overflow.d = dev
	dev.timer.enabled = os.Getenv(timingVariable) == "1"
	if opt.Tensor {
		dev.denseShare = timemodel.ByModel
	}
	dev.bufferBytes.Store(defaultTileBytes)
	if dev.context, err = d.RetainPrimaryCtx(); err != nil {
		return nil, driverError("cuDevicePrimaryCtxRetain", err)
	}
	err = dev.withDevice(func() (err error) {
		if dev.info, err = deviceInfo(d); err == nil && file != "" {
			dev.info.Module = file
			err = checkModule(file, image, dev.info.Capability)
		}
		return err
	})
	if err != nil {
		return nil, errors.Join(err, driverError("cuDevicePrimaryCtxRelease", d.ReleasePrimaryCtx()))
	}
	if dev.limit == 0 {
		dev.limit = dev.info.FreeBytes / 10 * 9
	}
	return dev, nil
}

// Info returns the device's properties, as read by [Open].
func (d *Device) Info() Info { return d.info }

// Close closes the device. It is idempotent. It fails if [Columns] on the device are still open.
func (d *Device) Close() error {
	first, err := d.end(func() error {
		err := errors.Join(d.free(&d.arena.block), d.timer.close())
		if d.kernels != nil {
			err = errors.Join(err, d.kernels.close())
			d.kernels = nil
		}
		return err
	})
	if first {
		err = errors.Join(err, driverError("cuDevicePrimaryCtxRelease", d.d.ReleasePrimaryCtx()))
	}
	return err
}

// inContext calls work while the device's context is current. It returns began = false if the
// context can't be set. The caller must hold d.mu. Because CUDA has a current context per OS
// thread, inContext locks the goroutine to its thread.
func (d *Device) inContext(work func() error) (began bool, err error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := cu.SetCurrentContext(d.context); err != nil {
		return false, driverError("cuCtxSetCurrent", err)
	}
	// Clear the thread's current context, even if work panics.
	defer func() { err = errors.Join(err, driverError("cuCtxSetCurrent", cu.SetCurrentContext(cu.CUContext{}))) }()
	defer d.timer.discard()
	if err = work(); err == nil {
		err = d.timer.collect()
	}
	return true, err
}

func deviceInfo(d cu.Device) (info Info, err error) {
	v := cu.Version()
	if v < 0 {
		return info, &DeviceError{errors.New("cuDriverGetVersion failed")} // gorgonia.org/cu reports no details
	}
	info.Driver = formatVersion(v)
	if info.Name, err = d.Name(); err != nil {
		return info, driverError("cuDeviceGetName", err)
	}
	major, minor, err := d.ComputeCapability()
	if err != nil {
		return info, driverError("cuDeviceGetAttribute", err)
	}
	info.Capability = fmt.Sprintf("%d.%d", major, minor)
	if info.Multiprocessors, err = d.Attribute(cu.MultiprocessorCount); err != nil {
		return info, driverError("cuDeviceGetAttribute", err)
	}
	if info.SharedBytes, err = d.Attribute(sharedPerBlockOptin); err != nil {
		return info, driverError("cuDeviceGetAttribute", err)
	}
	info.FreeBytes, info.MemoryBytes, err = cu.MemInfo()
	return info, driverError("cuMemGetInfo", err)
}

// formatVersion formats a CUDA version number, which is 1000 major + 10 minor.
func formatVersion(v int) string { return fmt.Sprintf("%d.%d", v/1000, v%1000/10) }
