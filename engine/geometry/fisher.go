package geometry

import (
	"fmt"
	"math"
)

// The multinomial family: distributions θ over the n+1 outcomes of a draw. Its Fisher metric makes
// it a piece of a sphere: x = 2√θ has length 2 and no coordinate below 0, and lengths of x are those
// of the metric. The heat kernel there, exp(-d²/4t) to its leading term, is the kernel diffusion,
// whose own surface is the same up to scale: ds² = (2/t) dΩ² is 1/(2t) of Fisher's, 4 dΩ².
//
// Source: Lafferty and Lebanon, JMLR 6 (2005), §2.1, §3.2; Kass, Statistical Science 4 (1989).

// Fisher returns the Fisher metric at a distribution over n+1 outcomes, an n×n matrix row by row, in
// the coordinates of the first n:
//
//	g[i][j] = (i = j)/θ[i] + 1/θ[n],   √det g = ∏ θ[i]^(-½) over all n+1
//
// Errors: fewer than two outcomes; a probability that isn't above 0, where the metric ends; a sum
// that isn't 1 to 10⁻⁹.
func Fisher(theta []float64) ([]float64, error) {
	if err := distribution("theta", theta, true); err != nil {
		return nil, err
	}
	n := len(theta) - 1
	g := make([]float64, n*n)
	for i := range n {
		for j := range n {
			g[i*n+j] = 1 / theta[n]
		}
		g[i*n+i] += 1 / theta[i]
	}
	return g, nil
}

// FisherDistance returns the geodesic distance of two distributions under the Fisher metric, in
// radians of a sphere of radius 2,
//
//	d = 2 arccos Σ √(p[i] q[i]) = 4 arcsin(½ ‖√p - √q‖)
//
// computed by the second form, which keeps its digits where p is near q. Errors: those of [Fisher],
// but for zeros, which are right here; lengths that differ.
func FisherDistance(p, q []float64) (float64, error) {
	if err := distributions(p, q); err != nil {
		return 0, err
	}
	return 2 * rootAngle(p, q), nil
}

// FisherGeodesic returns the point of the shortest curve from p to q after the share s of its
// length, 0 at p and 1 at q: the great circle of √p and √q, squared. Beyond these ends it goes on as
// a curve of the family only until it meets the edge, so s is from 0 to 1. Errors: those of
// [FisherDistance]; another s.
func FisherGeodesic(p, q []float64, s float64) ([]float64, error) {
	if err := distributions(p, q); err != nil {
		return nil, err
	}
	if !(s >= 0 && s <= 1) {
		return nil, fmt.Errorf("geometry: s is %v, expected a share from 0 to 1", s)
	}
	whole := rootAngle(p, q)
	first, last := 1-s, s // the limit where p = q
	if sin := math.Sin(whole); sin > 0 {
		first, last = math.Sin((1-s)*whole)/sin, math.Sin(s*whole)/sin
	}
	out := make([]float64, len(p))
	for i := range out {
		root := first*math.Sqrt(p[i]) + last*math.Sqrt(q[i])
		out[i] = root * root
	}
	return out, nil
}

// FisherLogVolume returns the logarithm of the volume of all distributions over n+1 outcomes under
// the Fisher metric: that of 2^-(n+1) of the n-sphere of radius 2,
//
//	ln π^((n+1)/2)/Γ((n+1)/2)
//
// It is the volume by which Jeffreys' prior is normalised. Errors: fewer than two outcomes.
func FisherLogVolume(outcomes int) (float64, error) {
	if outcomes < 2 {
		return 0, fmt.Errorf("geometry: %d outcomes, expected 2 or more", outcomes)
	}
	half := float64(outcomes) / 2
	gamma, _ := math.Lgamma(half)
	return half*math.Log(math.Pi) - gamma, nil
}

// rootAngle returns the angle between √p and √q.
func rootAngle(p, q []float64) float64 {
	square := 0.0
	for i := range p {
		d := math.Sqrt(p[i]) - math.Sqrt(q[i])
		square += d * d
	}
	return 2 * math.Asin(min(math.Sqrt(square)/2, 1))
}

func distributions(p, q []float64) error {
	if len(p) != len(q) {
		return fmt.Errorf("geometry: p has %d outcomes and q %d, expected as many", len(p), len(q))
	}
	if err := distribution("p", p, false); err != nil {
		return err
	}
	return distribution("q", q, false)
}

// distribution checks that p is one.
func distribution(name string, p []float64, inside bool) error {
	if len(p) < 2 {
		return fmt.Errorf("geometry: %s has %d outcomes, expected 2 or more", name, len(p))
	}
	sum := 0.0
	for i, v := range p {
		if !(v >= 0) || inside && v == 0 {
			return fmt.Errorf("geometry: %s[%d] is %v, expected a probability", name, i, v)
		}
		sum += v
	}
	if !(math.Abs(sum-1) <= 1e-9) {
		return fmt.Errorf("geometry: %s adds up to %v, expected 1", name, sum)
	}
	return nil
}
