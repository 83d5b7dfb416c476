package panel

import (
	"context"

	"github.com/gramengine/gram/engine/device"
	"github.com/gramengine/gram/sparse"
)

// prepared are documents of rows in head/tail form, which is the same for every request.
type prepared struct {
	side
}

// Bytes implements [device.Prepared].
func (p *prepared) Bytes() int64 { return p.bytes() }

// Prepare implements [device.Preparer], on one goroutine.
func (b *Backend) Prepare(ctx context.Context, x *sparse.Embedded) (device.Prepared, error) {
	f := b.lend()
	defer b.takeBack(f)
	p := new(prepared)
	return p, b.split(ctx, f, &p.side, x, 1)
}

// PreparedBytes implements [device.Preparer]: a value takes 8 bytes in the tail and 6 in the head, a
// document 8 in the tail and 10 in each segment, and each of these a little more.
func (b *Backend) PreparedBytes(rows int, values int64) int64 {
	segments := int64(len(b.own.head))
	return 8*values + int64(rows)*(8+10*segments) + 256*(1+segments)
}
