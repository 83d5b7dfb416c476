// Package interpolate computes interpolating polynomials.
package interpolate

import "math"

// ChebyshevNodes returns the n zeros of the Chebyshev polynomial of degree n in descending order.
// These nodes nearly minimise the interpolation error on [-1, 1].
func ChebyshevNodes(n int) []float64 {
	x := make([]float64, n)
	for k := range x {
		x[k] = math.Cos((float64(k) + 0.5) * math.Pi / float64(n))
	}
	return x
}

// FitPolynomial replaces the values p at distinct points x by the coefficients of the interpolating
// polynomial, lowest power first. It uses Newton's divided differences.
func FitPolynomial(x, p []float64) {
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
