package asm

import (
	"math/rand/v2"
	"syscall"
	"testing"
	"unsafe"
)

// guarded returns n bytes that end where the address space that may be read ends: a load or store beyond them is a fault.
func guarded(t *testing.T, n int) []byte {
	page := syscall.Getpagesize()
	whole := (n + page - 1) / page * page
	all, err := syscall.Mmap(-1, 0, whole+page, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() { syscall.Munmap(all) })
	if err := syscall.Mprotect(all[whole:], syscall.PROT_NONE); err != nil {
		t.Skip(err)
	}
	return all[whole-n : whole : whole]
}

func guardedSlice[T int32 | float32 | float64](t *testing.T, n int) []T {
	var zero T
	b := guarded(t, (n+1)*int(unsafe.Sizeof(zero))) // one more, so that the address of the first can be taken
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(b))), n+1)[1:]
}

// TestGuard runs every map and every kernel of the solver on slices that end at the end of a page.
func TestGuard(t *testing.T) {
	const most = 70
	c, y, dst := guardedSlice[float32](t, most), guardedSlice[float32](t, most), guardedSlice[float32](t, most)
	g, mask, index := guardedSlice[float64](t, most), guarded(t, most), guardedSlice[int32](t, most)
	rows := randomHalfLine(rand.New(rand.NewPCG(1, 1)))
	eachISA(t, func(t *testing.T, k *Kernels) {
		for n := range most + 1 {
			from := most - n
			for _, m := range mapCases() {
				m.run(k, dst[from:], c[from:], y[from:])
			}
			k.Tanh(dst[from:], g[from:])
			k.Affine(g[from:], c[from:], y[from:], 1, 2, 3)
			k.Squares(g[from:], c[from:], y[from:], 1)
			k.Turn(g[from:], c[from:], make([]float64, TurnNumbers), [][]float64{g[from:], g[from:], g[from:], g[from:], g[from:]})
			k.HalfLine(dst[from:], g[from:], rows, 0)
			k.Join(dst[from:], [][]float32{c[from:]}, [][]float64{g[from:], g[from:]}, []float64{0, 0}, 2)
			k.AddRows(g[from:], [][]float32{c, y}, from, []float64{1, 2})
			if n%ScanBlock == 0 {
				k.Extremes(g[from:], mask[from:], 1, 2)
				k.Step(g[from:], c[from:], y[from:], 1, 2, mask[from:], 1)
				k.ArgGain(g[from:], c[from:], y[from:], mask[from:], 1, 1, 1)
				k.Beyond(index[from:], g[from:], mask[from:], 1, 1, 0)
			}
		}
	})
}
