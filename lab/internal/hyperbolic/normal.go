package hyperbolic

import (
	"fmt"
	"math"
	"slices"
)

// Normal is the spherical normal distribution N(Mean, Sigma² I) on R^p, p = len(Mean) >= 1, Sigma >
// 0: a point of the hyperbolic space of dimension p+1.
type Normal struct {
	Mean  []float64
	Sigma float64
}

// Distance returns the hyperbolic distance of two distributions on the same space R^p, in units of
// curvature -1,
//
//	cosh r = 1 + (‖μ-μ′‖²/2p + (σ-σ′)²) / 2σσ′,   which is   r = 2 arsinh √(that quotient/2)
//
// and loses no digits for near points beyond those of the differences. The Fisher distance is √(2p)
// r. It is the same bits in either order. Source: Lafferty and Lebanon, JMLR 6 (2005), §3.1;
// Ratcliffe, Foundations of Hyperbolic Manifolds (2019), theorem 4.6.1.
func Distance(a, b Normal) float64 {
	square := squaredDistance(a.Mean, b.Mean)
	spread := a.Sigma - b.Sigma
	// Each divided by the greater deviation and then by the root of their quotient, so that nothing
	// leaves float64.
	lo, hi := min(a.Sigma, b.Sigma), max(a.Sigma, b.Sigma)
	across := math.Sqrt(square/float64(2*len(a.Mean))) / hi
	return 2 * math.Asinh(math.Hypot(across, spread/hi)*(math.Sqrt(hi)/math.Sqrt(lo))/2)
}

// squaredDistance returns ‖a-b‖², in four sums that don't wait for each other.
func squaredDistance(a, b []float64) float64 {
	b = b[:len(a)]
	var sum [4]float64
	for len(a) >= 4 {
		d0, d1, d2, d3 := a[0]-b[0], a[1]-b[1], a[2]-b[2], a[3]-b[3]
		sum[0] += float64(d0 * d0)
		sum[1] += float64(d1 * d1)
		sum[2] += float64(d2 * d2)
		sum[3] += float64(d3 * d3)
		a, b = a[4:], b[4:]
	}
	for i, v := range a {
		d := v - b[i]
		sum[i] += float64(d * d)
	}
	return sum[0] + sum[1] + (sum[2] + sum[3])
}

// Estimate returns the maximum-likelihood estimate from points of R^p,
//
//	μ = 1/N Σ x,   σ² = 1/(Np) Σ ‖x-μ‖²
//
// where each calls its argument for all N points, in the same order every time. It is called twice,
// since the difference of sums would lose the spread of points far from 0. A spread that is 0, as
// that of a single point, belongs to no distribution: that is an error.
func Estimate(p int, each func(func(x []float64))) (Normal, error) {
	mean := make([]float64, p)
	var first []float64
	count, different := 0, false
	each(func(x []float64) {
		if count++; count == 1 {
			first = slices.Clone(x)
		}
		different = different || !slices.Equal(x, first)
		for i, v := range x {
			mean[i] += v
		}
	})
	if count == 0 {
		return Normal{}, fmt.Errorf("hyperbolic: no points, expected two different ones at least")
	}
	for i := range mean {
		mean[i] /= float64(count)
	}
	var sum float64
	each(func(x []float64) {
		for i, v := range x {
			d := v - mean[i]
			sum += float64(d * d)
		}
	})
	sigma := math.Sqrt(sum / float64(count) / float64(p))
	// Of equal points the mean may be off by a rounding, which is no spread.
	if !different || !(sigma > 0) || math.IsInf(sigma, 1) {
		return Normal{}, fmt.Errorf(
			"hyperbolic: %d points without a spread that float64 can hold, expected two different ones at least", count)
	}
	return Normal{mean, sigma}, nil
}
