package kernel

import (
	"math"

	"github.com/gramengine/gram/sparse"
)

// These kernels are negative powers and negative logarithms of distances. They are conditionally
// positive definite, because the geodesic distance on a sphere and the squared Euclidean distance
// are conditionally negative definite, and so are their logarithms and their powers with exponents
// up to 1. Source: Schoenberg; Berg, Christensen and Ressel, ch. 3.
func init() {
	beta := func(initial, most float64) []param { return []param{rangeParam("beta", "the power", initial, most)} }
	register(family{
		Name: "ngd-power", Summary: "-(2 arccos(1-c))^beta", Description: "negative power of the geodesic distance",
		Source: sourceProduct, Examples: []string{"ngd-power:beta=0.5"},
		sortKey: 40, embedding: sparse.SphereEmbedding, params: beta(0.5, 1),
		build: func(v []float64) formula { return geodesic(func(d float64) float64 { return -math.Pow(d, v[0]) }) },
	})
	register(family{
		Name: "ngd-log", Summary: "-ln(1 + 2 arccos(1-c))", Description: "negative logarithm of 1 plus the geodesic distance",
		Source: sourceLog, Examples: []string{"ngd-log"},
		sortKey: 50, embedding: sparse.SphereEmbedding,
		build: func([]float64) formula { return geodesic(func(d float64) float64 { return -math.Log1p(d) }) },
	})
	register(family{
		Name: "ned", Summary: "-‖x-y‖^beta", Description: "negative power of the Euclidean distance",
		Source: sourceZhang + ", §4, for beta = 1", Examples: []string{"ned:beta=1", "ned:beta=0.5"},
		sortKey: 150, params: beta(1, 2),
		build: func(v []float64) formula { return euclidean(powerOf(v[0] / 2)) },
	})
	register(family{
		Name: "ned-log", Summary: "-ln(1 + ‖x-y‖)", Description: "negative logarithm of 1 plus the Euclidean distance",
		Source: sourceLog, Examples: []string{"ned-log"},
		sortKey: 160,
		build: func([]float64) formula {
			return euclidean(func(a input, squared ref) ref { return a.fn(log1p, a.fn(squareRoot, squared)) })
		},
	})
}

// geodesic returns the kernel f(2 arccos(1-c)) of the geodesic distance on the sphere of radius 2.
func geodesic(f func(d float64) float64) formula {
	value := tabulatedFunction(func(c float64) float64 { return f(2 * angle(c)) })
	return formula{
		value:      func(a input) ref { return a.fn(value, a.c) },
		properties: distanceProperties("for 0 < beta <= 1, and for the logarithm"),
	}
}

// euclidean returns the negative of a function of the squared Euclidean distance.
func euclidean(f func(a input, squared ref) ref) formula {
	return formula{
		value:      func(a input) ref { return a.scale(-1, f(a, a.dist(a.norm, a.c))) },
		properties: distanceProperties("for 0 < beta <= 2, and for the logarithm"),
		variable:   VariableDistance,
	}
}

func distanceProperties(condition string) Properties {
	return Properties{Definiteness: ConditionallyPositiveDefinite, Condition: condition, Source: sourceProduct,
		Decreasing:  true,
		NonPositive: true}
}
