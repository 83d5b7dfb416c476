//go:build cuda && cgo && linux

package cuda

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"

	"github.com/gramengine/gram/engine/device"
	"github.com/gramengine/gram/sparse"
)

type columns struct {
	handle
	x      *sparse.Embedded
	layout *layout

	pool      pool
	columnSet documentSet
	head      uint64 // address of Head in kernels/shape.h
	tiles     tiles
	otherRows rowSet // most recent row documents other than the column documents
}

// documentSet is a set of documents in device memory.
type documentSet struct {
	addr uint64 // address of the set's Side, see kernels/shape.h
	rows int
	tail []int64 // tail[i] is the index of document i's first tail value; tail[rows] is the number of tail values
}

// rowSet is a document set whose memory is freed separately.
type rowSet struct {
	documentSet
	x    *sparse.Embedded
	pool pool
}

// Load copies x to the device. x must not change until the Columns are closed.
func (d *Device) Load(ctx context.Context, x *sparse.Embedded) (Columns, error) {
	if x.Embedder.Pairing >= pairings {
		return nil, fmt.Errorf("cuda: the GPU does not support documents embedded as %s", x.Embedder)
	}
	if x.Rows() > math.MaxInt32 {
		return nil, fmt.Errorf("cuda: got %d documents; the maximum is %d", x.Rows(), math.MaxInt32)
	}
	rank := device.InversePermutation(device.ColumnsByFrequency(x.DocumentFrequency()))
	byRank, err := device.TransposeByRank(ctx, nil, &x.CSR, rank, runtime.GOMAXPROCS(0))
	if err != nil {
		return nil, err
	}
	c := &columns{handle: handle{d: d, description: "documents on the GPU", parent: &d.handle}, x: x, pool: pool{d: d}}
	c.tiles.d = d
	err = d.withDevice(func() error {
		c.begin()
		k, err := d.load()
		if err != nil {
			return err
		}
		c.layout = newLayout(rank, byRank, k.panelTerms, x.Embedder.Pairing, d.denseShare, d.tailShare)
		if c.columnSet, err = c.uploadSet(ctx, &c.pool, x, byRank, true); err == nil {
			c.head, err = c.uploadHead()
		}
		if err == nil {
			err = waitForCopies()
		}
		if err != nil {
			return fmt.Errorf("%w (%s to the GPU)", err, copyTask(x.Rows()))
		}
		return nil
	})
	if err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return c, nil
}

func copyTask(n int) string { return fmt.Sprintf("copying %d documents", n) }

// uploadSet copies the documents x to the device, in the format of kernels/shape.h. If lists is
// set, it includes posting lists.
func (c *columns) uploadSet(
	ctx context.Context, p *pool, x *sparse.Embedded, byRank *sparse.CSR, lists bool,
) (documentSet, error) {
	s, err := c.layout.split(ctx, x, byRank, lists)
	if err != nil {
		return documentSet{}, err
	}
	dense, denseScale, err := c.layout.uploadDense(ctx, p, s)
	if err != nil {
		return documentSet{}, err
	}
	u := uploader{p: p}
	var longs uint64
	if bits := s.longDocuments(); bits != nil {
		longs = send(&u, bits)
	}
	fields := []uint64{
		send(&u, s.head), send(&u, s.entry), send(&u, s.tail), send(&u, s.tailEntry),
		send(&u, s.list), send(&u, s.posting), send(&u, s.cut),
		send(&u, s.exact), send(&u, s.exactTerm), send(&u, s.exactValue), dense, denseScale,
		uint64(s.cutTerms()), uint64(s.cuts), longs,
	}
	at := send(&u, fields)
	return documentSet{at, x.Rows(), s.tail}, u.err
}

func (c *columns) uploadHead() (uint64, error) {
	u := uploader{p: &c.pool}
	l := c.layout
	fields := []uint64{send(&u, l.chunkTerms), uint64(l.chunks())}
	at := send(&u, fields)
	return at, u.err
}

// uploader uploads several slices and keeps the first error. After an error, it uploads nothing.
type uploader struct {
	p   allocator
	err error
}

func send[T any](u *uploader, values []T) uint64 {
	if u.err != nil {
		return 0
	}
	var at uint64
	at, u.err = upload(u.p, values)
	return at
}

// rowSetFor returns the document set of the row documents x, and copies x to the device first if
// necessary. Row documents other than the columns stay on the device until a request uses different
// row documents.
func (c *columns) rowSetFor(ctx context.Context, x *sparse.Embedded) (documentSet, error) {
	if x == nil || x == c.x {
		return c.columnSet, nil
	}
	if x == c.otherRows.x {
		return c.otherRows.documentSet, nil
	}
	c.otherRows.x = nil
	if err := c.otherRows.pool.close(); err != nil {
		return documentSet{}, err
	}
	byRank, err := device.TransposeByRank(ctx, nil, &x.CSR, c.layout.rank, runtime.GOMAXPROCS(0))
	if err != nil {
		return documentSet{}, err
	}
	c.otherRows.pool.d = c.d
	s, err := c.uploadSet(ctx, &c.otherRows.pool, x, byRank, false)
	if err == nil {
		err = waitForCopies()
	}
	if err != nil {
		return documentSet{}, errors.Join(err, c.otherRows.pool.close())
	}
	c.otherRows.documentSet, c.otherRows.x = s, x
	return s, nil
}

// Name returns the device's name and the number of terms multiplied on tensor cores.
func (c *columns) Name() string {
	name := "cuda: " + c.d.info.Name
	if c.layout.dense > 0 {
		name += fmt.Sprintf(", %d terms through tensor cores", c.layout.dense)
	}
	return name
}

// batchRows is the maximum number of rows per request if row and column documents differ. Copies
// and kernel launches of a request take about 1 ms, in which the device can compute ten million
// kernel values. If a result has more than 64 rows, its size is at most batchBytes.
const (
	batchRows  = 4096
	batchBytes = 128 << 20
)

func (c *columns) BatchRows() int {
	return min(max(batchBytes/4/max(c.x.Rows(), 1), 64), batchRows)
}

func (c *columns) HostBytes() int64 {
	n := int64(c.x.Rows())
	line := 4 * int64(padded(c.x.Rows()))
	return 2 * max(min(c.d.bufferBytes.Load(), n*line), line)
}

func (c *columns) Close() error {
	return c.close(func() error {
		return errors.Join(c.tiles.end(), c.otherRows.pool.close(), c.pool.close())
	})
}
