package doors

import (
	"syscall"
	"unsafe"
)

// guards are stretches of memory between pages that can't be read, so that a load or a store beyond
// them is a fault.
type guards struct {
	all [][]byte
}

// bytes returns n bytes. They end where the readable pages end, or begin where these begin.
func (g *guards) bytes(n int, atEnd bool) []byte {
	page := syscall.Getpagesize()
	whole := max((n+page-1)/page*page, page)
	all, err := syscall.Mmap(-1, 0, whole+2*page, syscall.PROT_NONE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		panic(err)
	}
	g.all = append(g.all, all)
	inner := all[page : page+whole : page+whole]
	if err := syscall.Mprotect(inner, syscall.PROT_READ|syscall.PROT_WRITE); err != nil {
		panic(err)
	}
	if atEnd {
		return inner[whole-n : whole : whole]
	}
	return inner[:n:n]
}

// free gives the memory back; a slice that is still read then faults, too.
func (g *guards) free() {
	for _, b := range g.all {
		syscall.Munmap(b)
	}
	g.all = nil
}

// guarded returns a slice of n elements, whose memory is readable as far as its alignment allows
// and no further.
func guarded[T uint8 | uint16 | uint32 | int | int32 | int64 | float32 | float64](p *program, n int) []T {
	if n == 0 {
		return pick(p, nil, []T{})
	}
	var zero T
	b := p.memory.bytes(n*int(unsafe.Sizeof(zero)), !p.chance(3))
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(b))), n)
}
