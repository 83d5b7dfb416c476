package asm

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// The values that are at most one of their two limits are found, in order, whatever lies between
// the lines; ties are in, NaN never is.
func TestSelect(t *testing.T) {
	eachISA(t, func(t *testing.T, k *Kernels) {
		r := rand.New(rand.NewPCG(1, 2))
		inf := float32(math.Inf(1))
		kinds := []float32{-inf, inf, float32(math.NaN()), 0, 0.25, 0.5}
		for _, n := range append(lengths, 96, 128) {
			for _, lines := range []int{0, 1, 3, 8} {
				for _, share := range []float64{0, 0.01, 1} { // of values that may be selected
					stride := n + r.IntN(5)
					c := poisoned(lines*stride + 3)[: lines*stride : lines*stride]
					for i := range c {
						c[i] = 1 + r.Float32()
						if r.Float64() < share {
							c[i] = kinds[r.IntN(len(kinds))]
						}
					}
					limits := func(n int) []float32 {
						s := numbers[float32](r, n, 0, 0.5)
						for i := range s {
							if l := kinds[r.IntN(len(kinds))]; l == l && l < inf && r.IntN(2) == 0 {
								s[i] = l
							}
						}
						return s
					}
					rows, places := limits(lines), limits(n)
					var want []uint32
					for i, a := range rows {
						for j, b := range places {
							if v := float64(c[i*stride+j]); v <= math.Max(float64(a), float64(b)) {
								want = append(want, uint32(i)*65536+uint32(j))
							}
						}
					}
					index := make([]uint32, lines*n)
					if got := index[:k.Select(index, c, stride, rows, places)]; !slices.Equal(got, want) {
						t.Fatalf("n=%d, lines=%d, share=%v: %v, expected %v", n, lines, share, got, want)
					}
				}
			}
		}
	})
}
