// Package interpolate makes polynomials that take a function's values at given points.
package interpolate

import "math"

// Chebyshev returns the n zeros of the Chebyshev polynomial of degree n, falling from near 1 to near
// -1: the points where interpolation on [-1, 1] loses least.
func Chebyshev(n int) []float64 {
	x := make([]float64, n)
	for k := range x {
		x[k] = math.Cos((float64(k) + 0.5) * math.Pi / float64(n))
	}
	return x
}

// Newton turns values p at points x, as many and all different, into the coefficients of the
// polynomial through them, those of x⁰ first, by Newton's differences.
func Newton(x, p []float64) {
	n := len(p)
	for k := 1; k < n; k++ {
		for i := n - 1; i >= k; i-- {
			p[i] = (p[i] - p[i-1]) / (x[i] - x[i-k])
		}
	}
	for k := n - 2; k >= 0; k-- {
		for i := k; i < n-1; i++ {
			p[i] -= x[k] * p[i+1]
		}
	}
}
