package spectrum

import "math"

// RademacherSum returns
//
//	Σ min(r, λ_j)
//
// over the eigenvalues λ_j of K/n, those of the matrix divided by its number of rows, which estimate the eigenvalues of the kernel's integral operator.
// Eigenvalues below 0 count as 0. Its root is, up to constants and the factor 1/√n, the Rademacher average of the functions of norm up to 1 in the
// kernel's Hilbert space whose mean square is at most r. Source: Lafferty and Lebanon, JMLR 6 (2005), §4, after Mendelson (2003).
func RademacherSum(eigenvalues []float64, r float64) float64 {
	sum := 0.0
	for _, v := range eigenvalues {
		sum += math.Min(r, math.Max(v, 0))
	}
	return sum
}

// RademacherBound returns an upper bound of RademacherSum where only the largest eigenvalues, in falling order, are known, together with the trace of all
// n of them and the smallest: the others are at most the last that is known, and together what is left of the trace, negative ones aside.
func RademacherBound(largest []float64, n int, trace, smallest, r float64) float64 {
	rest, left := float64(n-len(largest)), trace
	for _, v := range largest {
		left -= v
	}
	left += rest * math.Max(-smallest, 0) // the positive ones among the rest may add to more by what negative ones take away
	each := r
	if len(largest) > 0 {
		each = math.Min(r, math.Max(largest[len(largest)-1], 0))
	}
	return RademacherSum(largest, r) + math.Max(math.Min(rest*each, left), 0)
}
