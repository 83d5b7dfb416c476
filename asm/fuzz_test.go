package asm

import (
	"encoding/binary"
	"math"
	"testing"
)

// FuzzMaps holds every instruction set to the portable maps: both are within the tolerance of the exact value, so they differ by at most
// twice that.
func FuzzMaps(f *testing.F) {
	f.Add([]byte{}, uint8(0), float32(1))
	f.Add(make([]byte, 67), uint8(4), float32(0.5))
	f.Add([]byte("\x00\x00\x80\x3f\x01\x00\x80\x3f\xff\xff\x7f\x3f\x00\x00\x00\x40\x01\x00\x00\x00\xff\xff\xff\x7f\x00\x00\xc0\x7f\x00\x00\x2f\xc3"), uint8(3), float32(2))
	cases := mapCases()
	f.Fuzz(func(t *testing.T, data []byte, which uint8, norm float32) {
		m := cases[int(which)%len(cases)]
		if !(norm >= 1e-3 && norm <= 1e3) {
			norm = 1
		}
		n := len(data) / 4
		c, y := make([]float32, n), make([]float32, n)
		for i := range c {
			c[i] = math.Float32frombits(binary.LittleEndian.Uint32(data[4*i:]))
			if !m.exp { // into the domain: [0, 2] or NaN
				c[i] = float32(math.Mod(math.Abs(float64(c[i])), 2))
			}
			y[i] = norm * float32(1+i%7)
		}
		want, got := make([]float32, n), make([]float32, n)
		m.run(&generic, want, c, y)
		for _, k := range tables() {
			m.run(k, got, c, y)
			for i := range got {
				if got[i] == want[i] || got[i] != got[i] && want[i] != want[i] && c[i] != c[i] {
					continue
				}
				exact, tol := m.want(float64(c[i]), float64(y[i]))
				if off(want[i], exact, tol) || off(got[i], exact, tol) {
					t.Errorf("isa=%s, map=%s: element %d of c=%v, y=%v is %v, in portable Go %v, want %v within %.3g",
						k.ISA, m.name, i, c[i], y[i], got[i], want[i], exact, tol)
				}
			}
		}
	})
}

// FuzzSolver holds every instruction set to the portable kernels of the solver, to the bit.
func FuzzSolver(f *testing.F) {
	f.Add([]byte{}, 1.0, 1.0, uint8(1))
	f.Add(make([]byte, 300), -1.0, 1e300, uint8(255))
	f.Fuzz(func(t *testing.T, data []byte, gmax, kii float64, bit uint8) {
		bit &= -bit
		n := len(data) / 4
		g, ki, kj, diag := make([]float64, n), make([]float32, n), make([]float32, n), make([]float32, n)
		for i := range g {
			g[i] = float64(int8(data[4*i]))
			ki[i], kj[i], diag[i] = float32(data[4*i+1])/16, float32(int8(data[4*i+2])), float32(int8(data[4*i+3]))
			if data[4*i] == 0x80 {
				g[i] = gmax
			}
		}
		mask := data
		for _, k := range tables() {
			at, best := k.ArgMax(g, mask, bit)
			if wantAt, want := generic.ArgMax(g, mask, bit); at != wantAt || best != want {
				t.Errorf("isa=%s: the greatest is %v at %d, in portable Go %v at %d", k.ISA, best, at, want, wantAt)
			}
			at, best = k.ArgMin(g, mask, bit)
			if wantAt, want := generic.ArgMin(g, mask, bit); at != wantAt || best != want {
				t.Errorf("isa=%s: the least is %v at %d, in portable Go %v at %d", k.ISA, best, at, want, wantAt)
			}
			at, gain, low := k.ArgGain(g, ki, diag, mask, bit, gmax, kii)
			if wantAt, want, wantLow := generic.ArgGain(g, ki, diag, mask, bit, gmax, kii); at != wantAt || gain != want || low != wantLow {
				t.Errorf("isa=%s: the gain is %v at %d, least %v, in portable Go %v at %d, %v", k.ISA, gain, at, low, want, wantAt, wantLow)
			}
			one, two := append([]float64(nil), g...), append([]float64(nil), g...)
			k.GradientUpdate(one, ki, kj, gmax, kii)
			generic.GradientUpdate(two, ki, kj, gmax, kii)
			for i := range one {
				if math.Float64bits(one[i]) != math.Float64bits(two[i]) && one[i] == one[i] {
					t.Errorf("isa=%s: the sum %d is %v, in portable Go %v", k.ISA, i, one[i], two[i])
				}
			}
		}
	})
}
