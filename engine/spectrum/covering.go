package spectrum

import "math"

// CoveringRadius returns, in logarithms, the ε at which functions of norm up to R in a kernel's
// Hilbert space have a covering number of at most n on any sample,
//
//	ε = 6 C R √(j (λ_1 … λ_j/n²)^(1/j) + Σ_{i>=j} λ_i)
//
// less the factor 6 C R: C is the greatest absolute value of the eigenfunctions. index is j, the
// least j for which λ_{j+1} < (λ_1 … λ_j/n²)^(1/j). The eigenvalues are those of K/m for a matrix of
// m rows, which estimate those of the kernel's integral operator, the largest first; beyond them,
// and below 0, they count as 0. logN is ln n, so that n may be beyond float64. Where none is above
// 0, index is 0 and logRadius -Inf; a logN that is no number makes logRadius none.
//
// Source: Lafferty and Lebanon, JMLR 6 (2005), §4.1, Theorem 2, after Guo et al. (2002).
func CoveringRadius(eigenvalues []float64, logN float64) (index int, logRadius float64) {
	at := func(j int) float64 { // λ_{j+1}
		if j < len(eigenvalues) && eigenvalues[j] > 0 {
			return eigenvalues[j]
		}
		return 0
	}
	switch {
	case math.IsNaN(logN):
		return 0, logN
	case at(0) == 0:
		return 0, math.Inf(-1)
	}
	product, mean := 0.0, 0.0 // logarithms of λ_1 … λ_j, and of its root
	for more := true; more; more = at(index) > 0 && !(math.Log(at(index)) < mean) {
		product += math.Log(at(index))
		index++
		mean = (product - 2*logN) / float64(index)
	}
	rest := 0.0 // the smallest first
	for i := len(eigenvalues) - 1; i >= index-1; i-- {
		rest += at(i)
	}
	// The root of exp(a) + exp(b), in logarithms.
	a, b := math.Log(float64(index))+mean, math.Log(rest)
	most := math.Max(a, b)
	return index, (most + math.Log1p(math.Exp(math.Min(a, b)-most))) / 2
}
