//go:build cuda && cgo && linux

package cuda

import (
	"errors"
	"fmt"
	"unsafe"

	"gorgonia.org/cu"

	"github.com/gramengine/gram/cuda/internal/driver"
	"github.com/gramengine/gram/internal/run"
)

// The functions below require that the device's context is current (see Device.inContext).

func (d *Device) errLimit(bytes int64) error {
	return &Failure{fmt.Errorf("cannot allocate %s of GPU memory: %s is in use and the limit is %s: %w",
		run.FormatBytes(bytes), run.FormatBytes(d.held), run.FormatBytes(d.limit), cu.OutOfMemory)}
}

type memory struct {
	at    cu.DevicePtr
	bytes int64
}

// alloc allocates at least one byte. If memory is insufficient and the arena is unused, it frees
// the arena and tries again.
func (d *Device) alloc(bytes int64) (memory, error) {
	bytes = max(bytes, 1)
	m, err := d.take(bytes)
	if a := &d.arena; err != nil && isOutOfMemory(err) && a.need == 0 && a.block.bytes > 0 {
		if err := d.free(&a.block); err != nil {
			return memory{}, err
		}
		return d.take(bytes)
	}
	return m, err
}

func (d *Device) take(bytes int64) (memory, error) {
	if bytes > d.limit-d.held {
		return memory{}, d.errLimit(bytes)
	}
	at, err := cu.MemAlloc(bytes)
	if err != nil {
		return memory{}, failed("cuMemAlloc of "+run.FormatBytes(bytes), err)
	}
	d.held += bytes
	return memory{at, bytes}, nil
}

func (d *Device) free(m *memory) error {
	if m.bytes == 0 {
		return nil
	}
	err := failed("cuMemFree", cu.MemFree(m.at))
	d.held -= m.bytes
	*m = memory{}
	return err
}

func isOutOfMemory(err error) bool { return errors.Is(err, cu.OutOfMemory) }

type allocator interface {
	alloc(bytes int64) (memory, error)
}

// pool is a set of memory blocks that are freed together.
type pool struct {
	d      *Device
	pieces []memory
}

func (p *pool) alloc(bytes int64) (memory, error) {
	m, err := p.d.alloc(bytes)
	if err == nil {
		p.pieces = append(p.pieces, m)
	}
	return m, err
}

func (p *pool) close() error {
	var err error
	for i := range p.pieces {
		err = errors.Join(err, p.d.free(&p.pieces[i]))
	}
	p.pieces = nil
	return err
}

// arena allocates the memory of a request from a block. The next request reuses the block, because
// freeing memory would wait for the device. If the block is full, rest allocates separately. The
// block then grows before the next request, up to maxArena.
type arena struct {
	block memory
	need  int64 // bytes needed by the request
	rest  pool
}

const maxArena = 1 << 20

func (a *arena) alloc(bytes int64) (memory, error) {
	const aligned = 16
	bytes = (max(bytes, 1) + aligned - 1) / aligned * aligned
	at := a.need
	a.need += bytes
	if a.need <= a.block.bytes {
		return memory{a.block.at + cu.DevicePtr(at), bytes}, nil
	}
	return a.rest.alloc(bytes)
}

func (a *arena) end() error {
	need := a.need
	a.need = 0
	err := a.rest.close()
	if err != nil || need <= a.block.bytes || need > maxArena {
		return err
	}
	if err := a.rest.d.free(&a.block); err != nil {
		return err
	}
	if a.block, err = a.rest.d.take(need); isOutOfMemory(err) {
		return nil // the next request allocates separately
	}
	return err
}

// upload copies values into newly allocated memory and returns its address.
func upload[T any](p allocator, values []T) (uint64, error) {
	m, err := p.alloc(int64(len(values)) * int64(unsafe.Sizeof(*new(T))))
	if err != nil {
		return 0, err
	}
	return uint64(m.at), write(m, values)
}

// write copies values to the start of a memory block.
func write[T any](m memory, values []T) error {
	if len(values) == 0 {
		return nil
	}
	bytes := int64(len(values)) * int64(unsafe.Sizeof(values[0]))
	return failed("cuMemcpyHtoD", cu.MemcpyHtoD(m.at, unsafe.Pointer(&values[0]), bytes))
}

// arrived waits for all copies to the device. It must be called before kernels use the data. The
// driver may return before a copy is complete, and non-blocking streams don't wait for copies.
func arrived() error { return failed("cuCtxSynchronize", cu.Synchronize()) }

// fetch copies device memory to values. All writes to this memory must have finished.
func fetch[T any](from cu.DevicePtr, values []T) error {
	if len(values) == 0 {
		return nil
	}
	bytes := int64(len(values)) * int64(unsafe.Sizeof(values[0]))
	return failed("cuMemcpyDtoH", cu.MemcpyDtoH(unsafe.Pointer(&values[0]), from, bytes))
}

// pinned is page-locked host memory.
type pinned struct{ at unsafe.Pointer }

func newPinned(bytes int64) (pinned, error) {
	p, err := driver.HostAlloc(bytes)
	if err != nil {
		return pinned{}, &Failure{err}
	}
	return pinned{p}, nil
}

func (p *pinned) free() error {
	if p.at == nil {
		return nil
	}
	err := driver.HostFree(p.at)
	p.at = nil
	if err != nil {
		return &Failure{err}
	}
	return nil
}

func (p *pinned) floats(n int) []float32 { return unsafe.Slice((*float32)(p.at), n) }
