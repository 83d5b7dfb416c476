package normal

import (
	"fmt"
	"math"
	"slices"

	"github.com/gramengine/gram/engine/internal/hyperbolic"
	"github.com/gramengine/gram/sparse"
)

// leastMean stands for a mean of 0, so that no coordinate is lost where vectors are sparse: it is
// the least float32 above 0.
const leastMean = 0x1p-149

// Vectors returns the distributions as vectors: row i holds μ in the columns of the points, and
// after them σ in the given column. Values are rounded to float32, and a mean of 0 is the least
// float32 above 0. [Of] reads them back. So a model keeps distributions as it keeps documents.
//
// Errors: a column for σ that isn't above those of the points, values that float32 can't hold.
func (n *Distributions) Vectors(sigma uint32) (*sparse.CSR, error) {
	if n.p > 0 && sigma <= n.columns[n.p-1] {
		return nil, fmt.Errorf("engine: column %d for deviations, expected one above %d, the last of the points", sigma,
			n.columns[n.p-1])
	}
	m := &sparse.CSR{Cols: int(sigma) + 1, Offsets: make([]int64, 1, n.Len()+1)}
	for i, d := range n.normal {
		for k, v := range d.Mean {
			f := float32(v)
			if f == 0 {
				f = leastMean
			}
			m.Terms, m.Values = append(m.Terms, n.columns[k]), append(m.Values, f)
		}
		m.Terms, m.Values = append(m.Terms, sigma), append(m.Values, float32(d.Sigma))
		for _, v := range m.Values[m.Offsets[i]:] {
			if math.IsInf(float64(v), 0) || m.Values[len(m.Values)-1] == 0 {
				return nil, fmt.Errorf(
					"engine: set %d has the deviation %v and a value %v, expected numbers that float32 can hold", i+1,
					d.Sigma, v)
			}
		}
		m.Offsets = append(m.Offsets, int64(len(m.Terms)))
	}
	return m, nil
}

// DeviationError says that a vector is no distribution as [Distributions.Vectors] makes it, since
// its last column holds no σ: it may be a document, or a point by itself.
type DeviationError struct {
	Row   int     // its number, from 0
	Sigma float64 // what is there
}

// Error counts vectors from 1.
func (e *DeviationError) Error() string {
	return fmt.Sprintf(
		"engine: vector %d has the deviation %v in its last column, expected a number above 0: a vector for each set "+
			"of points, as Normals.Vectors makes them",
		e.Row+1,
		e.Sigma,
	)
}

// Of returns the distributions of vectors as [Distributions.Vectors] makes them, embedded raw: the
// last of the embedder's terms is the column of σ. Errors: another embedding, a [*DeviationError]
// for the first row without σ.
func Of(x *sparse.Embedded) (*Distributions, error) {
	if err := x.Validate(); err != nil {
		return nil, err
	}
	if want := (sparse.Embedding{}); x.Embedder.Embedding != want {
		return nil, fmt.Errorf(
			"engine: vectors embedded as %s, expected distributions of sets of points as Normals.Vectors makes them, "+
				"embedded as %s",
			x.Embedder,
			want,
		)
	}
	p := len(x.Embedder.Terms) - 1
	if p < 1 {
		return nil, fmt.Errorf("engine: distributions of %d coordinates, expected one at least", max(p, 0))
	}
	n := &Distributions{p: p, columns: slices.Clone(x.Embedder.Terms[:p]), normal: make([]hyperbolic.Normal, x.Rows())}
	for i := range n.normal {
		d := hyperbolic.Normal{Mean: make([]float64, p)}
		for k := x.Offsets[i]; k < x.Offsets[i+1]; k++ {
			switch column := int(x.Terms[k]); {
			case column < p:
				d.Mean[column] = float64(x.Raw[k])
			case column == p:
				d.Sigma = float64(x.Raw[k])
			}
		}
		if !(d.Sigma > 0) {
			return nil, &DeviationError{i, d.Sigma}
		}
		n.normal[i] = d
	}
	return n, nil
}
