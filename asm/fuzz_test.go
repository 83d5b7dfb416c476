package asm

import (
	"encoding/binary"
	"math"
	"slices"
	"testing"
)

// FuzzMaps compares every instruction set with the portable maps: both are within the tolerance of
// the exact value, so they differ by at most twice that.
func FuzzMaps(f *testing.F) {
	f.Add([]byte{}, uint8(0), float32(1))
	f.Add(make([]byte, 67), uint8(4), float32(0.5))
	f.Add([]byte("\x00\x00\x80\x3f\x01\x00\x80\x3f\xff\xff\x7f\x3f\x00\x00\x00\x40"+
		"\x01\x00\x00\x00\xff\xff\xff\x7f\x00\x00\xc0\x7f\x00\x00\x2f\xc3"), uint8(3), float32(2))
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
		for _, k := range tables {
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

// FuzzSolver compares every instruction set with the portable kernels of the solver, to the bit.
func FuzzSolver(f *testing.F) {
	f.Add([]byte{}, 1.0, 1.0, uint8(1))
	f.Add(make([]byte, 300), -1.0, 1e300, uint8(255))
	f.Fuzz(func(t *testing.T, data []byte, gmax, kii float64, bit uint8) {
		bit &= -bit
		n := len(data) / 4 / ScanBlock * ScanBlock
		from, mask := min(len(data)%4, n), data[:n]
		g, ki, kj, diag := make([]float64, n), make([]float32, n), make([]float32, n), make([]float32, n)
		for i := range g {
			g[i] = float64(int8(data[4*i]))
			ki[i], kj[i], diag[i] = float32(data[4*i+1])/16, float32(int8(data[4*i+2])), float32(int8(data[4*i+3]))
			if data[4*i] == 0x80 {
				g[i] = gmax
			}
		}
		for _, k := range tables {
			at, most, low, least := k.Extremes(g, mask, bit, 1)
			wantAt, wantMax, wantLow, wantMin := generic.Extremes(g, mask, bit, 1)
			if at != wantAt || most != wantMax || low != wantLow || least != wantMin {
				t.Errorf("isa=%s: the extremes are %v at %d, %v at %d, in portable Go %v at %d, %v at %d",
					k.ISA, most, at, least, low, wantMax, wantAt, wantMin, wantLow)
			}
			at, gain, least := k.ArgGain(g, ki, diag, mask, bit, gmax, kii)
			wantAt, wantGain, wantMin := generic.ArgGain(g, ki, diag, mask, bit, gmax, kii)
			if at != wantAt || gain != wantGain || least != wantMin {
				t.Errorf("isa=%s: the gain is %v at %d, least %v, in portable Go %v at %d, %v",
					k.ISA, gain, at, least, wantGain, wantAt, wantMin)
			}
			one, two := make([]int32, n), make([]int32, n)
			many, want := k.Beyond(one, g, mask, bit, -1, gmax), generic.Beyond(two, g, mask, bit, -1, gmax)
			if many != want || !slices.Equal(one[:many], two[:want]) {
				t.Errorf("isa=%s: beyond %v are %v, in portable Go %v", k.ISA, gmax, one[:many], two[:want])
			}
			sums, others := slices.Clone(g), slices.Clone(g)
			at, most = k.Step(sums, ki, kj, gmax, kii, mask, bit)
			if wantAt, want := generic.Step(others, ki, kj, gmax, kii, mask, bit); at != wantAt || most != want {
				t.Errorf("isa=%s: the greatest after a step is %v at %d, in portable Go %v at %d",
					k.ISA, most, at, want, wantAt)
			}
			k.AddRows(sums[from:], [][]float32{diag, kj, ki}, from, []float64{gmax, 1, kii})
			generic.AddRows(others[from:], [][]float32{diag, kj, ki}, from, []float64{gmax, 1, kii})
			for i, v := range sums {
				if math.Float64bits(v) != math.Float64bits(others[i]) && v == v {
					t.Errorf("isa=%s: the sum %d is %v, in portable Go %v", k.ISA, i, v, others[i])
				}
			}
		}
	})
}
