package spectrum

import "math"

// RademacherSupremum returns the supremum of
//
//	1/n Σ σ_i f(x_i)
//
// over the functions f of norm up to 1 in a kernel's Hilbert space whose mean square 1/n Σ f(x_i)²
// on the n points is at most r. Its mean over random signs σ is the Rademacher average of these
// functions, which is at most √(2/n RademacherSum(eigenvalues, r)). The eigenvalues λ_j are those of
// K/n, and signs[j] is vᵀσ of the eigenvector v of norm 1 of λ_j; both have n values. Eigenvalues
// below 0 count as 0.
//
// With f = Σ a_j √(n λ_j) v_j it is that of Σ a_j √(λ_j/n) signs[j] over Σ a_j² <= 1 and Σ λ_j a_j²
// <= r, which by duality is the least
//
//	√(Σ λ_j signs[j]² / n / (θ + (1-θ) λ_j/r)),   0 <= θ <= 1
//
// and that is found by halving, as its square is convex in θ. The relative error is of the order of
// n·2⁻⁵³. Slices of different lengths and an r that isn't above 0 make it no number.
//
// Source: Lafferty and Lebanon, JMLR 6 (2005), §4.2, Theorem 5, after Mendelson (2003).
func RademacherSupremum(eigenvalues, signs []float64, r float64) float64 {
	if len(eigenvalues) != len(signs) || !(r > 0) {
		return math.NaN()
	}
	// The square at θ, and its slope.
	at := func(theta float64) (value, slope float64) {
		for j, v := range eigenvalues {
			if v > 0 {
				weight := theta + (1-theta)*(v/r)
				term := v * signs[j] * signs[j] / weight
				value += term
				slope -= term * (1 - v/r) / weight
			}
		}
		return value, slope
	}
	lo, hi := 0.0, 1.0
	for range 60 {
		mid := (lo + hi) / 2
		if _, slope := at(mid); slope < 0 {
			lo = mid
		} else {
			hi = mid
		}
	}
	least := math.Inf(1)
	for _, theta := range []float64{lo, hi} {
		value, _ := at(theta)
		least = math.Min(least, value)
	}
	return math.Sqrt(least / float64(max(len(eigenvalues), 1)))
}
