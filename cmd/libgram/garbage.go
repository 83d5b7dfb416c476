//go:build cgo

package main

import (
	"runtime"
	"runtime/metrics"
	"sync/atomic"
)

// mostGarbage is by how much calls may let the heap grow before garbage is collected, in bytes.
const mostGarbage = 64 << 20

// settled is the size of the heap, in bytes, after garbage was last collected for this, or less where it shrank.
var settled atomic.Uint64

// collect collects garbage where calls may have left much of it. The collector alone would wait until the heap is twice
// what lives: the process would hold the matrix of one training beside that of the next, which would be given new pages
// by the operating system, and that can take as long as to compute it.
func collect() {
	held := heap()
	if held > settled.Load()+mostGarbage {
		runtime.GC()
		settled.Store(heap())
	} else if held < settled.Load() {
		settled.Store(held)
	}
}

// heap returns the size of the objects in the heap, in bytes, garbage that wasn't collected yet included.
func heap() uint64 {
	size := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(size)
	return size[0].Value.Uint64()
}
