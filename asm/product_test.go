package asm

import (
	"math"
	"math/rand/v2"
	"testing"
)

// Sums are those of products that are added exactly and rounded to 53 bits, line by line, however
// many vectors there are and whatever lies between lines; nothing else is written. Lines in two
// calls have the bits of one.
func TestMultiply(t *testing.T) {
	eachISA(t, func(t *testing.T, k *Kernels) {
		t.Run("Multiply", func(t *testing.T) { testMultiply(t, k.Multiply) })
		t.Run("MultiplyWide", func(t *testing.T) { testMultiply(t, k.MultiplyWide) })
	})
}

func testMultiply[T float32 | float64](
	t *testing.T,
	multiply func(sum []float64, apart int, c []T, stride, lines, width int, by []float64, byStride, vectors int),
) {
	rng := rand.New(rand.NewPCG(9, 8))
	for _, n := range append([]int{2, 3, 4, 5, 6, 24, 48}, lengths...) {
		for _, vectors := range []int{0, 1, 2, 3, 4, 5, 8, 9} {
			lines := rng.IntN(8)
			apart, stride, byStride := n+rng.IntN(3), n+rng.IntN(3), vectors+rng.IntN(3)
			c := make([]T, lines*stride)
			for i := range c {
				if c[i] = T(rng.NormFloat64()); i%max(stride, 1) >= n {
					c[i] = T(math.NaN())
				}
			}
			by := make([]float64, lines*byStride)
			for i := range by {
				if by[i] = rng.NormFloat64(); i%max(byStride, 1) >= vectors {
					by[i] = math.NaN()
				}
			}
			sums := make([]float64, fence+vectors*apart+fence)
			for i := range sums {
				sums[i] = rng.NormFloat64()
			}
			want := append([]float64(nil), sums...)
			for v := range vectors {
				for i := range n {
					at := &want[fence+v*apart+i]
					for l := range lines {
						*at = fused(by[l*byStride+v], float64(c[l*stride+i]), *at)
					}
				}
			}
			half := lines / 2
			sum := sums[fence : fence+vectors*apart : fence+vectors*apart]
			multiply(sum, apart, c, stride, half, n, by, byStride, vectors)
			multiply(sum, apart, c[half*stride:], stride, lines-half, n, by[half*byStride:], byStride, vectors)
			for i, got := range sums {
				if math.Float64bits(got) != math.Float64bits(want[i]) {
					t.Fatalf("%d vectors, %d lines of %d: sum %d is %v, want %v", vectors, lines, n, i-fence, got, want[i])
				}
			}
		}
	}
}
