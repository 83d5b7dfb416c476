package engine

import (
	"errors"
	"runtime"
	"runtime/debug"
	"slices"
	"testing"

	"github.com/gramengine/gram/engine/internal/enginetest"
	"github.com/gramengine/gram/engine/kernel"
	"github.com/gramengine/gram/internal/musttest"
	"github.com/gramengine/gram/sparse"
)

// Lists of any length take NeighboursBytes, and each worker some scratch space.
func TestNeighboursMemory(t *testing.T) {
	musttest.SkipRace(t)
	x := enginetest.EmbedCSR(t, sparse.SphereEmbedding, enginetest.Zipf(1500, 2000, 8, 5))
	e := newEngine(t, x, Options{Workers: 1})
	k := kernel.MustParse("hellinger")
	defer debug.SetGCPercent(debug.SetGCPercent(-1)) // the collector would empty the pools of scratch space
	for _, count := range []int{1, 1499} {           // the first call makes panels
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		musttest.Get(e.Neighbours(t.Context(), k, NeighbourOptions{Count: count}))(t)
		runtime.ReadMemStats(&after)
		took := int64(after.TotalAlloc - before.TotalAlloc)
		if most := NeighboursBytes(1500, count) + 1<<20; count > 1 && took > most {
			t.Errorf("%d neighbours: %d bytes allocated, expected at most %d", count, took, most)
		}
	}
}

func TestNeighboursRefused(t *testing.T) {
	k := kernel.MustParse("hellinger")
	many := enginetest.EmbedRows(t, k.Embedding(), slices.Repeat([][]float32{{1, 2}}, 3000))
	e := newEngine(t, many, Options{MemoryBytes: 32 << 20, Workers: 1})
	var short *MemoryError
	if _, err := e.Neighbours(t.Context(), k, NeighbourOptions{Count: 2999}); !errors.As(err, &short) {
		t.Errorf("72 MB of lists: %v, expected a MemoryError", err)
	}
}
