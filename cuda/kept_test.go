//go:build cuda && cgo && linux

package cuda

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"

	"gorgonia.org/cu"

	"github.com/gramengine/gram/engine/device"
)

// A matrix that is kept on the device has the bits of the rows that are copied from it, whether it
// is computed at once or some rows at a time.
func TestKeep(t *testing.T) {
	noLeaks(t)
	const n = 301
	x := embedded(t, zipf(n, 500, 12, 4))
	d := open(t, Options{TileBytes: 64 << 10})
	cols := load(t, d, x)
	for _, c := range []struct {
		program *device.Program
		rows    int
	}{{nil, computedRows}, {gaussianC, computedRows}, {gaussianC, panelWidth}, {normed, panelWidth}} {
		want := gather(t, cols, &device.Request{Program: c.program, Docs: sequence(n), Hi: n}, n)
		k, err := cols.keep(t.Context(), c.program, c.rows)
		if err != nil {
			t.Fatal(err)
		}
		row := make([]float32, n)
		for i := range n {
			if err := k.Row(i, row); err != nil {
				t.Fatal(err)
			}
			for j, v := range row {
				if math.Float32bits(v) != math.Float32bits(want[i*n+j]) {
					t.Fatalf("%d rows at a time, (%d, %d): found %v, expected %v", c.rows, i, j, v, want[i*n+j])
				}
			}
		}
		if err := k.Row(n, row); err == nil || !strings.Contains(err.Error(), "row 301") {
			t.Errorf("error %v", err)
		}
		if err := k.Close(); err != nil {
			t.Error(err)
		}
	}
	holdKept(t, cols, gaussianC, n)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := cols.Keep(ctx, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, expected that of the context", err)
	}
	d.limit = d.held + 1000
	if _, err := cols.Keep(t.Context(), nil); !errors.Is(err, cu.OutOfMemory) {
		t.Errorf("error %v, expected a lack of memory", err)
	}
}
