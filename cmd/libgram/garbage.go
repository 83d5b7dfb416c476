//go:build cgo

package main

import (
	"runtime"
	"runtime/metrics"
)

// mostGarbage is what a call may leave in the heap, in bytes.
const mostGarbage = 64 << 20

// collect collects garbage where a call left much of it. The collector alone would wait until the heap is twice what
// lives: the process would hold the matrix of one training beside that of the next, which would be given new pages by
// the operating system, and that takes as long as to compute it.
func collect() {
	heap := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}, {Name: "/gc/heap/live:bytes"}}
	metrics.Read(heap)
	if held, alive := heap[0].Value.Uint64(), heap[1].Value.Uint64(); held > alive+mostGarbage {
		runtime.GC()
	}
}
