package asm

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gramengine/gram/internal/musttest"
)

// With x = 1/2 and y = 1 each step halves the distance to 2. Sums that are multiples of 2⁻⁸ below 2
// stay exact for ten steps: they are then multiples of 2⁻¹⁸, and a float32 below 2 resolves 2⁻²³. A
// different number of steps gives a different result.
func TestPeak(t *testing.T) {
	eachISA(t, func(t *testing.T, k *Kernels) {
		r := rand.New(rand.NewPCG(1, 2))
		for _, n := range []int{0, PeakSums, 3 * PeakSums} {
			for _, rounds := range []int{0, 1, 2, 10} {
				t.Run(fmt.Sprintf("sums=%d/rounds=%d", n, rounds), func(t *testing.T) {
					sum, want := make([]float32, n), make([]float32, n)
					for i := range sum {
						sum[i] = float32(r.IntN(512)) / 256
						want[i] = 2 + float32(math.Ldexp(float64(sum[i]-2), -rounds))
					}
					k.Peak(sum, 0.5, 1, rounds)
					if !slices.Equal(sum, want) {
						t.Errorf("sums are %v, expected %v", sum, want)
					}
				})
			}
		}
	})
}

func TestRead(t *testing.T) {
	eachISA(t, func(t *testing.T, k *Kernels) {
		for _, n := range []int{0, 1, 7, 8, 63, 64, 65, 127, 128, 129, 1000} {
			src := musttest.MakeSlice(n, func(i int) float32 { return math.Float32frombits(1) })
			want := uint32(0)
			if n > 0 {
				want = 1
			}
			if got := k.Read(src); got != want {
				t.Errorf("%d equal values: %#x, expected %#x", n, got, want)
			}
			// A bit that only one value has must be in the result, at any index.
			for i := range src {
				src[i] = math.Float32frombits(1 | 1<<(1+i%31))
				if got, want := k.Read(src), uint32(1|1<<(1+i%31)); got != want {
					t.Errorf("%d values, the one at %d differs: %#x, expected %#x", n, i, got, want)
				}
				src[i] = math.Float32frombits(1)
			}
		}
	})
}
