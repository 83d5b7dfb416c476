package spectrum

import "gonum.org/v1/gonum/mat"

type centredMatrix struct {
	a     mat.Symmetric
	means []float64
	mean  float64
}

// Centre returns the centred matrix P a P with P = I - 11ᵀ/n,
//
//	b[i][j] = a[i][j] - m[i] - m[j] + m,   m[i] the mean of row i, m the mean of all values
//
// The vector of ones is an eigenvector with eigenvalue 0. The centred matrix is positive
// semidefinite if and only if a is positive semidefinite on vectors with sum 0, as for
// conditionally positive definite kernels. Values are computed in float64 when they are read, so a
// must not change. Source: Schölkopf, The kernel trick for distances, NIPS 2000, proposition 2.
func Centre(a mat.Symmetric) mat.Symmetric {
	n := a.SymmetricDim()
	c := &centredMatrix{a: a, means: make([]float64, n)}
	for i := range n {
		for j := range n {
			c.means[i] += a.At(i, j)
		}
		c.means[i] /= float64(n)
		c.mean += c.means[i] / float64(n)
	}
	return c
}

func (c *centredMatrix) Dims() (rows, cols int) { return c.a.Dims() }
func (c *centredMatrix) SymmetricDim() int      { return c.a.SymmetricDim() }
func (c *centredMatrix) T() mat.Matrix          { return c }

// At adds the two means first, so that the matrix is symmetric bit for bit.
func (c *centredMatrix) At(i, j int) float64 {
	return c.a.At(i, j) - (c.means[i] + c.means[j]) + c.mean
}

// SubtractMeans multiplies the first columns of m by P, which subtracts the mean of each column.
func SubtractMeans(m *mat.Dense, columns int) {
	rows, _ := m.Dims()
	sums := make([]float64, columns)
	for i := range rows {
		for j, v := range m.RawRowView(i)[:columns] {
			sums[j] += v
		}
	}
	for i := range rows {
		row := m.RawRowView(i)
		for j, s := range sums {
			row[j] -= s / float64(rows)
		}
	}
}
