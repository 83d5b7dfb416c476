package kernel

import "math"

// The kernel of infinitely many threshold units with values of -1 and 1,
//
//	k = ∫ dw (2π)^(-d/2) e^(-|w|²/2) sgn(w·x) sgn(w·y) = (2/π) arcsin(1-c) = 2 k₀ - 1
//
// with the arc-cosine kernel k₀ of degree 0. It is positive definite, since the power series of
// arcsin has no coefficient below 0. To the solver it is 2 k₀, since a constant makes no difference
// to a decision function with a bias. Source: Cho's thesis, §2.1.2.
func init() {
	known := nonNegative("an inner product of infinitely many threshold units", sourceCho+", eq. 2.18")
	known.NonNegative = false
	register(family{
		Name: "arcsine", Summary: "(2/π) arcsin(1-c)",
		What:   "inner product of infinitely many threshold units that are 1 or -1",
		Source: sourceCho + ", eq. 2.19; Williams, Neural Computation 10 (1998)", Examples: []string{"arcsine"},
		place: 185,
		build: func([]float64) formula {
			return ofCosine(func(c float64) float64 { return 2 * arcsine(c) / math.Pi },
				func(c float64) float64 { return 2 * angle(c) / math.Pi }, known)
		},
	})
}
