//go:build cuda && cgo && linux

package cuda

import (
	"errors"
	"fmt"

	"gorgonia.org/cu"
)

// defaultTileBytes takes a few milliseconds to compute and to copy: long beside starting kernels,
// short beside what a user waits for a cancelled command.
const defaultTileBytes = 128 << 20

// tiles are the two tiles that a device computes and copies in turn.
type tiles struct {
	d             *Device
	made          bool
	bytes         int64 // of each
	compute, copy cu.Stream
	buffers       [2]buffer
}

// buffer is a tile on the device and its copy in the machine's memory.
type buffer struct {
	device           memory
	host             pinned
	computed, copied cu.Event
}

// prepare makes tiles of up to so many rows of a width, fewer where memory doesn't suffice, but at
// least one.
func (t *tiles) prepare(rows, width int) error {
	if err := t.begin(); err != nil {
		return err
	}
	line := int64(4 * width)
	want := max(min(int64(rows), t.d.tile.Load()/line), 1) * line
	if t.bytes >= want {
		return nil
	}
	if err := t.drop(); err != nil {
		return err
	}
	for shrunk := false; ; shrunk = true {
		err := t.take(want)
		if err == nil {
			t.bytes = want
			if shrunk {
				t.d.tile.Store(want) // more won't be had next time either
			}
			return nil
		}
		if err = errors.Join(err, t.drop()); !isOutOfMemory(err) || want == line {
			return fmt.Errorf("two tiles of %d bytes: %w", want, err)
		}
		want = max(want/line/2, 1) * line
	}
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
				return errors.Join(failed("cuEventCreate", err), t.end())
			}
		}
	}
	t.made = true
	return nil
}

// end destroys streams and events, those that there are.
func (t *tiles) end() error {
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

// take makes both tiles of so many bytes; after an error some of it may be there.
func (t *tiles) take(bytes int64) (err error) {
	for i := range t.buffers {
		b := &t.buffers[i]
		if b.device, err = t.d.alloc(bytes); err != nil {
			return err
		}
		if b.host, err = newPinned(bytes); err != nil {
			return err
		}
	}
	return nil
}

// drop gives the tiles back.
func (t *tiles) drop() (err error) {
	t.bytes = 0
	for i := range t.buffers {
		err = errors.Join(err, t.d.free(&t.buffers[i].device), t.buffers[i].host.free())
	}
	return err
}

func (t *tiles) close() error {
	err := t.drop()
	if t.made {
		err = errors.Join(err, t.end())
	}
	return err
}
