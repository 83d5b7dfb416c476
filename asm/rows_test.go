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

// BenchmarkAddRows measures what a round of the solver takes to bring the scores up to date, with
// the rows in the second-level cache.
func BenchmarkAddRows(b *testing.B) {
	const n, count = 1131, 30
	rows, by := make([][]float32, count), make([]float64, count)
	for r := range rows {
		rows[r] = make([]float32, n)
		by[r] = 1e-3
	}
	sum := make([]float64, n)
	for _, k := range tables() {
		b.Run(fmt.Sprintf("isa=%s/n=%d/rows=%d", k.ISA, n, count), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				k.AddRows(sum, rows, 0, by)
			}
			b.ReportMetric(n*count*float64(b.N)/b.Elapsed().Seconds(), "values/s")
		})
	}
}
