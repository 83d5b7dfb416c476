package asm

import (
	"math"
	"testing"
)

// accuracyInputs calls f with blocks of arguments: every float32 next to the ends, and a sample
// over all bit patterns, which is dense in every binade. near is how many numbers next to an end
// are taken.
func accuracyInputs(exp bool, near, stride uint32, f func(c []float32)) {
	block := make([]float32, 0, 4096)
	run := func(from, n, step uint32) {
		for i := uint32(0); i < n; i++ {
			block = append(block, math.Float32frombits(from+i*step))
			if len(block) == cap(block) {
				f(block)
				block = block[:0]
			}
		}
	}
	bits := math.Float32bits
	if exp {
		for _, sign := range []uint32{0, 1 << 31} {
			run(sign, near, 1)
			run(sign|bits(104)-near/2, near, 1) // where results become 0
			run(sign|bits(88.72)-near/2, near, 1)
			run(sign|bits(87.33)-near/2, near, 1) // where results become denormal
			run(sign, bits(1e30)/stride, stride)
		}
	} else {
		run(0, near, 1)
		run(bits(0x1p-126), near, 1)
		run(bits(1)-near, 2*near, 1)
		run(bits(2)-near+1, near, 1)
		run(0, (bits(2)-bits(0))/stride, stride)
		run(bits(0x1p-12), (bits(2)-bits(0x1p-12))/(stride/16), stride/16) // where text lives
	}
	f(block)
}

// TestMapsAccuracy checks every map of every instruction set over the whole domain, and logs the
// greatest error met as a share of what is allowed.
func TestMapsAccuracy(t *testing.T) {
	near, stride := uint32(1<<18), uint32(4099)
	if testing.Short() {
		near, stride = 1<<12, 400_009
	}
	for _, m := range mapCases() {
		t.Run("map="+m.name, func(t *testing.T) {
			t.Parallel()
			list := tables
			worst := make([]float64, len(list))
			at := make([]float32, len(list))
			dst := make([]float32, 4096)
			y := make([]float32, 4096)
			for i := range y {
				y[i] = float32(math.Exp2(float64(i%65-32) / 16))
			}
			want := make([]float64, 4096)
			tol := make([]float64, 4096)
			accuracyInputs(m.exp, near, stride, func(c []float32) {
				for i, v := range c {
					want[i], tol[i] = m.want(float64(v), float64(y[i]))
				}
				for n, k := range list {
					m.run(k, dst[:len(c)], c, y[:len(c)])
					for i, v := range dst[:len(c)] {
						if off(v, want[i], tol[i]) {
							t.Fatalf("isa=%s: c=%v (%#x), y=%v gives %v, want %v within %.3g",
								k.ISA, c[i], math.Float32bits(c[i]), y[i], v, want[i], tol[i])
						}
						if e := math.Abs(float64(v)-want[i]) / tol[i]; e > worst[n] && !math.IsInf(e, 0) {
							worst[n], at[n] = e, c[i]
						}
					}
				}
			})
			for n, k := range list {
				t.Logf("isa=%s: greatest error %.2f of what is allowed, at c=%v", k.ISA, worst[n], at[n])
			}
		})
	}
}
