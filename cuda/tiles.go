//go:build cuda && cgo && linux

package cuda

import (
	"errors"
	"fmt"

	"gorgonia.org/cu"
)

// defaultTileBytes is the default size of a host buffer. Copying a full buffer takes a millisecond,
// much longer than starting the copy. A full buffer has enough rows for all workers. Page-locking
// two buffers takes less than 0.1 s.
const defaultTileBytes = 64 << 20

// computedRows is the maximum number of rows of a tile, a multiple of the panel width. With this
// many rows, filling panels takes a small part of the time. A tile larger than a host buffer takes
// at most 1/largestPart of the device memory limit.
const (
	computedRows = 2048
	largestPart  = 8
)

// tiles holds two tiles on the device and two host buffers. While one tile is computed, the other
// tile is copied in pieces to the host buffers.
type tiles struct {
	d             *Device
	created       bool
	bytes         int64 // size of each tile
	bufferBytes   int64 // size of each buffer
	maxBytes      int64 // maximum tile size after a failed allocation; 0 if no allocation has failed
	compute, copy cu.Stream
	tile          [2]memory
	closeBitmap   memory // one bit per pair of the current tile, set if the pair has c < 0.1
	buffers       [2]buffer
}

// buffer is host memory for a piece of a tile.
type buffer struct {
	host             pinned
	computed, copied cu.Event // events recorded after computing a tile and after copying a piece
}

// prepare allocates tiles with the given maximum number of rows. If memory is insufficient, tiles
// have fewer rows, but at least one. If copied is set, it also allocates the host buffers. It
// reuses memory of sufficient size, because allocating and freeing host memory takes ten times as
// long as computing a tile.
func (t *tiles) prepare(rows, width int, copied bool) error {
	if err := t.createStreams(); err != nil {
		return err
	}
	line := int64(4 * width)
	most := max(t.d.bufferBytes.Load(), t.d.limit/largestPart)
	if t.maxBytes > 0 {
		most = min(most, t.maxBytes)
	}
	bytes := max(min(int64(rows), int64(t.d.tileRows), most/line), 1) * line
	piece := min(bytes, max(t.d.bufferBytes.Load(), line))
	if t.bytes < bytes {
		had, err := allocShrinking(bytes, line, t.allocTiles)
		if err != nil {
			return fmt.Errorf("two tiles of %d bytes: %w", had, err)
		}
		if had < bytes {
			t.maxBytes = had // a larger allocation would fail again
		}
	}
	if copied && t.bufferBytes < piece {
		had, err := allocShrinking(piece, line, t.allocBuffers)
		if err != nil {
			return fmt.Errorf("two buffers of %d bytes: %w", had, err)
		}
		if had < piece {
			t.d.bufferBytes.Store(min(had, t.d.bufferBytes.Load()))
		}
	}
	return nil
}

// allocShrinking calls take with a size in bytes. If memory is insufficient, it halves the size and
// tries again, but not below line, the size of one row. It returns the last size.
func allocShrinking(bytes, line int64, take func(bytes int64) error) (int64, error) {
	for {
		err := take(bytes)
		if err == nil || !isOutOfMemory(err) || bytes <= line {
			return bytes, err
		}
		bytes = max(bytes/line/2, 1) * line
	}
}

func (t *tiles) allocCloseBitmap(values int64) error {
	if t.closeBitmap.bytes >= values/8 {
		return nil
	}
	if err := t.d.free(&t.closeBitmap); err != nil {
		return err
	}
	var err error
	t.closeBitmap, err = t.d.alloc(values / 8)
	return err
}

func (t *tiles) createStreams() (err error) {
	if t.created {
		return nil
	}
	if t.compute, err = cu.MakeStream(cu.NonBlocking); err != nil {
		return driverError("cuStreamCreate", err)
	}
	if t.copy, err = cu.MakeStream(cu.NonBlocking); err != nil {
		return errors.Join(driverError("cuStreamCreate", err), driverError("cuStreamDestroy", t.compute.Destroy()))
	}
	for i := range t.buffers {
		for _, e := range []*cu.Event{&t.buffers[i].computed, &t.buffers[i].copied} {
			if *e, err = cu.MakeEvent(cu.DisableTiming); err != nil {
				return errors.Join(driverError("cuEventCreate", err), t.destroyStreams())
			}
		}
	}
	t.created = true
	return nil
}

func (t *tiles) destroyStreams() error {
	err := errors.Join(driverError("cuStreamDestroy", t.compute.Destroy()),
		driverError("cuStreamDestroy", t.copy.Destroy()))
	for i := range t.buffers {
		for _, e := range []*cu.Event{&t.buffers[i].computed, &t.buffers[i].copied} {
			if *e != (cu.Event{}) {
				err = errors.Join(err, driverError("cuEventDestroy", cu.DestroyEvent(e)))
			}
		}
	}
	t.created = false
	return err
}

// allocTiles replaces the tiles by new tiles of the given size. After an error, there are no tiles.
func (t *tiles) allocTiles(bytes int64) error {
	err := t.freeTiles()
	if err == nil {
		err = t.allocCloseBitmap(bytes / 4)
	}
	for i := range t.tile {
		if err == nil {
			t.tile[i], err = t.d.alloc(bytes)
		}
	}
	if err != nil {
		return errors.Join(err, t.freeTiles())
	}
	t.bytes = bytes
	return nil
}

func (t *tiles) allocBuffers(bytes int64) error {
	err := t.freeBuffers()
	for i := range t.buffers {
		if err == nil {
			t.buffers[i].host, err = newPinned(bytes)
		}
	}
	if err != nil {
		return errors.Join(err, t.freeBuffers())
	}
	t.bufferBytes = bytes
	return nil
}

func (t *tiles) freeTiles() error {
	t.bytes = 0
	return errors.Join(t.d.free(&t.closeBitmap), t.d.free(&t.tile[0]), t.d.free(&t.tile[1]))
}

func (t *tiles) freeBuffers() error {
	t.bufferBytes = 0
	return errors.Join(t.buffers[0].host.free(), t.buffers[1].host.free())
}

// free frees the tiles and buffers. It resets maxBytes, so that later allocations may be larger.
func (t *tiles) free() error {
	t.maxBytes = 0
	return errors.Join(t.freeTiles(), t.freeBuffers())
}

func (t *tiles) end() error {
	err := t.free()
	if t.created {
		err = errors.Join(err, t.destroyStreams())
	}
	return err
}
