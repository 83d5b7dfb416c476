package tiles

import (
	"context"
	"errors"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"testing"
)

// Whatever the size, and so whatever part of it is in large pages: n values, all 0, all writable.
func TestMake(t *testing.T) {
	for _, n := range []int{
		0, 1, 1000, hugePage / 4, hugePage/2 - 1, hugePage / 2, hugePage/2 + 1, hugePage + 12345, 5*hugePage + 7,
	} {
		values := Make(n)
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

// TestMakeContextEnds ends the context while zeros are written, which the test has last for ever.
func TestMakeContextEnds(t *testing.T) {
	defer func() { allocate = Make }()
	ctx, cancel := context.WithCancelCause(t.Context())
	never, mine := make(chan []float32), errors.New("mine")
	allocate = func(int) []float32 {
		cancel(mine)
		return <-never
	}
	defer close(never)
	if values, err := MakeContext(ctx, 16*hugePage); values != nil || !errors.Is(err, mine) {
		t.Fatalf("%d values, error %v, expected none and that of the context", len(values), err)
	}
}

// Where memory is bounded, garbage goes before new values come, not after.
func TestMakeCollectsFirst(t *testing.T) {
	heap := func() int64 {
		sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
		metrics.Read(sample)
		return int64(sample[0].Value.Uint64())
	}
	const size = 32 << 20
	runtime.GC()
	limit := heap() + 3*size
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(limit))
	for range 10 {
		values := Make(size / 4)
		if now := heap(); now > limit {
			t.Fatalf("the heap has %d bytes, %d of them in use, with a limit of %d", now, 4*len(values), limit)
		}
	}
}
