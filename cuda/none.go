//go:build !(cuda && cgo && linux)

package cuda

import (
	"context"

	"github.com/gramengine/gram/engine/device"
	"github.com/gramengine/gram/sparse"
)

// Probe returns what is known of the device that [Open] takes, or why there is none: here,
// ErrNotBuilt.
func Probe() (Info, error) { return Info{}, ErrNotBuilt }

// Built says whether this program has the back end: it hasn't.
const Built = false

// Device is a GPU; here there is none.
type Device struct{}

// Columns is a set of documents on a device; here there is none.
type Columns struct{}

// Open returns ErrNotBuilt.
func Open(Options) (*Device, error) { return nil, ErrNotBuilt }

// Info returns what was known when the device was opened.
func (d *Device) Info() Info { return Info{} }

// KernelTimes returns nothing.
func (d *Device) KernelTimes() []KernelTime { return nil }

// Close does nothing.
func (d *Device) Close() error { return nil }

// Load returns ErrNotBuilt.
func (d *Device) Load(context.Context, *sparse.Embedded) (*Columns, error) { return nil, ErrNotBuilt }

// Name returns nothing.
func (c *Columns) Name() string { return "" }

// Rows returns ErrNotBuilt.
func (c *Columns) Rows(context.Context, *device.Request, func(t *device.Tile) error) error {
	return ErrNotBuilt
}

// BatchRows returns 0.
func (c *Columns) BatchRows() int { return 0 }

// HostBytes returns 0.
func (c *Columns) HostBytes() int64 { return 0 }

// Least returns ErrNotBuilt.
func (c *Columns) Least(context.Context, *device.Request, int, []int32, []float32) error {
	return ErrNotBuilt
}

// Multiply returns ErrNotBuilt.
func (c *Columns) Multiply(context.Context, *device.Request, []float64, int, []float64) error {
	return ErrNotBuilt
}

// Digest returns ErrNotBuilt.
func (c *Columns) Digest(context.Context, *device.Request) (uint64, error) { return 0, ErrNotBuilt }

// Resident returns ErrNotBuilt.
func (c *Columns) Resident(*device.Program) (device.Resident, error) { return nil, ErrNotBuilt }

// Close does nothing.
func (c *Columns) Close() error { return nil }
