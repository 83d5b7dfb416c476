package tiles

import (
	"context"
	"fmt"
	"math"
	"math/bits"
	"runtime/debug"
	"runtime/metrics"
	"unsafe"
)

const hugePage = 2 << 20

// maxValues is the number of float32 values in 256 TiB or, on 32-bit platforms, in 2 GiB. The
// address space of a 64-bit process is smaller than 256 TiB.
const maxValues = math.MaxInt / 4 >> (bits.UintSize / 64 * 15)

// MakeFloats returns n zeros, like make. It panics if n is negative, or if n is at least 2⁴⁶ (2²⁹
// on 32-bit platforms). If memory is exhausted, the program ends, as with make. Callers must check
// run.AvailableBytes first if n depends on input data.
//
// If the operating system supports huge pages, MakeFloats requests huge pages for 4 MiB or more.
// For 512 MiB, huge pages reduce page faults from 131,072 to 256, and the time to compute 11,314²
// values from 0.53 s to 0.30 s.
func MakeFloats(n int) []float32 {
	if n < 0 || n > maxValues {
		panic(fmt.Sprintf("tiles: MakeFloats: n must be between 0 and %d, got %d", maxValues, n))
	}
	collectGarbage(4 * int64(n))
	values := make([]float32, n)
	if bytes := 4 * n; bytes >= 2*hugePage {
		start := uintptr(unsafe.Pointer(unsafe.SliceData(values)))
		skip := int(-start & (hugePage - 1))
		if whole := (bytes - skip) &^ (hugePage - 1); whole > 0 {
			adviseHuge(unsafe.Slice((*byte)(unsafe.Pointer(&values[skip/4])), whole))
		}
	}
	return values
}

// collectGarbage frees garbage if the heap and a request for at least 4 MiB together exceed the
// limit of debug.SetMemoryLimit. The runtime itself would collect only after adding the new memory
// to the heap.
func collectGarbage(bytes int64) {
	limit := debug.SetMemoryLimit(-1)
	if limit == math.MaxInt64 || bytes < 2*hugePage {
		return
	}
	heap := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	if metrics.Read(heap); int64(heap[0].Value.Uint64()) > limit-bytes {
		debug.FreeOSMemory()
	}
}

// allocate is a variable, so that tests can replace [MakeFloats].
var allocate = MakeFloats

// MakeFloatsContext is like [MakeFloats], but returns within a second after ctx is done, with the
// cause of ctx. Reused memory must be filled with zeros, which takes a minute for ten gigabytes on
// a busy computer. After cancellation, the filling continues in the background.
func MakeFloatsContext(ctx context.Context, n int) ([]float32, error) {
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	if n < 0 || n > maxValues || n < 8*hugePage { // small n is fast; invalid n must panic in the caller's goroutine
		return MakeFloats(n), nil
	}
	made := make(chan []float32, 1)
	go func() { made <- allocate(n) }()
	select {
	case values := <-made:
		return values, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}
