package pca

import "gonum.org/v1/gonum/mat"

// AffineMap returns the coefficients that [Components.Project] uses: coordinate i of a document t
// is Σ_j k(t, xⱼ) a[j][i] - b[i] over the engine's documents x. a has a row per document and a
// column per component. The caller owns a and b.
func (c *Components) AffineMap() (a *mat.Dense, b []float64) {
	a, b = mat.NewDense(c.numEngineRows(), len(c.Eigenvalues), nil), make([]float64, len(c.Eigenvalues))
	for i, by := range c.lengths {
		b[i] = c.offsets[i] / by
		for j := range c.numEngineRows() {
			a.Set(j, i, c.vectors.At(j, i)/by)
		}
	}
	return a, b
}
