package hyperbolic

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/gramengine/gram/sparse"
)

// Normal is the spherical normal distribution N(Mean, Sigma² I) on R^p with p = len(Mean) >= 1 and
// Sigma > 0. It corresponds to a point of the hyperbolic space of dimension p+1.
type Normal struct {
	Mean  []float64
	Sigma float64
}

// Distance returns the hyperbolic distance r of two distributions on R^p, for curvature -1,
//
//	cosh r = 1 + q,   r = 2 arsinh √(q/2),   q = (‖μ-μ′‖²/2p + (σ-σ′)²) / 2σσ′
//
// The Fisher distance is √(2p) r. Distance(a, b) equals Distance(b, a) bit for bit. Source:
// Lafferty and Lebanon, JMLR 6 (2005), §3.1; Ratcliffe, Foundations of Hyperbolic Manifolds (2019),
// theorem 4.6.1.
func Distance(a, b Normal) float64 {
	square := squaredDistance(a.Mean, b.Mean)
	spread := a.Sigma - b.Sigma
	// Divide lengths by the larger standard deviation, so that no term overflows.
	lo, hi := min(a.Sigma, b.Sigma), max(a.Sigma, b.Sigma)
	across := math.Sqrt(square/float64(2*len(a.Mean))) / hi
	return 2 * math.Asinh(math.Hypot(across, spread/hi)*(math.Sqrt(hi)/math.Sqrt(lo))/2)
}

// squaredDistance returns ‖a-b‖², using four independent sums for speed.
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

// FitNormal returns the maximum-likelihood estimate of a normal distribution from N rows of points,
// restricted to P columns,
//
//	μ = 1/N Σ x,   σ² = 1/(NP) Σ ‖x-μ‖²
//
// Columns must be in ascending order. FitNormal fails if all points are equal, or if σ is 0 or
// infinite in float64.
func FitNormal(points *sparse.CSR, rows []int, columns []uint32) (Normal, error) {
	n := Normal{Mean: make([]float64, len(columns))}
	x := mat.NewDense(len(rows), len(columns), nil)
	for k, i := range rows {
		terms, values := points.Row(i)
		for at, t := range terms {
			if c, ok := slices.BinarySearch(columns, t); ok {
				x.Set(k, c, float64(values[at]))
			}
		}
		floats.Add(n.Mean, x.RawRowView(k))
	}
	for c := range n.Mean {
		n.Mean[c] /= float64(len(rows))
	}
	sum, different := 0., false
	for k := range rows {
		different = different || !slices.Equal(x.RawRowView(k), x.RawRowView(0))
		for c, v := range x.RawRowView(k) {
			d := v - n.Mean[c]
			sum += float64(d * d)
		}
	}
	n.Sigma = math.Sqrt(sum / float64(len(rows)) / float64(len(columns)))
	// Even if all points are equal, n.Sigma may be positive, because the mean is rounded.
	if !different || !(n.Sigma > 0) || math.IsInf(n.Sigma, 1) {
		return n, fmt.Errorf("%d points have no spread; at least two must differ", len(rows))
	}
	return n, nil
}
