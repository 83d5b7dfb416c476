//go:build cuda && cgo && linux

package cuda

import (
	"errors"
	"fmt"

	"gorgonia.org/cu"
)

// defaultTileBytes is how much is copied at a time, in a millisecond: long beside starting a copy, and
// rows for all workers of the machine, while two of them take no 0.1 s to be page-locked.
const defaultTileBytes = 64 << 20

// computedRows is how many rows are computed at a time, a multiple of the width of panels: filling
// panels is little work beside them. Where a tile of so many would take more than the largest part
// of the device's memory, there are fewer.
const (
	computedRows = 2048
	largestPart  = 8
)

// tiles are what a device computes and copies in turn: two tiles there, each copied in pieces to one
// of two buffers of the machine while the other is computed.
type tiles struct {
	d             *Device
	made          bool
	bytes         int64 // of each tile
	piece         int64 // of each buffer
	had           int64 // bytes of a tile that were to be had when more weren't, or 0
	compute, copy cu.Stream
	tile          [2]memory
	close         memory // bits of the close pairs of the tile that is computed
	buffers       [2]buffer
}

// buffer is a piece of a tile in the machine's memory.
type buffer struct {
	host             pinned
	computed, copied cu.Event // of a tile, and of the piece
}

// prepare makes tiles of up to so many rows of a width, fewer where memory doesn't suffice, but at
// least one; copied says that buffers are wanted, too. It does nothing where those that are there
// suffice: to take and give back memory of the machine costs ten times what a tile takes.
func (t *tiles) prepare(rows, width int, copied bool) error {
	if err := t.begin(); err != nil {
		return err
	}
	line := int64(4 * width)
	most := max(t.d.tile.Load(), t.d.limit/largestPart)
	if t.had > 0 {
		most = min(most, t.had)
	}
	want := max(min(int64(rows), int64(t.d.rows), most/line), 1) * line
	pieceOf := func(bytes int64) int64 {
		if !copied {
			return 0
		}
		return min(bytes, max(t.d.tile.Load()/line, 1)*line)
	}
	if t.bytes >= want && t.piece >= pieceOf(want) {
		return nil
	}
	if err := t.drop(); err != nil {
		return err
	}
	for shrunk := false; ; shrunk = true {
		piece := pieceOf(want)
		err := t.take(want, piece)
		if err == nil {
			t.bytes, t.piece = want, piece
			if shrunk {
				t.had = want // more won't be had next time either
				t.d.tile.Store(min(want, t.d.tile.Load()))
			}
			return nil
		}
		if err = errors.Join(err, t.drop()); !isOutOfMemory(err) || want == line {
			return fmt.Errorf("two tiles of %d bytes: %w", want, err)
		}
		want = max(want/line/2, 1) * line
	}
}

// closeBits has room for the bits of close pairs of a tile of so many values.
func (t *tiles) closeBits(values int64) error {
	if t.close.bytes >= values/8 {
		return nil
	}
	if err := t.d.free(&t.close); err != nil {
		return err
	}
	var err error
	t.close, err = t.d.alloc(values / 8)
	return err
}

// begin makes streams and events.
func (t *tiles) begin() (err error) {
	if t.made {
		return nil
	}
	if t.compute, err = cu.MakeStream(cu.NonBlocking); err != nil {
		return failed("cuStreamCreate", err)
	}
	if t.copy, err = cu.MakeStream(cu.NonBlocking); err != nil {
		return errors.Join(failed("cuStreamCreate", err), failed("cuStreamDestroy", t.compute.Destroy()))
	}
	for i := range t.buffers {
		for _, e := range []*cu.Event{&t.buffers[i].computed, &t.buffers[i].copied} {
			if *e, err = cu.MakeEvent(cu.DisableTiming); err != nil {
				return errors.Join(failed("cuEventCreate", err), t.stop())
			}
		}
	}
	t.made = true
	return nil
}

// stop destroys streams and events, those that there are.
func (t *tiles) stop() error {
	err := errors.Join(failed("cuStreamDestroy", t.compute.Destroy()), failed("cuStreamDestroy", t.copy.Destroy()))
	for i := range t.buffers {
		for _, e := range []*cu.Event{&t.buffers[i].computed, &t.buffers[i].copied} {
			if *e != (cu.Event{}) {
				err = errors.Join(err, failed("cuEventDestroy", cu.DestroyEvent(e)))
			}
		}
	}
	t.made = false
	return err
}

// take makes both tiles of so many bytes, and buffers unless piece is 0; after an error some of it may
// be there.
func (t *tiles) take(bytes, piece int64) (err error) {
	if err := t.closeBits(bytes / 4); err != nil {
		return err
	}
	for i := range t.buffers {
		if t.tile[i], err = t.d.alloc(bytes); err != nil {
			return err
		}
		if piece == 0 {
			continue
		}
		if t.buffers[i].host, err = newPinned(piece); err != nil {
			return err
		}
	}
	return nil
}

// drop gives the tiles back.
func (t *tiles) drop() error {
	t.bytes, t.piece = 0, 0
	err := t.d.free(&t.close)
	for i := range t.buffers {
		err = errors.Join(err, t.d.free(&t.tile[i]), t.buffers[i].host.free())
	}
	return err
}

func (t *tiles) end() error {
	err := t.drop()
	if t.made {
		err = errors.Join(err, t.stop())
	}
	return err
}
