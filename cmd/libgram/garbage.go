//go:build cgo

package main

import (
	"runtime"
	"runtime/metrics"
	"sync/atomic"
)

// maxGarbage is the growth of the heap in bytes after which collect runs the garbage collector.
const maxGarbage = 64 << 20

// settled is the minimum heap size since the last collection, in bytes.
var settled atomic.Uint64

// collect runs the garbage collector if the heap has grown by maxGarbage. By default Go waits until
// the heap has doubled. A process would then hold the matrices of two training runs. Mapping pages
// for the second matrix could take as long as computing it.
func collect() {
	held := heap()
	if held > settled.Load()+maxGarbage {
		runtime.GC()
		settled.Store(heap())
	} else if held < settled.Load() {
		settled.Store(held)
	}
}

// heap returns the size of the heap in bytes, including garbage.
func heap() uint64 {
	size := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(size)
	return size[0].Value.Uint64()
}
