package kernel

import (
	"math"

	"github.com/gramengine/gram/sparse"
)

// Powers and logarithms of distances, negative.
func init() {
	beta := func(initial, most float64) []param { return []param{between("beta", "the power", initial, most)} }
	register(family{
		Info: Info{
			Name: "ngd-power", Summary: "-(2 arccos(1-c))^beta", What: "power of the geodesic distance, negative",
			Source: sourceProduct, Examples: []string{"ngd-power:beta=0.5"},
		},
		place: 40, embedding: sparse.Sphere, params: beta(0.5, 1),
		build: func(v []float64) formula { return geodesic(v[0]) },
	})
	register(family{
		Info: Info{
			Name: "ngd-log", Summary: "-ln(1 + 2 arccos(1-c))", What: "logarithm of the geodesic distance, negative",
			Source: sourceLog, Examples: []string{"ngd-log"},
		},
		place: 50, embedding: sparse.Sphere,
		build: func([]float64) formula { return geodesic(0) },
	})
	register(family{
		Info: Info{
			Name: "ned", Summary: "-‖x-y‖^beta", What: "Euclidean distance or its power, negative",
			Source: sourceZhang + ", §4, for beta = 1", Examples: []string{"ned:beta=1", "ned:beta=0.5"},
		},
		place: 150, params: beta(1, 2),
		build: func(v []float64) formula { return euclidean(v[0]) },
	})
	register(family{
		Info: Info{
			Name: "ned-log", Summary: "-ln(1 + ‖x-y‖)", What: "logarithm of the Euclidean distance, negative",
			Source: sourceLog, Examples: []string{"ned-log"},
		},
		place: 160, build: func([]float64) formula { return euclidean(0) },
	})
}

// negative returns -d^β, or -ln(1+d) for β = 0.
func negative(d, beta float64) float64 {
	switch beta {
	case 0:
		return -math.Log1p(d)
	case 1:
		return -d
	case 2:
		return -d * d
	}
	return -math.Pow(d, beta)
}

// geodesic is a function of the geodesic distance on the sphere of radius 2, d = 2 arccos(1-c),
//
//	k = -d^β          0 < β <= 1
//	k = -ln(1+d)      β = 0
//
// conditionally positive definite, as d is of the opposite kind on a sphere of any dimension, and
// powers up to 1 and the logarithm keep that. Source: Schoenberg; Berg, Christensen and Ressel,
// ch. 3; Boughorbel, Tarel and Boujemaa, ICME 2005, for the logarithm.
func geodesic(beta float64) formula {
	value := onUnit(func(c float64) float64 { return negative(2*angle(c), beta) })
	return formula{
		value: func(a at) ref { return a.fn(value, a.c) },
		known: distanceProperties("for 0 < beta <= 1, and for the logarithm"),
	}
}

func distanceProperties(condition string) Properties {
	return Properties{Definite: ConditionallyPositive, Condition: condition, Source: sourceProduct, Falling: true,
		NonPositive: true}
}

// euclidean is a function of the Euclidean distance d = ‖x-y‖, d² = (x-y)² + 2 x y c in terms of
// the norms,
//
//	k = -d^β          0 < β <= 2
//	k = -ln(1+d)      β = 0
//
// conditionally positive definite. β = 1 is the negative Euclidean distance of Zhang, Chen and Lee,
// SIGIR 2005; for the others see [geodesic].
func euclidean(beta float64) formula {
	power := powerOf(beta / 2)
	return formula{
		value: func(a at) ref {
			d := a.dist(a.norm, a.c)
			switch beta {
			case 0:
				d = a.fn(log1p, a.fn(root, d))
			case 1:
				d = a.fn(root, d)
			case 2:
			default:
				d = power(a, d)
			}
			return a.scaled(-1, d)
		},
		known:    distanceProperties("for 0 < beta <= 2, and for the logarithm"),
		variable: OfDistance,
	}
}
