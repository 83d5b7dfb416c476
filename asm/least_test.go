package asm

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// The least values of groups are those that sorting finds, whatever lies between the lines and
// wherever groups end; NaN never is one.
func TestMin(t *testing.T) {
	eachISA(t, func(t *testing.T, k *Kernels) {
		r := rand.New(rand.NewPCG(3, 4))
		inf := math.Inf(1)
		kinds := []float32{float32(-inf), float32(inf), float32(math.NaN()), 0, 0.25}
		for _, places := range append(lengths, 96, 128) {
			for _, lines := range []int{0, 1, 7, 20} {
				for _, group := range []int{1, 3, 7, 100} {
					stride, levels := places+r.IntN(5), 1+r.IntN(4)
					c := poisoned(lines*stride + 3)[: lines*stride : lines*stride]
					for i := range lines {
						for j := range places {
							c[i*stride+j] = r.Float32()
							if r.IntN(8) == 0 {
								c[i*stride+j] = kinds[r.IntN(len(kinds))]
							}
						}
					}
					fence := poisoned(levels*places + 6)
					least := fence[3:][:levels*places]
					want := make([]float32, len(least))
					for j := range places {
						of := []float64{inf, inf, inf, inf}[:levels]
						for q := range of {
							if r.IntN(2) == 0 {
								of[q] = float64(r.Float32()) // from an earlier call
							}
						}
						slices.Sort(of)
						for q, v := range of {
							least[q*places+j] = float32(v)
						}
						for first := 0; first < lines; first += group {
							m := inf
							for i := first; i < min(first+group, lines); i++ {
								if v := float64(c[i*stride+j]); v == v {
									m = math.Min(m, v)
								}
							}
							of = append(of, m)
						}
						slices.Sort(of)
						for q, v := range of[:levels] {
							want[q*places+j] = float32(v)
						}
					}
					k.Min(least, levels, c, stride, lines, places, group)
					if !slices.Equal(least, want) {
						t.Fatalf("places=%d, lines=%d, group=%d: %v, expected %v", places, lines, group, least, want)
					}
					for _, v := range slices.Concat(fence[:3], fence[3+len(least):]) {
						if v != poison {
							t.Fatalf("places=%d, lines=%d: %v written beyond the end", places, lines, v)
						}
					}
				}
			}
		}
	})
}
