package tiles

import (
	"context"
	"errors"
	"math"
	"runtime"
	"runtime/debug"
	"testing"
)

// MakeFloats returns n writable zeros for any size, with or without huge pages.
func TestMake(t *testing.T) {
	for _, n := range []int{
		0, 1, 1000, hugePage / 4, hugePage/2 - 1, hugePage / 2, hugePage/2 + 1, hugePage + 12345, 5*hugePage + 7,
	} {
		values := MakeFloats(n)
		if len(values) != n {
			t.Fatalf("%d values, expected %d", len(values), n)
		}
		for i, v := range values {
			if v != 0 {
				t.Fatalf("%d values: value %d is %v, expected 0", n, i, v)
			}
			values[i] = 1
		}
	}
}

// TestMakeContextEnds cancels the context while zeros are written; in the test, writing never ends.
func TestMakeContextEnds(t *testing.T) {
	defer func() { allocate = MakeFloats }()
	ctx, cancel := context.WithCancelCause(t.Context())
	never, mine := make(chan []float32), errors.New("mine")
	allocate = func(int) []float32 {
		cancel(mine)
		return <-never
	}
	defer close(never)
	if values, err := MakeFloatsContext(ctx, 16*hugePage); values != nil || !errors.Is(err, mine) {
		t.Fatalf("%d values, error %v, expected none and that of the context", len(values), err)
	}
}

// If the memory limit would be exceeded, MakeFloats frees garbage before it allocates, because the
// runtime would free it only afterwards. Otherwise MakeFloats frees nothing.
func TestMakeCollectsFirst(t *testing.T) {
	const size = 64 << 20
	forced := func(limit int64) uint32 {
		defer debug.SetMemoryLimit(debug.SetMemoryLimit(limit))
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		for range 4 {
			if values := MakeFloats(size / 4); values[0] != 0 {
				t.Fatal("values that aren't 0")
			}
		}
		runtime.ReadMemStats(&after)
		return after.NumForcedGC - before.NumForcedGC
	}
	defer debug.SetGCPercent(debug.SetGCPercent(-1)) // the runtime frees garbage only at the limit
	runtime.GC()
	var now runtime.MemStats
	runtime.ReadMemStats(&now)
	if n := forced(int64(now.HeapAlloc) + 3*size/2); n == 0 {
		t.Error("nothing was collected where there is room for one and a half times the values")
	}
	runtime.GC()
	for _, limit := range []int64{int64(now.HeapAlloc) + 100*size, math.MaxInt64} {
		if n := forced(limit); n != 0 {
			t.Errorf("collected %d times with a limit of %d", n, limit)
		}
	}
}
