//go:build cgo

package main

import (
	"runtime"
	"runtime/metrics"
	"sync/atomic"
)

// maxGarbage is the growth of the heap in bytes after which collect runs the garbage collector.
const maxGarbage = 64 << 20

// minHeap is the minimum heap size since the last collection, in bytes.
var minHeap atomic.Uint64

// collect runs the garbage collector if the heap has grown by maxGarbage. By default Go waits until
// the heap has doubled. A process would then hold the matrices of two training runs. Mapping pages
// for the second matrix could take as long as computing it.
func collect() {
	held := heapSize()
	if held > minHeap.Load()+maxGarbage {
		runtime.GC()
		minHeap.Store(heapSize())
	} else if held < minHeap.Load() {
		minHeap.Store(held)
	}
}

// heapSize returns the size of the heap in bytes, including garbage.
func heapSize() uint64 {
	size := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(size)
	return size[0].Value.Uint64()
}
