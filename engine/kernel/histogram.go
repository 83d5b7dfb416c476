package kernel

import (
	"math"

	"github.com/gramengine/gram/sparse"
)

// Kernels that compare histograms θ and θ′ by a pairing of their own, see sparse.Pairing: c is
// 1 - similarity. Both similarities are positive definite, so that 2c is the square of a distance in a
// Hilbert space, and by Schoenberg's theorem exponentials of its negative multiples are positive definite.
func init() {
	register(family{
		Name: "chi2", Summary: "exp(-gamma Σ (θ-θ′)²/(θ+θ′)) = exp(-2 gamma c)",
		What: "exponential kernel of the χ² distance of histograms", Source: sourceVedaldi,
		Examples: []string{"chi2:gamma=1", "chi2:gamma=4"},
		place:    100, embedding: sparse.Embedding{Norm: sparse.NormL1, Pairing: sparse.ChiSquare},
		params: []param{positive("gamma", "factor of the distance, which is at most 2", 1)},
		build: func(v []float64) formula {
			return decay(2*v[0], "the χ² distance is the square of one in a Hilbert space",
				sourceVedaldi+"; "+sourceSchoenberg)
		},
	})
	register(family{
		Name: "js", Summary: "exp(-JS/t) = exp(-ln 2 c/t), JS = ½ Σ θ ln(2θ/(θ+θ′)) + ½ Σ θ′ ln(2θ′/(θ+θ′))",
		What: "exponential kernel of the Jensen-Shannon divergence of histograms", Source: sourceHein,
		Examples: []string{"js:t=0.5"},
		place:    110, embedding: sparse.Embedding{Norm: sparse.NormL1, Pairing: sparse.JensenShannon},
		params: []param{positive("t", "width: the divergence is at most ln 2", 1)},
		build: func(v []float64) formula {
			return decay(math.Ln2/v[0], "the divergence is the square of a Hilbertian metric",
				sourceHein+"; "+sourceSchoenberg)
		},
	})
}
