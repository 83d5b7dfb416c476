package pca

import "gonum.org/v1/gonum/mat"

// Map returns the coefficients that [Components.Project] uses: coordinate i of a document t is Σ_j
// k(t, xⱼ) a[j][i] - b[i] over the engine's documents x. a has a row per document and a column per
// component. The caller owns a and b.
func (c *Components) Map() (a *mat.Dense, b []float64) {
	a, b = mat.NewDense(c.rows(), len(c.Values), nil), make([]float64, len(c.Values))
	for i, by := range c.lengths {
		b[i] = c.offset[i] / by
		for j := range c.rows() {
			a.Set(j, i, c.vectors.At(j, i)/by)
		}
	}
	return a, b
}
