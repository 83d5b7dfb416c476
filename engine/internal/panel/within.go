package panel

import "github.com/gramengine/gram/sparse"

// zeroThreshold is an upper bound on the computed c of two proportional rows. For rows with n
// values the computed c is at most (n·2⁻⁵³)²/2.
const zeroThreshold = 1e-24

// ExactC returns c of row i of x and row j of y in float64. x and y must have the same embedder. A
// c below 10⁻²⁴ is a rounding error and becomes 0.
func ExactC(x *sparse.Embedded, i int, y *sparse.Embedded, j int) float64 {
	s, _ := x.Row(i)
	t, _ := y.Row(j)
	return RoundNoiseToZero(ExactFunc(x.Embedder.Pairing)(s, x.UnitVector64(i, nil), t, y.UnitVector64(j, nil)))
}

// RoundNoiseToZero returns c, or 0 if c is below zeroThreshold.
func RoundNoiseToZero(c float64) float64 {
	if c < zeroThreshold {
		return 0
	}
	return c
}

// InclusiveBound returns bound·(1 + 10⁻⁹), so that rounding errors don't exclude a pair whose exact
// c equals bound.
func InclusiveBound(bound float64) float64 { return bound * (1 + 1e-9) }
