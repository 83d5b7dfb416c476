//go:build cuda && cgo && linux

package cuda

import (
	"errors"
	"math"
	"testing"

	"gorgonia.org/cu"

	"github.com/gramengine/gram/engine/device"
)

// A request takes the memory of the one before it, and gives way to whoever needs it more.
func TestSpareMemory(t *testing.T) {
	noLeaks(t)
	const n = 150
	x := embedded(t, zipf(n, 100, 8, 3))
	d := open(t, Options{})
	cols, err := d.Load(t.Context(), x)
	if err != nil {
		t.Fatal(err)
	}
	r := &device.Request{Docs: sequence(n), Hi: n, Program: &device.Program{Code: []device.Code{{Op: device.OpC}, {Op: device.OpX}, {Op: device.OpMul}}, Norms: []func(float64) float64{math.Sqrt}}}
	want := gather(t, cols, r, n)
	t.Setenv("FAKE_FAIL", "cuMemAlloc_v2:1:2") // from now on
	got := gather(t, cols, r, n)
	t.Setenv("FAKE_FAIL", "")
	for i, v := range want {
		if math.Float32bits(got[i]) != math.Float32bits(v) {
			t.Fatalf("value %d: %v, then %v", i, v, got[i])
		}
	}
	err = d.do(func() error {
		if len(d.spare) == 0 {
			t.Error("nothing is spare after a request")
		}
		d.limit = d.held
		m, err := d.alloc(64)
		if err != nil || len(d.spare) != 0 {
			t.Errorf("%d spare pieces, error %v", len(d.spare), err)
		}
		held := d.held
		if _, err := d.alloc(d.limit - held + 1); !errors.Is(err, cu.OutOfMemory) || d.held != held {
			t.Errorf("error %v, %d bytes held, expected %d", err, d.held, held)
		}
		return d.free(&m)
	})
	if err = errors.Join(err, cols.Close(), d.Close()); err != nil {
		t.Error(err)
	}
	if d.held != 0 {
		t.Errorf("%d bytes are held after closing", d.held)
	}
}
