package doortest

import "syscall"

// guards are stretches of memory between pages that can't be read, so that a load or a store beyond
// them is a fault.
type guards struct {
	used, spare map[int][][]byte // by size
}

// bytes returns n bytes, n > 0, that end where the readable pages end.
func (g *guards) bytes(n int) []byte {
	page := syscall.Getpagesize()
	size := (n + page - 1) / page * page
	if g.used == nil {
		g.used, g.spare = map[int][][]byte{}, map[int][][]byte{}
	}
	var b []byte
	if spare := g.spare[size]; len(spare) > 0 {
		b, g.spare[size] = spare[len(spare)-1], spare[:len(spare)-1]
	} else {
		all, err := syscall.Mmap(-1, 0, size+2*page, syscall.PROT_NONE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
		if err != nil {
			panic(err)
		}
		b = all[page : page+size : page+size]
		if err := syscall.Mprotect(b, syscall.PROT_READ|syscall.PROT_WRITE); err != nil {
			panic(err)
		}
	}
	g.used[size] = append(g.used[size], b)
	return b[size-n:]
}

// free has the memory used for the next call.
func (g *guards) free() {
	for size, all := range g.used {
		g.spare[size] = append(g.spare[size], all...)
	}
	clear(g.used)
}
