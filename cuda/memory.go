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
	return &DeviceError{fmt.Errorf("cannot allocate %s of GPU memory: %s is in use and the limit is %s: %w",
		run.FormatBytes(bytes), run.FormatBytes(d.allocated), run.FormatBytes(d.limit), cu.OutOfMemory)}
}

type memory struct {
	addr  cu.DevicePtr
	bytes int64
}

// alloc allocates at least one byte. If memory is insufficient and the arena is unused, it frees
// the arena and tries again.
func (d *Device) alloc(bytes int64) (memory, error) {
	bytes = max(bytes, 1)
	m, err := d.allocBlock(bytes)
	if a := &d.arena; err != nil && isOutOfMemory(err) && a.required == 0 && a.block.bytes > 0 {
		if err := d.free(&a.block); err != nil {
			return memory{}, err
		}
		return d.allocBlock(bytes)
	}
	return m, err
}

func (d *Device) allocBlock(bytes int64) (memory, error) {
	if bytes > d.limit-d.allocated {
		return memory{}, d.errLimit(bytes)
	}
	at, err := cu.MemAlloc(bytes)
	if err != nil {
		return memory{}, driverError("cuMemAlloc of "+run.FormatBytes(bytes), err)
	}
	d.allocated += bytes
	return memory{at, bytes}, nil
}

func (d *Device) free(m *memory) error {
	if m.bytes == 0 {
		return nil
	}
	err := driverError("cuMemFree", cu.MemFree(m.addr))
	d.allocated -= m.bytes
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
	blocks []memory
}

func (p *pool) alloc(bytes int64) (memory, error) {
	m, err := p.d.alloc(bytes)
	if err == nil {
		p.blocks = append(p.blocks, m)
	}
	return m, err
}

func (p *pool) close() error {
	var err error
	for i := range p.blocks {
		err = errors.Join(err, p.d.free(&p.blocks[i]))
	}
	p.blocks = nil
	return err
}

// arena allocates the memory of a request from a block. The block isn't freed between requests,
// because freeing memory would wait for the device. If the block is full, overflow allocates
// separately. At the end of the request, the block grows to the required size if maxArena allows.
type arena struct {
	block    memory
	required int64 // bytes needed by the request
	overflow pool
}

const maxArena = 1 << 20

func (a *arena) alloc(bytes int64) (memory, error) {
	const aligned = 16
	bytes = (max(bytes, 1) + aligned - 1) / aligned * aligned
	at := a.required
	a.required += bytes
	if a.required <= a.block.bytes {
		return memory{a.block.addr + cu.DevicePtr(at), bytes}, nil
	}
	return a.overflow.alloc(bytes)
}

func (a *arena) end() error {
	need := a.required
	a.required = 0
	err := a.overflow.close()
	if err != nil || need <= a.block.bytes || need > maxArena {
		return err
	}
	if err := a.overflow.d.free(&a.block); err != nil {
		return err
	}
	if a.block, err = a.overflow.d.allocBlock(need); isOutOfMemory(err) {
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
	return uint64(m.addr), write(m, values)
}

func write[T any](m memory, values []T) error {
	if len(values) == 0 {
		return nil
	}
	bytes := int64(len(values)) * int64(unsafe.Sizeof(values[0]))
	return driverError("cuMemcpyHtoD", cu.MemcpyHtoD(m.addr, unsafe.Pointer(&values[0]), bytes))
}

// waitForCopies waits for all copies to the device. It must be called before kernels use the data.
// The driver may return before a copy is complete, and non-blocking streams don't wait for copies.
func waitForCopies() error { return driverError("cuCtxSynchronize", cu.Synchronize()) }

// fetch copies device memory to values. All writes to this memory must have finished.
func fetch[T any](from cu.DevicePtr, values []T) error {
	if len(values) == 0 {
		return nil
	}
	bytes := int64(len(values)) * int64(unsafe.Sizeof(values[0]))
	return driverError("cuMemcpyDtoH", cu.MemcpyDtoH(unsafe.Pointer(&values[0]), from, bytes))
}

type pinned struct{ pointer unsafe.Pointer }

func newPinned(bytes int64) (pinned, error) {
	p, err := driver.HostAlloc(bytes)
	if err != nil {
		return pinned{}, &DeviceError{err}
	}
	return pinned{p}, nil
}

func (p *pinned) free() error {
	if p.pointer == nil {
		return nil
	}
	err := driver.HostFree(p.pointer)
	p.pointer = nil
	if err != nil {
		return &DeviceError{err}
	}
	return nil
}

func (p *pinned) floats(n int) []float32 { return unsafe.Slice((*float32)(p.pointer), n) }
