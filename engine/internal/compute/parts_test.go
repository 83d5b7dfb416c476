package compute

import (
	"sync"
	"testing"

	"github.com/gramengine/gram/asm"
	"github.com/gramengine/gram/engine/device"
	"github.com/gramengine/gram/internal/musttest"
	"github.com/gramengine/gram/internal/run"
)

// A tile of few rows has a part per worker, a tile of many rows has parts of a panel, and each row
// is in one part.
func TestParts(t *testing.T) {
	for _, isa := range asm.Available() {
		testParts(t, &Computer{Kernels: musttest.Get(asm.KernelsFor(isa))(t)})
	}
}

func testParts(t *testing.T, c *Computer) {
	panel := c.Kernels.PanelWidth
	for _, of := range []struct {
		rows, workers, least, highest int
	}{{3 * panel, 16, 6, max(panel/2, 16)}, {100 * panel, 2, 100, panel}, {40, 1, 3, 16}} {
		r := &device.Request{RowIndices: run.Range(0, of.rows), Hi: 7000, Workers: of.workers}
		tile := &device.Tile{
			Rows: of.rows, Hi: 7000, RowStride: 7000, ColStride: 1, Values: make([]float32, 7000*of.rows),
		}
		var mu sync.Mutex
		first := map[int]int{} // rows of each part
		err := c.divideTile(t.Context(), r, tile, func(p *device.Tile) error {
			mu.Lock()
			defer mu.Unlock()
			first[p.FirstRow] = p.Rows
			return nil
		})
		rows := 0
		for _, n := range first {
			if rows += n; n > of.highest {
				t.Errorf("%d rows, %d workers: a part of %d rows, expected at most %d", of.rows, of.workers, n, of.highest)
			}
		}
		if err != nil || rows != of.rows || len(first) < of.least {
			t.Errorf("%d rows, %d workers: %d parts of %d rows, expected at least %d, error %v",
				of.rows, of.workers, len(first), rows, of.least, err)
		}
	}
}
