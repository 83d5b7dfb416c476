//go:build !(cuda && cgo && linux)

package cuda

import (
	"context"

	"github.com/gramengine/gram/sparse"
)

// Probe returns ErrNotBuilt, because this program has no GPU back end.
func Probe() (Info, error) { return Info{}, ErrNotBuilt }

// Built reports whether this program contains the GPU back end.
const Built = false

// Device is a GPU, which this program can't open.
type Device struct{}

// Open returns ErrNotBuilt.
func Open(opt Options) (*Device, error) { return nil, ErrNotBuilt }

// Info returns the zero Info.
func (d *Device) Info() Info { return Info{} }

// KernelTimes returns nil.
func (d *Device) KernelTimes() []KernelTime { return nil }

// Close does nothing.
func (d *Device) Close() error { return nil }

// Load returns ErrNotBuilt.
func (d *Device) Load(ctx context.Context, x *sparse.Embedded) (Columns, error) {
	return nil, ErrNotBuilt
}
