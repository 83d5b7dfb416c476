package kernel

import (
	"math"

	"github.com/gramengine/gram/sparse"
)

// The kernels of this file compare histograms θ and θ′ by a pairing of their own, see
// sparse.Pairing: c is 1 - similarity. With such an embedding all other kernels are functions of
// that similarity, too: linear:embed=tf-l1-chi2 is the similarity itself. Both similarities are
// positive definite, so that 2c is the square of a distance in a Hilbert space, and exponentials of
// its negative multiples are positive definite by Schoenberg's theorem.
func init() {
	chi2 := sparse.Embedding{Norm: sparse.NormL1, Pairing: sparse.ChiSquare}
	js := sparse.Embedding{Norm: sparse.NormL1, Pairing: sparse.JensenShannon}
	register(family{
		Info: Info{
			Name: "chi2", Summary: "exp(-gamma Σ (θ-θ′)²/(θ+θ′)) = exp(-2 gamma c)",
			What: "exponential kernel of the χ² distance of histograms", Source: sourceVedaldi,
			Examples: []string{"chi2:gamma=1", "chi2:gamma=4"},
		},
		place: 100, embedding: chi2,
		params: []param{positive("gamma", "factor of the distance, which is at most 2", 1)},

		// k = exp(-gamma d), d = Σ (θᵢ-θ′ᵢ)²/(θᵢ+θ′ᵢ) = 2c. Source: Vedaldi and Zisserman, IEEE
		// PAMI 34 (2012), §3, for the additive χ² kernel 1 - c.
		build: func(v []float64) formula {
			return decay(2*v[0],
				nonNegative("the χ² distance is the square of one in a Hilbert space",
					sourceVedaldi+"; "+sourceSchoenberg))
		},
	})
	register(family{
		Info: Info{
			Name: "js", Summary: "exp(-JS/t) = exp(-ln 2 c/t), JS = ½ Σ θ ln(2θ/(θ+θ′)) + ½ Σ θ′ ln(2θ′/(θ+θ′))",
			What: "exponential kernel of the Jensen-Shannon divergence of histograms", Source: sourceHein,
			Examples: []string{"js:t=0.5"},
		},
		place: 110, embedding: js, params: []param{positive("t", "width: the divergence is at most ln 2", 1)},

		// k = exp(-JS/t), JS = ln 2 c. Source: Hein and Bousquet, AISTATS 2005, §3, for JS being
		// the square of a Hilbertian metric.
		build: func(v []float64) formula {
			return decay(math.Ln2/v[0],
				nonNegative("the divergence is the square of a Hilbertian metric", sourceHein+"; "+sourceSchoenberg))
		},
	})
}
