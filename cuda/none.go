//go:build !(cuda && cgo && linux)

package cuda

import (
	"context"

	"github.com/gramengine/gram/sparse"
)

// Probe returns what is known of the device that [Open] takes, or why there is none: here,
// ErrNotBuilt.
func Probe() (Info, error) { return Info{}, ErrNotBuilt }

// Built reports whether this program has the back end: it hasn't.
const Built = false

// Device is a GPU; here there is none.
type Device struct{}

// Open returns ErrNotBuilt.
func Open(opt Options) (*Device, error) { return nil, ErrNotBuilt }

// Info returns what was known when the device was opened.
func (d *Device) Info() Info { return Info{} }

// KernelTimes returns nothing.
func (d *Device) KernelTimes() []KernelTime { return nil }

// Close does nothing.
func (d *Device) Close() error { return nil }

// Load returns ErrNotBuilt.
func (d *Device) Load(ctx context.Context, x *sparse.Embedded) (Columns, error) {
	return nil, ErrNotBuilt
}
