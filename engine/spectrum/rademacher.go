package spectrum

import "math"

// RademacherSum returns
//
//	Σ min(r, λ_j)
//
// over the eigenvalues λ_j of K/n, those of the matrix divided by its number of rows, which
// estimate the eigenvalues of the kernel's integral operator. Eigenvalues below 0 count as 0. Its
// root is, up to constants and the factor 1/√n, the Rademacher average of the functions of norm up
// to 1 in the kernel's Hilbert space whose mean square is at most r. Source: Lafferty and Lebanon,
// JMLR 6 (2005), §4, after Mendelson (2003).
func RademacherSum(eigenvalues []float64, r float64) float64 {
	sum := 0.0
	for _, v := range eigenvalues {
		sum += math.Min(r, math.Max(v, 0))
	}
	return sum
}

// RademacherBound returns an upper bound of RademacherSum where only lower bounds θ_1 >= … >= θ_k
// of the largest eigenvalues are known, as Lanczos gives them, whether they have converged or not,
// together with the trace and the sum of squares of all n, and a lower bound of the smallest, which
// may be -Inf.
//
// With θ_j > 0, what θ leaves of the eigenvalues has the sum l = trace - Σ θ and a sum of squares
// of at most q = squares - Σ θ², as (λ-θ)² <= λ² - θ². Its positive part is therefore at most (l +
// √(n q))/2, by the inequality of Cauchy and Schwarz, and at most l - n·min(smallest, 0). Of no
// documents it is 0. Values of largest that are no numbers count as unknown; another argument that
// is none makes the bound none.
func RademacherBound(largest []float64, n int, trace, squares, smallest, r float64) float64 {
	if n <= 0 {
		return 0 // a smallest eigenvalue of -Inf times none is no number
	}
	left, q, known := trace, squares, 0.0
	for _, v := range largest {
		if v > 0 {
			left -= v
			q -= v * v
			known += math.Min(r, v)
		}
	}
	positive := math.Min((left+math.Sqrt(float64(n)*math.Max(q, 0)))/2, left-float64(n)*math.Min(smallest, 0))
	return math.Min(float64(n)*r, known+math.Max(positive, 0))
}
