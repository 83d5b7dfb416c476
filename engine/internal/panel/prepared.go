package panel

import (
	"context"

	"github.com/gramengine/gram/engine/device"
	"github.com/gramengine/gram/sparse"
)

// Prepare implements [device.Preparer] with one goroutine.
func (b *Backend) Prepare(ctx context.Context, x *sparse.Embedded) (device.Prepared, error) {
	f := b.acquireRowDocs()
	defer b.releaseRowDocs(f)
	s := new(docSet) // head and tail, which are the same for every request
	return s, b.split(ctx, f, s, x, 1)
}

// PreparedBytes implements [device.Preparer]. A value takes 8 bytes in the tail or 6 in the head. A
// document takes 8 bytes in the tail and 10 per segment, plus overhead.
func (b *Backend) PreparedBytes(rows int, values int64) int64 {
	segments := int64(len(b.columns.head))
	return 8*values + int64(rows)*(8+10*segments) + 256*(1+segments)
}
