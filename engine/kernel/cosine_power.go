package kernel

import (
	"github.com/gramengine/gram/engine/device"
	"github.com/gramengine/gram/sparse"
)

func init() {
	register(family{
		Name: "cosine-power", Summary: "max(1-c, 0)^p", Description: "integer power of the cosine, 0 for obtuse angles",
		Source: sourceProduct, Examples: []string{"cosine-power:p=2", "cosine-power:p=5"},
		sortKey: 75, embedding: sparse.SphereEmbedding,
		params: []param{integerParam("p", "the power", 2, 1, 64)},
		build:  func(v []float64) formula { return cosinePower(int(v[0])) },
	})
}

// cosinePower is max(1-c, 0)^p. If no document has negative values, it is a product of p
// Bhattacharyya kernels, and so positive definite by Schur's theorem.
func cosinePower(p int) formula {
	return cosineFunction(func(c float64) float64 { return device.IntPow(max(1-c, 0), p) },
		func(c float64) float64 { return device.Deficit(min(c, 1), float64(p)) },
		nonNegative("for documents without negative values", sourceProduct))
}
