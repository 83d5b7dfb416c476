//go:build cuda && cgo && linux

package cuda

import (
	"errors"
	"fmt"
	"runtime"

	"gorgonia.org/cu"

	"github.com/gramengine/gram/cuda/internal/driver"
)

// Numbers of device attributes that gorgonia.org/cu has no name for.
const sharedPerBlockOptin cu.DeviceAttribute = 97

// failed names the driver's function in its error.
func failed(call string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("cuda: %s: %w", call, err)
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
	d, err := first()
	if err != nil {
		return Info{}, err
	}
	context, err := retain(d)
	if err != nil {
		return Info{}, err
	}
	info, err := about(d)
	return info, errors.Join(err, context.release())
}

// about fills in Info; the current context is d's.
func about(d cu.Device) (info Info, err error) {
	info.Driver = version(cu.Version())
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

// current is the device's primary context, made the current one of a thread that the goroutine keeps until release: in CUDA the current context belongs to a thread.
type current struct{ d cu.Device }

func retain(d cu.Device) (current, error) {
	runtime.LockOSThread()
	c, err := d.RetainPrimaryCtx()
	if err != nil {
		runtime.UnlockOSThread()
		return current{}, failed("cuDevicePrimaryCtxRetain", err)
	}
	if err := cu.SetCurrentContext(c); err != nil {
		err = errors.Join(failed("cuCtxSetCurrent", err), failed("cuDevicePrimaryCtxRelease", d.ReleasePrimaryCtx()))
		runtime.UnlockOSThread()
		return current{}, err
	}
	return current{d}, nil
}

func (c current) release() error {
	err := failed("cuCtxSetCurrent", cu.SetCurrentContext(cu.CUContext{}))
	err = errors.Join(err, failed("cuDevicePrimaryCtxRelease", c.d.ReleasePrimaryCtx()))
	runtime.UnlockOSThread()
	return err
}

// version writes the driver's way of numbering versions of CUDA, 1000 major + 10 minor.
func version(v int) string { return fmt.Sprintf("%d.%d", v/1000, v%1000/10) }
