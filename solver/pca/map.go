package pca

import (
	"math"

	"gonum.org/v1/gonum/mat"
)

// Map returns what [Components.Project] computes with: the coordinates of a document t are
// Σ_j k(t, xⱼ) a[j][i] - b[i] over the training documents x. a is Len × len(Values); both are the
// caller's.
func (c *Components) Map() (a *mat.Dense, b []float64) {
	a, b = mat.NewDense(c.Documents, len(c.Values), nil), make([]float64, len(c.Values))
	for i, v := range c.Values {
		root := math.Sqrt(v.Value)
		b[i] = c.offset[i] / root
		for j := range c.Documents {
			a.Set(j, i, c.vectors.At(j, i)/root)
		}
	}
	return a, b
}
