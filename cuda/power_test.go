//go:build cuda && cgo && linux

package cuda

import (
	"math"
	"testing"

	"github.com/gramengine/gram/engine/device"
)

// Whole powers of any size, even and odd, are those of the program in Go, up to the end of [0, 2],
// where c of documents without a common term is: 1 - (1-v)^p of v = 2c.
func TestGreatPowers(t *testing.T) {
	noLeaks(t)
	const n = 70
	x := embedded(t, zipf(n, 100, 8, 3))
	cols := load(t, open(t, Options{}), x)
	c := gather(t, cols, whole(cols), n)
	ends := 0
	for _, power := range []float64{3, 1<<20 - 1, 1 << 20, 1<<20 + 1, 1 << 32, 1<<32 + 1, 1 << 33, 1<<40 + 1, 1e300} {
		code := []device.Code{{Op: device.OpC}, {Op: device.OpConst}, {Op: device.OpMul}, {Op: device.OpDeficit, N: 1}}
		p := &device.Program{Consts: []float64{2, power}, Code: code}
		for i, got := range gather(t, cols, &device.Request{Program: p, Docs: sequence(n), Hi: n}, n) {
			if c[i] == 1 {
				ends++
			}
			// float32's rounding, and that of the logarithm times the power, which matters down to
			// e^-40 of the value.
			if want := p.Eval(c[i], 1, 1); !(math.Abs(float64(got)-want) <= 0x1p-23*math.Abs(want)+40*0x1p-50) {
				t.Fatalf("1-(1-2·%v)^%v: found %v, expected %v", c[i], power, got, want)
			}
		}
	}
	if ends == 0 {
		t.Error("all documents have common terms")
	}
}
