package kernel

import (
	"math"
	"sync"

	"github.com/gramengine/gram/asm"
	"github.com/gramengine/gram/sparse"
)

func init() {
	register(family{
		Name: "ngd", Summary: "shift - 2 arccos(1-c)", Description: "negative geodesic distance, on the sphere of radius 2",
		Source: sourceZhang + ", §3", Examples: []string{"ngd:shift=0", "ngd:shift=pi"},
		sortKey: 20, embedding: sparse.SphereEmbedding,
		params: []param{signedParam("shift", "added to the negative geodesic distance", 0)},
		build:  func(v []float64) formula { return ngd(v[0]) },
	})
	register(family{
		Name: "ngd-exp", Summary: "exp(-arccos(1-c)/t)", Description: "exponential of the negative geodesic distance",
		Source: sourceZhang + ", §3", Examples: []string{"ngd-exp:t=1"},
		sortKey: 30, embedding: sparse.SphereEmbedding,
		params: []param{positiveParam("t", "width, in radians", 1)},
		build:  func(v []float64) formula { return angleExp(v[0], false) },
	})
	register(family{
		Name: "hellinger", Summary: "exp(-gamma c)", Description: "exponential kernel of the squared Hellinger distance",
		Source: sourceSchoenberg, Examples: []string{"hellinger:gamma=1"},
		sortKey: 60, embedding: sparse.SphereEmbedding,
		params: []param{positiveParam("gamma", "factor of the squared distance", 1)},
		build:  func(v []float64) formula { return decay(v[0], "", sourceSchoenberg) },
	})
	register(family{
		Name: "bhattacharyya", Summary: "1-c", Description: "probability product kernel of power ½",
		Source: sourceJebara + ", §2", Examples: []string{"bhattacharyya"},
		sortKey: 70, embedding: sparse.SphereEmbedding,
		build: func([]float64) formula {
			return formula{
				value:   func(a input) ref { return a.cosine() },
				deficit: func(a input) ref { return a.c },
				properties: Properties{Definiteness: PositiveDefinite, Condition: "an inner product", Source: sourceJebara,
					PositiveDiagonal: true, Decreasing: true},
			}
		},
	})
	register(family{
		Name: "c", Summary: "the squared Hellinger distance c = 1 - cosine",
		Description: "input of all other kernels; not a kernel for learning", Source: "docs/design.md",
		Examples: []string{"c"},
		sortKey:  90, embedding: sparse.SphereEmbedding,
		build: func([]float64) formula {
			return formula{
				value: func(a input) ref { return a.c },
				properties: Properties{Condition: "its negative is conditionally positive definite", Source: sourceSchoenberg,
					NonNegative: true},
				direct: &directMap{
					apply: func(_ *asm.Kernels, dst, c, x, y []float32) { copy(dst, c) },
					error: func(c, _, _ float64) float64 { return 0 },
				},
			}
		},
	})
}

var parsedC = sync.OnceValue(func() Kernel { return MustParse("c") })

// C returns the kernel c = ½ Σ (√θᵢ - √θ′ᵢ)², the squared Hellinger distance of two points of the
// simplex. All other kernels are computed from c. It isn't a kernel for learning.
func C() Kernel { return parsedC() }

// IsC reports whether k is the kernel c, in any embedding.
func IsC(k Kernel) bool { return FamilyName(k) == "c" }

// ngd is conditionally positive definite, and positive definite for shift >= π: π - 2 arccos(z) is
// 2 arcsin(z), whose power series has no negative coefficients.
func ngd(shift float64) formula {
	known := Properties{
		Definiteness: ConditionallyPositiveDefinite, Source: sourceZhang + ", §3",
		NonNegative: shift >= 2*math.Pi, NonPositive: shift <= 0, PositiveDiagonal: shift > 0, Decreasing: true,
	}
	if shift >= math.Pi {
		known.Definiteness, known.Condition = PositiveDefinite,
			"shift >= pi: its power series in the cosine has no negative coefficients"
	}
	f := cosineFunction(func(c float64) float64 {
		if shift == math.Pi {
			return 2 * arcsine(c)
		}
		return shift - 2*angle(c)
	}, func(c float64) float64 { return 2 * angle(c) / shift }, known)
	f.direct = &directMap{
		apply: func(asm *asm.Kernels, dst, c, x, y []float32) { asm.NGD(dst, c, float32(shift)) },
		// arccos is accurate to 4 ulp, at most 8 unitRoundoff. Doubling is exact. shift is rounded
		// once, and so is the difference.
		error: func(c, _, _ float64) float64 {
			d := 2 * angle(c)
			e := unitRoundoff * (8*d + math.Abs(shift))
			return e + unitRoundoff*(math.Abs(shift-d)+e) + underflowError
		},
	}
	return f
}

// arcsine returns arcsin(1-c) = π/2 - arccos(1-c) without cancellation near c = 1.
func arcsine(c float64) float64 {
	if c > 0.5 && c < 1.5 {
		return math.Asin(1 - c)
	}
	return (supplementaryAngle(c) - angle(c)) / 2
}

func decay(rate float64, condition, source string) formula {
	known := nonNegative(condition, source)
	known.infinitelyDivisible = true
	return cosineFunction(func(c float64) float64 { return math.Exp(-rate * c) },
		func(c float64) float64 { return -math.Expm1(-rate * c) }, known)
}

// cosineFunction is the kernel g(c). deficit is 1 - g(c)/g(0).
func cosineFunction(g, deficit func(c float64) float64, known Properties) formula {
	value, lost := tabulatedFunction(g), tabulatedFunction(deficit)
	return formula{
		value:      func(a input) ref { return a.fn(value, a.c) },
		deficit:    func(a input) ref { return a.fn(lost, a.c) },
		properties: known,
	}
}

// These kernels use the χ² and Jensen-Shannon distances of histograms θ and θ′ (see
// sparse.Pairing). c is 1 minus a positive definite similarity. So exponentials of -c times a
// positive factor are positive definite by Schoenberg's theorem.
func init() {
	register(family{
		Name: "chi2", Summary: "exp(-gamma Σ (θ-θ′)²/(θ+θ′)) = exp(-2 gamma c)",
		Description: "exponential kernel of the χ² distance of histograms", Source: sourceVedaldi,
		Examples: []string{"chi2:gamma=1", "chi2:gamma=4"},
		sortKey:  100, embedding: sparse.Embedding{Norm: sparse.NormL1, Pairing: sparse.ChiSquare},
		params: []param{positiveParam("gamma", "factor of the distance, which is at most 2", 1)},
		build: func(v []float64) formula {
			return decay(2*v[0], "the χ² distance is the square of a Hilbertian metric",
				sourceVedaldi+"; "+sourceSchoenberg)
		},
	})
	register(family{
		Name: "js", Summary: "exp(-JS/t) = exp(-ln 2 c/t), JS = ½ Σ θ ln(2θ/(θ+θ′)) + ½ Σ θ′ ln(2θ′/(θ+θ′))",
		Description: "exponential kernel of the Jensen-Shannon divergence of histograms", Source: sourceHein,
		Examples: []string{"js:t=0.5"},
		sortKey:  110, embedding: sparse.Embedding{Norm: sparse.NormL1, Pairing: sparse.JensenShannon},
		params: []param{positiveParam("t", "width; the divergence is at most ln 2", 1)},
		build: func(v []float64) formula {
			return decay(math.Ln2/v[0], "the divergence is the square of a Hilbertian metric",
				sourceHein+"; "+sourceSchoenberg)
		},
	})
}
