//go:build cuda && cgo && linux

package cuda

import (
	"context"
	"errors"
	"fmt"
	"math"
	"unsafe"

	"gorgonia.org/cu"

	"github.com/gramengine/gram/engine/device"
	"github.com/gramengine/gram/sparse"
)

// Kept is a Gram matrix that stays in the device's memory.
type Kept struct {
	handle
	n      int
	stride int // distance of rows
	value  memory
}

// Keep computes the Gram matrix of the columns' documents, of c or of a program, and leaves it on
// the device. Each pair is computed once and mirrored there. The caller closes it.
func (c *Columns) Keep(ctx context.Context, p *device.Program) (*Kept, error) {
	return c.keep(ctx, p, computedRows)
}

// keep is Keep with so many rows at a time.
func (c *Columns) keep(ctx context.Context, p *device.Program, rows int) (*Kept, error) {
	if c.x == nil {
		return nil, c.do(nil)
	}
	if err := (&device.Request{Program: p}).Validate(c.x); err != nil {
		return nil, err
	}
	k, err := c.newKept()
	if err != nil {
		return nil, err
	}
	if err := c.keepIn(ctx, k, p, rows); err != nil {
		err = fmt.Errorf("a matrix of %s on the GPU: %w", sparse.FormatBytes(k.bytes()), err)
		return nil, errors.Join(err, k.Close())
	}
	return k, nil
}

// newKept takes the memory of a matrix.
func (c *Columns) newKept() (*Kept, error) {
	n := c.x.Rows()
	k := &Kept{handle: handle{d: c.d, what: "matrix on the GPU", of: &c.d.handle}, n: n, stride: padded(n)}
	err := c.do(func() (err error) {
		k.begin()
		k.value, err = c.d.alloc(k.bytes())
		return err
	})
	if err != nil {
		err = fmt.Errorf("a matrix of %s on the GPU: %w", sparse.FormatBytes(k.bytes()), err)
		return nil, errors.Join(err, k.Close())
	}
	return k, nil
}

// bytes is what a matrix takes, or what no device has where it is beyond that.
func (k *Kept) bytes() int64 {
	if int64(k.n)*int64(k.stride) > math.MaxInt64/4 {
		return math.MaxInt64
	}
	return 4 * int64(k.n) * int64(k.stride)
}

// keepIn is keep into a matrix that is there.
func (c *Columns) keepIn(ctx context.Context, k *Kept, p *device.Program, rows int) error {
	n := k.n
	docs := make([]uint32, n)
	for i := range docs {
		docs[i] = uint32(i)
	}
	r := &device.Request{Program: p, Docs: make([]int, n), Hi: n, Half: true}
	for i := range r.Docs {
		r.Docs[i] = i
	}
	return c.do(func() (err error) {
		run := job{c: c, r: r, temporary: pool{d: c.d, keep: true}}
		defer func() { err = errors.Join(err, run.end()) }()
		if err := run.begin(ctx, c.x, docs); err != nil {
			return err
		}
		if err := c.tiles.begin(); err != nil {
			return err
		}
		return run.keep(ctx, k, rows)
	})
}

// keep computes all of a matrix in its place, so many rows at a time.
func (j *job) keep(ctx context.Context, k *Kept, rows int) (err error) {
	if err := j.c.tiles.closeBits(int64(min(rows, k.n)) * int64(k.stride)); err != nil {
		return err
	}
	var fields []uint64
	for first := 0; first < k.n; first += rows {
		b := device.Tile{First: first, Rows: min(rows, k.n-first), RowStride: k.stride}
		b.Hi = first + b.Rows
		at := uint64(k.value.at) + 4*uint64(first)*uint64(k.stride)
		fields = append(fields, j.describeTile(at, &b)...)
		j.tiles = append(j.tiles, b)
	}
	if err := j.describe(fields); err != nil {
		return err
	}
	t := &j.c.tiles
	defer func() { err = errors.Join(err, failed("cuStreamSynchronize", t.compute.Synchronize())) }()
	for i := range j.tiles {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err := j.compute(i); err != nil {
			return err
		}
		// Not far ahead of the device, so that the end of the context is seen in time.
		if err := t.buffers[i%2].computed.Record(t.compute); err != nil {
			return failed("cuEventRecord", err)
		}
		if i > 0 {
			if err := t.buffers[(i-1)%2].computed.Synchronize(); err != nil {
				return failed("cuEventSynchronize", err)
			}
		}
	}
	squares := (k.n + mirrorWidth - 1) / mirrorWidth
	if squares == 0 {
		return nil
	}
	return j.c.d.launch("mirror", j.c.d.kernels.mirror, squares, squares, mirrorThreads, 0, t.compute,
		uint64(k.value.at), uint64(k.stride), uint64(k.n))
}

// Row copies a row to the machine's memory; dst has as many values as there are documents.
func (k *Kept) Row(i int, dst []float32) error {
	if i < 0 || i >= k.n || len(dst) != k.n {
		return fmt.Errorf("cuda: row %d into %d values, expected one from 0 to %d into %d", i, len(dst), k.n-1, k.n)
	}
	return k.do(func() error {
		at := k.value.at + cu.DevicePtr(4*int64(i)*int64(k.stride))
		return failed("cuMemcpyDtoH", cu.MemcpyDtoH(unsafe.Pointer(&dst[0]), at, 4*int64(k.n)))
	})
}

// Close gives its memory back; a second call does nothing.
func (k *Kept) Close() error {
	return k.close(func() error { return k.d.free(&k.value) })
}
