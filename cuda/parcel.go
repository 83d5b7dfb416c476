//go:build cuda && cgo && linux

package cuda

import (
	"fmt"
	"unsafe"

	"gorgonia.org/cu"
)

// stageBytes is the page-locked memory through which a parcel goes. From pageable memory
// cuMemcpyHtoD may return before the last of it has arrived, and a stream of one's own wouldn't
// wait for that.
const stageBytes = 256 << 10

// parcel is what kernels of one call are told, copied to the device at once. Addresses are known
// while it is packed.
type parcel struct {
	d      *Device
	stage  pinned
	memory memory
	words  []uint64 // what is packed so far
}

// begin empties the parcel and makes room for so many bytes.
func (p *parcel) begin(bytes int) (err error) {
	if p.stage.at == nil {
		if p.stage, err = newPinned(stageBytes); err != nil {
			return err
		}
	}
	if p.memory.bytes < int64(bytes) {
		if err := p.d.free(&p.memory); err != nil {
			return err
		}
		if p.memory, err = p.d.alloc(int64(bytes) * 5 / 4); err != nil {
			return err
		}
	}
	p.words = p.words[:0]
	return nil
}

// pack adds values of 4 or 8 bytes and returns where they will be.
func pack[T uint32 | int64 | uint64 | float64](p *parcel, values []T) uint64 {
	at := uint64(p.memory.at) + 8*uint64(len(p.words))
	if len(values) == 0 {
		return at
	}
	bytes := unsafe.Slice((*byte)(unsafe.Pointer(&values[0])), len(values)*int(unsafe.Sizeof(values[0])))
	for ; len(bytes) >= 8; bytes = bytes[8:] {
		p.words = append(p.words, *(*uint64)(unsafe.Pointer(&bytes[0])))
	}
	if len(bytes) == 4 {
		p.words = append(p.words, uint64(*(*uint32)(unsafe.Pointer(&bytes[0]))))
	}
	return at
}

// send copies the parcel to the device. Nothing that reads the one before may be under way.
func (p *parcel) send() error {
	if int64(8*len(p.words)) > p.memory.bytes {
		return fmt.Errorf("cuda: a parcel of %d bytes in %d", 8*len(p.words), p.memory.bytes)
	}
	return p.copy(p.memory.at, p.words)
}

// copy copies words to the device's memory.
func (p *parcel) copy(to cu.DevicePtr, words []uint64) error {
	stage := unsafe.Slice((*uint64)(p.stage.at), stageBytes/8)
	for len(words) > 0 {
		n := copy(stage, words)
		if err := cu.MemcpyHtoD(to, p.stage.at, int64(8*n)); err != nil {
			return failed("cuMemcpyHtoD", err)
		}
		to, words = to+cu.DevicePtr(8*n), words[n:]
	}
	return nil
}

func (p *parcel) close() error {
	err := p.d.free(&p.memory)
	if e := p.stage.free(); err == nil {
		err = e
	}
	return err
}

// fetch copies values from the device's memory, where all that writes them has ended.
func fetch[T any](from cu.DevicePtr, values []T) error {
	if len(values) == 0 {
		return nil
	}
	bytes := int64(len(values)) * int64(unsafe.Sizeof(values[0]))
	return failed("cuMemcpyDtoH", cu.MemcpyDtoH(unsafe.Pointer(&values[0]), from, bytes))
}
