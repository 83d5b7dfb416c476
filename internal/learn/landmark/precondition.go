package landmark

import (
	"context"
	"math"
	"slices"

	"github.com/gramengine/gram/internal/learn/dense"
	"gonum.org/v1/gonum/floats"
)

// preconditioner holds, for each C, the Cholesky factor A of I + C w n/m TTᵀ. This matrix is the
// Hessian with respect to u if KₙₘᵀDKₙₘ = w n/m Kₘₘ² for D = diag(ℓ″). w is the largest mean ℓ″ of
// the columns with this C.
type preconditioner struct {
	t       *training
	factors []*dense.Square
	weights []float64 // w of each factor
}

// A factor is recomputed if w is below stale times the w of the factor.
const stale = 0.25

// suit computes the missing and stale factors for columns.
func (p *preconditioner) suit(ctx context.Context, columns []*column) error {
	t := p.t
	if p.factors == nil {
		p.factors, p.weights = make([]*dense.Square, len(t.cValues)), make([]float64, len(t.cValues))
	}
	most := make([]float64, len(t.cValues))
	for _, c := range columns {
		most[c.which] = max(most[c.which], c.mean)
	}
	for which, w := range most {
		if w == 0 || p.factors[which] != nil && w >= stale*p.weights[which] {
			continue
		}
		gamma := t.cValues[which] * w * float64(len(t.rows)) / float64(t.factor.N)
		a, err := t.factor.Ridge(ctx, t.do, gamma)
		if err != nil {
			return err
		}
		if _, err := a.Cholesky(ctx, t.do, 0); err != nil {
			return err
		}
		p.factors[which], p.weights[which] = a, w
	}
	return nil
}

// each calls f once per C, with the factor for this C and the concatenated vectors of its columns.
// f changes the vectors in place. each returns the changed vectors.
func (p *preconditioner) each(
	ctx context.Context, columns []*column, r [][]float64, f func(a *dense.Square, b []float64) error,
) (out [][]float64, err error) {
	out = make([][]float64, len(columns))
	m := p.t.factor.N
	for which, a := range p.factors {
		var b []float64
		var of []int
		for i, c := range columns {
			if c.which == which {
				b, of = append(b, r[i]...), append(of, i)
			}
		}
		if len(of) == 0 {
			continue
		}
		if a != nil { // with zero weights the factor is the identity
			if err := f(a, b); err != nil {
				return nil, err
			}
		}
		for at, i := range of {
			out[i] = b[at*m : (at+1)*m : (at+1)*m]
		}
	}
	return out, nil
}

// solve returns (AᵀA)⁻¹r for each column's r.
func (p *preconditioner) solve(ctx context.Context, columns []*column, r [][]float64) ([][]float64, error) {
	return p.each(ctx, columns, r, func(a *dense.Square, b []float64) error {
		if err := a.Forward(ctx, p.t.do, b); err != nil {
			return err
		}
		return a.Back(ctx, p.t.do, b)
	})
}

// lengths returns √(rᵀ(AᵀA)⁻¹r) for each column's r.
func (p *preconditioner) lengths(ctx context.Context, columns []*column, r [][]float64) ([]float64, error) {
	b, err := p.each(ctx, columns, r, func(a *dense.Square, b []float64) error { return a.Forward(ctx, p.t.do, b) })
	out := make([]float64, len(columns))
	for i, v := range b {
		out[i] = math.Sqrt(floats.Dot(v, v))
	}
	return out, err
}

// firsts computes the preconditioned gradient norm at f = 0 for each new column. The first gradient
// of a column is at f = 0, unless the column is warm-started from a smaller C. Then the gradient at
// f = 0 is known up to the factor C.
func (p *preconditioner) firsts(ctx context.Context, columns []*column, gradients [][]float64) error {
	var r [][]float64
	for i, c := range columns {
		if c.zero == nil {
			c.zero = slices.Clone(gradients[i])
			floats.Scale(1/c.penalty, c.zero)
		}
		first := slices.Clone(c.zero)
		floats.Scale(c.penalty, first)
		r = append(r, first)
	}
	lengths, err := p.lengths(ctx, columns, r)
	for i, c := range columns {
		if c.first == 0 {
			c.first = lengths[i]
		}
	}
	return err
}
