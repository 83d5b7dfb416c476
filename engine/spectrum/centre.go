package spectrum

import (
	"context"
	"fmt"

	"gonum.org/v1/gonum/mat"
)

// centred is P a P with P = I - 11ᵀ/n.
type centred struct {
	a     mat.Symmetric
	means []float64
	mean  float64
}

// Centre returns the centred matrix P a P with P = I - 11ᵀ/n,
//
//	b[i][j] = a[i][j] - m[i] - m[j] + m,   m[i] the mean of row i, m that of all
//
// It has no eigenvalue below 0 exactly if a has none on vectors that add to 0, as the matrices of
// conditionally positive definite kernels, and always the eigenvalue 0 of the vector of ones.
// Values are computed in float64 when they are read; a must stay unchanged. It panics where there
// is no matrix. Source: Schölkopf, The kernel trick for distances, NIPS 2000, proposition 2.
func Centre(a mat.Symmetric) mat.Symmetric {
	if a == nil {
		panic("spectrum: Centre: no matrix, expected one")
	}
	n := a.SymmetricDim()
	c := &centred{a: a, means: make([]float64, n)}
	for i := range n {
		for j := range n {
			c.means[i] += a.At(i, j)
		}
		c.means[i] /= float64(n)
		c.mean += c.means[i] / float64(n)
	}
	return c
}

func (c *centred) Dims() (rows, cols int) { return c.a.Dims() }
func (c *centred) SymmetricDim() int      { return c.a.SymmetricDim() }
func (c *centred) T() mat.Matrix          { return c }

// At adds the two means first, so that (i, j) and (j, i) have the same bits.
func (c *centred) At(i, j int) float64 { return c.a.At(i, j) - (c.means[i] + c.means[j]) + c.mean }

// CentreOperator is Centre for an operator. It panics where there is none, or one of fewer rows
// than 0.
func CentreOperator(a Operator) Operator {
	if a == nil {
		panic("spectrum: CentreOperator: no operator, expected one")
	}
	n := a.Len()
	if n < 0 {
		panic(fmt.Sprintf("spectrum: CentreOperator: an operator of %d rows, expected 0 at least", n))
	}
	return &centredOperator{a, make([]float64, n)}
}

type centredOperator struct {
	a    Operator
	from []float64
}

func (c *centredOperator) Len() int { return c.a.Len() }

// Apply takes the mean off before and after.
func (c *centredOperator) Apply(ctx context.Context, dst, src []float64) error {
	if n := len(c.from); len(dst) != n || len(src) != n {
		return fmt.Errorf("spectrum: a product of %d values into %d, expected %d of both, the matrix's rows",
			len(src), len(dst), n)
	}
	copy(c.from, src)
	subtractMean(c.from)
	if err := c.a.Apply(ctx, dst, c.from); err != nil {
		return err
	}
	subtractMean(dst)
	return nil
}

func subtractMean(v []float64) {
	sum := 0.0
	for _, x := range v {
		sum += x
	}
	mean := sum / float64(len(v))
	for i := range v {
		v[i] -= mean
	}
}
