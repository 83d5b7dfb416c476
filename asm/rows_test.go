package asm

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// A product and a sum are rounded once, together: the oracle adds them exactly and rounds to 53
// bits, and the bits must be the same.
func TestAddRows(t *testing.T) {
	eachISA(t, func(t *testing.T, k *Kernels) {
		rng := rand.New(rand.NewPCG(7, 8))
		for _, n := range append([]int{2, 3, 4, 5, 6, 127, 128, 129, 255}, lengths...) {
			t.Run(fmt.Sprintf("n=%d", n), func(t *testing.T) {
				for _, count := range []int{0, 1, 2, 3, 17} {
					from := rng.IntN(5)
					rows, by := make([][]float32, count), make([]float64, count)
					for r := range rows {
						rows[r], _ = fenced(from+n, r)
						for i := range rows[r] {
							rows[r][i] = float32(rng.NormFloat64())
						}
						for i := range from { // not to be read
							rows[r][i] = float32(math.NaN())
						}
						by[r] = rng.NormFloat64()
					}
					sums := make([]float64, fence+n+fence)
					for i := range sums {
						sums[i] = rng.NormFloat64()
					}
					want := append([]float64(nil), sums...)
					for i := range n {
						at := &want[fence+i]
						for r := range rows {
							*at = fused(by[r], float64(rows[r][from+i]), *at)
						}
					}
					k.AddRows(sums[fence:fence+n:fence+n], rows, from, by)
					for i, got := range sums {
						if math.Float64bits(got) != math.Float64bits(want[i]) {
							t.Fatalf("%d rows: sum %d is %v, want %v", count, i-fence, got, want[i])
						}
					}
				}
			})
		}
	})
}

// Every element is the one that its index says, the first and the last of the row too, and nothing
// around them is written.
func TestGather(t *testing.T) {
	eachISA(t, func(t *testing.T, k *Kernels) {
		rng := rand.New(rand.NewPCG(7, 9))
		src := make([]float32, 1500)
		for i := range src {
			src[i] = rng.Float32()
		}
		for _, n := range append([]int{2, 3, 4, 5, 6}, lengths...) {
			index := make([]int32, n)
			for i := range index {
				index[i] = []int32{0, int32(len(src) - 1), rng.Int32N(int32(len(src)))}[rng.IntN(3)]
			}
			dst, around := fenced(n, n%5)
			k.Gather(dst, src, index)
			for i, at := range index {
				if dst[i] != src[at] {
					t.Fatalf("n=%d: element %d is %v, expected src[%d] = %v", n, i, dst[i], at, src[at])
				}
			}
			if !intact(dst, around, n%5) {
				t.Fatalf("n=%d: written beyond the ends", n)
			}
		}
	})
}

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
