package asm

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// Each product and each sum is rounded once, in the order of the list: the oracle does them one at
// a time, and the bits must be the same, however the list is divided. Lists may name a row twice
// and needn't begin with row 0; rows that they don't name are NaN, and so is all around.
func TestRowSums(t *testing.T) {
	eachISA(t, func(t *testing.T, k *Kernels) {
		rng := rand.New(rand.NewPCG(31, 32))
		for _, width := range []int{1, 7, 32, 63, 64, 65, 96, 128, 192} {
			for _, n := range []int{0, 1, 2, 17} {
				t.Run(fmt.Sprintf("width=%d/n=%d", width, n), func(t *testing.T) {
					const base, count = 1000, 23
					rows, all := fenced(count*width, width%5)
					for i := range rows {
						rows[i] = float32(math.NaN())
					}
					at, coef := make([]int32, n), make([]float64, n)
					for s := range at {
						row := rng.IntN(count)
						at[s], coef[s] = int32(base+row), rng.NormFloat64()
						for r := range width {
							rows[row*width+r] = rng.Float32() - 0.5
						}
					}
					before := append([]float32(nil), all...)
					room := make([]float64, width+2)
					got, want := room[1:width+1], make([]float64, width)
					room[0], room[width+1] = math.NaN(), math.NaN()
					for r := range got {
						got[r] = rng.NormFloat64()
						want[r] = got[r]
						for s := range at {
							product := coef[s] * float64(rows[(int(at[s])-base)*width+r])
							want[r] = math.FMA(1, product, want[r]) // a sum that nothing can be fused into
						}
					}
					k.RowSums(got, rows, base, at[:n/2], coef[:n/2])
					k.RowSums(got, rows, base, at[n/2:], coef[n/2:])
					for r := range got {
						if math.Float64bits(got[r]) != math.Float64bits(want[r]) {
							t.Fatalf("sum %d is %v, want %v", r, got[r], want[r])
						}
					}
					if room[0] == room[0] || room[width+1] == room[width+1] {
						t.Error("a value beside the sums has changed")
					}
					for i, v := range all {
						if math.Float32bits(v) != math.Float32bits(before[i]) {
							t.Fatal("the rows have changed")
						}
					}
				})
			}
		}
	})
}
