package asm

import "math"

// multiplyGeneric multiplies a tile of a matrix by vectors, and adds the products to sums,
//
//	sum[v*apart+i] = fma(by[k*byStride+v], c[k*stride+i], sum[v*apart+i])  for k = 0, 1, … in turn,
//	0 <= k < lines, 0 <= i < width, 0 <= v < vectors
//
// Sums are stored vector by vector, and elements of vectors line by line. apart and stride are at
// least width, byStride at least vectors. Multiply-adds are fused and rounded once to float64. So
// results are bit-identical for all instruction sets and all divisions of lines and columns among
// calls. sum overlaps neither c nor by. Nothing is allocated or retained. Calls may run
// concurrently if no sum overlaps memory that another call accesses.
//
// Accuracy: |error| <= lines·2⁻⁵³·max over k of |sum[v*apart+i] after line k|.
func multiplyGeneric[T float32 | float64](
	sum []float64, apart int, c []T, stride, lines, width int, by []float64, byStride, vectors int,
) {
	for v := range vectors {
		s := sum[v*apart:][:width]
		for k := range lines {
			b := by[k*byStride+v]
			for i, value := range c[k*stride:][:width] {
				s[i] = math.FMA(b, float64(value), s[i])
			}
		}
	}
}
