package panel

import (
	"context"
	"errors"

	"github.com/gramengine/gram/engine/device"
	"github.com/gramengine/gram/sparse"
)

// prepared are documents of rows in head/tail form, which is the same for every request.
type prepared struct {
	side
	layout *layout
}

// Bytes implements [device.Prepared].
func (p *prepared) Bytes() int64 { return p.bytes() }

// Prepare implements [device.Preparer], on one goroutine.
func (b *Backend) Prepare(ctx context.Context, x *sparse.Embedded) (device.Prepared, error) {
	if x == nil {
		return nil, errors.New("panel: no documents to be prepared, expected some")
	}
	f := b.lend()
	defer b.takeBack(f)
	p := &prepared{layout: b.layout}
	return p, b.split(ctx, f, &p.side, x, 1)
}

// PreparedBytes implements [device.Preparer]: a value takes 8 bytes in the tail and 6 in the head, a
// document 8 in the tail and 10 in each segment, and each of these a little more.
func (b *Backend) PreparedBytes(rows int, values int64) int64 {
	segments := int64(len(b.own.head))
	return 8*values + int64(rows)*(8+10*segments) + 256*(1+segments)
}

// prepared returns the documents of a request's rows as they were prepared.
func (b *Backend) prepared(r *device.Request) (*side, error) {
	p, ok := r.Prepared.(*prepared)
	if !ok || p == nil || p.layout != b.layout || p.x != r.From {
		return nil, errors.New("panel: rows that were prepared for other columns, or are other documents, expected " +
			"those of this back end's Prepare")
	}
	return &p.side, nil
}
