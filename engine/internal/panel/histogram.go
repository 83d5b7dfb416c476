package panel

import "math"

// exactChiSquare returns half the χ² distance of two histograms, given their ascending columns and
// float64 values,
//
//	c = ½ Σ (aᵢ - bᵢ)² / (aᵢ + bᵢ) = 1 - Σ 2aᵢbᵢ/(aᵢ+bᵢ)
//
// The n terms are nonnegative and have five roundings each, so the relative error is below
// (n+6)·2⁻⁵³ if a and b are exact. c is exactly 0 for equal histograms, and symmetric bit for bit.
func exactChiSquare(aTerms []uint32, a []float64, bTerms []uint32, b []float64) float64 {
	return SumShares(aTerms, a, bTerms, b, chiSquareShare) / 2
}

// exactJensenShannon returns the Jensen-Shannon divergence of two histograms, divided by its
// maximum ln 2. With S = a+b and δ = (a-b)/S,
//
//	c = 1/(4 ln 2) Σ Sᵢ E(δᵢ),   E(δ) = (1+δ) ln(1+δ) + (1-δ) ln(1-δ) = δ² + δ⁴/6 + δ⁶/15 + … >= 0
//
// Each term has an error of at most 64 roundings, including cancellation of its logarithms.
func exactJensenShannon(aTerms []uint32, a []float64, bTerms []uint32, b []float64) float64 {
	return SumShares(aTerms, a, bTerms, b, jensenShannonShare) / 2
}

// SumShares returns twice c as a sum over terms. A common term contributes shared(a, b). A term of
// only one histogram contributes its value.
func SumShares(
	aTerms []uint32, a []float64, bTerms []uint32, b []float64, shared func(a, b float64) float64,
) float64 {
	var sum float64
	i, j := 0, 0
	for i < len(aTerms) && j < len(bTerms) {
		switch s, t := aTerms[i], bTerms[j]; {
		case s == t:
			if a[i] != b[j] {
				sum += shared(a[i], b[j])
			}
			i++
			j++
		case s < t:
			sum += a[i]
			i++
		default:
			sum += b[j]
			j++
		}
	}
	for ; i < len(aTerms); i++ {
		sum += a[i]
	}
	for ; j < len(bTerms); j++ {
		sum += b[j]
	}
	return sum
}

func chiSquareShare(a, b float64) float64 {
	d := a - b
	return d * d / (a + b)
}

// jensenShannonShare returns S E(δ) / (2 ln 2). For small δ, where logarithms would cancel, E is a
// series. At δ² = 1/16 the truncation error is below 10⁻¹⁷.
func jensenShannonShare(a, b float64) float64 {
	s, d := a+b, math.Abs(a-b)
	delta := d / s
	var e float64
	if square := float64(delta * delta); square <= 1.0/16 {
		for k := 13; k >= 1; k-- {
			e = float64(e*square) + entropySeries[k]
		}
		e *= square
	} else {
		low, high := 2*min(a, b)/s, 2*max(a, b)/s
		e = float64(high*math.Log(high)) + float64(low*math.Log(low))
	}
	return s * e / (2 * math.Ln2)
}

// entropySeries holds 1/(k(2k-1)) at index k.
var entropySeries = func() (c [14]float64) {
	for k := 1; k < len(c); k++ {
		c[k] = 1 / float64(k*(2*k-1))
	}
	return c
}()
