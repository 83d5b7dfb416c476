package asm

import (
	"math/rand/v2"
	"reflect"
	"runtime/debug"
	"syscall"
	"testing"
	"unsafe"
)

// A guard is memory between two inaccessible pages: a load or store beyond either end faults.
type guard []byte

func newGuard(t *testing.T, bytes int) guard {
	page := syscall.Getpagesize()
	whole := (bytes + page - 1) / page * page
	const access, private = syscall.PROT_READ | syscall.PROT_WRITE, syscall.MAP_ANON | syscall.MAP_PRIVATE
	all, err := syscall.Mmap(-1, 0, page+whole+page, access, private)
	if err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() { _ = syscall.Munmap(all) })
	for _, outside := range [][]byte{all[:page], all[page+whole:]} {
		if err := syscall.Mprotect(outside, syscall.PROT_NONE); err != nil {
			t.Skip(err)
		}
	}
	return all[page : page+whole]
}

// guardBytes exceeds the size of any slice in a case.
const guardBytes = 1 << 20

// TestGuard runs every kernel on slices that end at an inaccessible page, and on slices that begin
// after one. All results equal the results for ordinary slices.
func TestGuard(t *testing.T) {
	var guards []guard
	// Guards are freed at the end of this test, not of a subtest.
	more := func() { guards = append(guards, newGuard(t, guardBytes)) }
	eachISA(t, func(t *testing.T, k *Kernels) {
		debug.SetPanicOnFault(true) // a fault becomes a panic, so that the error names the kernel
		eachKernel(t, k, func(name string, f reflect.Value, c kernelCase) {
			for _, n := range []int{0, 1, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65} {
				for trial := range 4 {
					args := func(m memory) []any {
						return c.args(k, rand.New(rand.NewPCG(uint64(trial), uint64(n))), m, n)
					}
					want := args(nil)
					results, panicked := call(f, want)
					if panicked != nil {
						t.Fatalf("%s, n=%d: %v", name, n, panicked)
					}
					used := 0
					got := args(func(bytes int) unsafe.Pointer {
						if used == len(guards) {
							more()
						}
						g := guards[used]
						used++
						if bytes > len(g) {
							t.Fatalf("%s, n=%d: a slice takes %d bytes", name, n, bytes)
						}
						if trial%2 == 0 {
							g = g[len(g)-bytes:]
						}
						return unsafe.Pointer(unsafe.SliceData(g))
					})
					again, panicked := call(f, got)
					if panicked != nil {
						t.Fatalf("%s, n=%d: %v", name, n, panicked)
					}
					if !reflect.DeepEqual(again, results) {
						t.Errorf("%s, n=%d: results %v, expected %v", name, n, again, results)
					}
					if !reflect.DeepEqual(got, want) {
						t.Errorf("%s, n=%d: something else was written than elsewhere", name, n)
					}
				}
			}
		})
	})
}
