package engine

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/gramengine/gram/engine/internal/cache"
	"github.com/gramengine/gram/engine/internal/compute"
	"github.com/gramengine/gram/sparse"
)

// Every method rejects work that exceeds free memory before it allocates, but first frees garbage.
func TestMachineMemory(t *testing.T) {
	const n, left = 4200, 64 << 20 // 4n² is 67.3 MiB
	x := embedded(t, sparse.SphereEmbedding, zipf(n, 500, 3, 1))
	e := newEngine(t, x, Options{Workers: 64})
	k, ctx := parse(t, "bhattacharyya"), t.Context()
	whole := newCached(t, e, CacheOptions{})
	asked := 0
	defer func(f func() (int64, bool)) { compute.AvailableMemory = f }(compute.AvailableMemory)
	compute.AvailableMemory = func() (int64, bool) { asked++; return left, true }
	ways := map[string]func() error{
		"Gram":     func() error { return of(e.Gram(ctx, k, nil)) },
		"Rows":     func() error { return of(e.Rows(ctx, k, Request{TestDocuments: x}, nil)) },
		"Build":    func() error { return whole.Build(ctx) },
		"Ready":    func() error { return of(readyOf(ctx, whole, k)) },
		"NewDense": func() (err error) { defer func() { err, _ = recover().(error) }(); NewDense(n, n); return nil },
	}
	for way, compute := range ways {
		var short *MemoryError
		asked = 0
		err := compute()
		if !errors.As(err, &short) || !short.IsSystemLimit || short.LimitBytes != left ||
			short.NeedBytes < MatrixBytes(n, n) {
			t.Errorf("%s: error %v, expected a MemoryError of %d bytes", way, err, int64(left))
		} else if asked != 2 || !strings.HasSuffix(err.Error(), " of memory, but the system leaves 64 MiB") {
			t.Errorf("%s: the machine was asked %d times: %v", way, asked, err)
		}
	}
	if c := newCached(t, e, CacheOptions{}); c.FitsInMemory() || c.Stats().Limit != left/2 {
		t.Errorf("a cache of %d bytes by default, whole: %v; expected %d", c.Stats().Limit, c.FitsInMemory(), left/2)
	}
	if s := whole.Stats(); s.Bytes != 0 {
		t.Errorf("%d bytes are counted of what was refused", s.Bytes)
	}

	// The second call finds more memory, because the collector freed some.
	compute.AvailableMemory = func() (int64, bool) { asked++; return int64(asked) * left, true }
	asked = 0
	if err := compute.CheckFreeMemory("a matrix", left+1); err != nil || asked != 2 {
		t.Errorf("with what the collector gives back: error %v, the machine was asked %d times", err, asked)
	}
	compute.AvailableMemory = func() (int64, bool) { return 0, false }
	if err := compute.CheckFreeMemory("a matrix", left+1); err != nil {
		t.Errorf("where the machine doesn't say: %v", err)
	}
}

// Numbers of bytes above the largest int64 become the largest int64.
func TestBytesDoNotWrapRound(t *testing.T) {
	// 4n² is above 2⁶³, just below 2⁶⁶, and 9·2⁶⁴, which is 0 modulo 2⁶⁴
	for _, n := range []int{1518500250, 1<<32 - 1, 3 << 31} {
		if b := compute.MatrixBytes(n, n); b != math.MaxInt64 {
			t.Errorf("%d² values take %d bytes", n, b)
		}
		if b := cache.FullMatrixBytes(n); b != math.MaxInt64 {
			t.Errorf("%d² values take %d bytes to keep", n, b)
		}
	}
	if b := compute.MatrixBytes(1<<31, 1<<29); b != 1<<62 {
		t.Errorf("2³¹·2²⁹ values take %d bytes", b)
	}
	if b := MaxEngineBytes(1, 1, 1<<60); b != math.MaxInt64 {
		t.Errorf("2⁶⁰ values take %d bytes", b)
	}
}
