package panel

import (
	"context"

	"github.com/gramengine/gram/engine/device"
	"github.com/gramengine/gram/sparse"
)

// Prepare implements [device.Preparer], on one goroutine.
func (b *Backend) Prepare(ctx context.Context, x *sparse.Embedded) (device.Prepared, error) {
	f := b.lend()
	defer b.takeBack(f)
	s := new(side) // in head/tail form, which is the same for every request
	return s, b.split(ctx, f, s, x, 1)
}

// PreparedBytes implements [device.Preparer]: a value takes 8 bytes in the tail and 6 in the head, a
// document 8 in the tail and 10 in each segment, and each of these a little more.
func (b *Backend) PreparedBytes(rows int, values int64) int64 {
	segments := int64(len(b.own.head))
	return 8*values + int64(rows)*(8+10*segments) + 256*(1+segments)
}
