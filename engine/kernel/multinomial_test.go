package kernel

import (
	"math"
	"math/rand/v2"
	"testing"
)

// drawShares draws a distribution over n outcomes, none below 1/4n.
func drawShares(r *rand.Rand, n int) []float64 {
	p, sum := make([]float64, n), 0.
	for i := range p {
		p[i] = 1./3 + r.Float64()
		sum += p[i]
	}
	for i := range p {
		p[i] /= sum
	}
	return p
}

// squaredBetween is d², d = 2 arccos Σ√θθ′, as the diffusion kernel has it: k = exp(-d²/4t).
func squaredBetween(p, q []float64) float64 {
	c := 0.
	for i := range p {
		gap := (p[i] - q[i]) / (math.Sqrt(p[i]) + math.Sqrt(q[i])) // √p - √q, with its digits
		c += gap * gap / 2
	}
	return -4 * math.Log(MustParse("diffusion:t=1").Eval(c, 1, 1))
}

// Near by, twice the Kullback-Leibler divergence and the symmetrised one are the squared distance, the
// first up to terms of the relative size of the step, the second of its square. And Hellinger's distance
// is 2 sin(d/4). Source: Lafferty and Lebanon, JMLR 6 (2005), §3.2 and appendix B; Zhang, Chen and Lee,
// SIGIR 2005, §5.
func TestDivergence(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 20 {
		p, to := drawShares(r, 7), drawShares(r, 7)
		for step := 1.; step > 1e-3; step /= 4 {
			q, one, both, hellinger, most := make([]float64, 7), 0., 0., 0., 0.
			for i := range p {
				q[i] = p[i] + step*(to[i]-p[i])
				change := (q[i] - p[i]) / p[i]
				one += p[i] * (change - math.Log1p(change)) // Σ q-p = 0
				both += (q[i] - p[i]) * math.Log1p(change)
				hellinger += math.Pow(math.Sqrt(q[i])-math.Sqrt(p[i]), 2)
				most = max(most, math.Abs(change), math.Abs(q[i]-p[i])/q[i])
			}
			d2 := squaredBetween(p, q)
			// Each term of a divergence is p (x²/2 + O(x³)) of the change x, that of the symmetrised one
			// p (x²+O(x³)) with the same third order as the distance's; most bounds all x.
			if got := 2 * one / d2; !(math.Abs(got-1) <= most) {
				t.Errorf("step %v: twice the divergence is %v of the squared distance, change %v", step, got, most)
			}
			if got := both / d2; !(math.Abs(got-1) <= most*most/4) {
				t.Errorf("step %v: the symmetrised divergence is %v of the squared distance, change %v", step, got, most)
			}
			if want := math.Pow(2*math.Sin(math.Sqrt(d2)/4), 2); !(math.Abs(hellinger-want) <= 1e-12*want+1e-16) {
				t.Errorf("step %v: squared Hellinger distance %v, expected %v", step, hellinger, want)
			}
		}
	}
}

// Rounding the simplex means smoothing in practice, θ → (1-λ)θ + λ/n, and no distance moves by more than
// the two points do, each by at most 2 arccos √(1-λ): the kernel on the closed simplex, of documents
// that lack most terms, is the limit of that on rounded ones. Source: Lafferty and Lebanon (2005), §3.2.2.
func TestRoundedSimplex(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for range 20 {
		p, q := drawShares(r, 9), drawShares(r, 9)
		sumP, sumQ := 0., 0.
		for i := range p { // a third of the terms is in both
			if i < 3 {
				p[i] = 0
			} else if i < 6 {
				q[i] = 0
			}
			sumP, sumQ = sumP+p[i], sumQ+q[i]
		}
		for i := range p {
			p[i], q[i] = p[i]/sumP, q[i]/sumQ
		}
		distance := func(lambda float64) float64 {
			c := 0.
			for i := range p {
				gap := math.Sqrt((1-lambda)*p[i]+lambda/9) - math.Sqrt((1-lambda)*q[i]+lambda/9)
				c += gap * gap / 2
			}
			return 2 * angle(c)
		}
		last := math.Inf(1)
		for lambda := 0.25; lambda > 1e-9; lambda /= 8 {
			moved := math.Abs(distance(lambda) - distance(0))
			if most := 4 * math.Asin(math.Sqrt(lambda)); !(moved <= most && moved < last) {
				t.Errorf("λ = %v: the distance moves by %v, expected %v at most, and less than %v before", lambda, moved,
					most, last)
			}
			last = moved
		}
	}
}
