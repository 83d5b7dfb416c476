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
	factors []*dense.Matrix
	weights []float64 // w of each factor
}

// A factor is recomputed if w is below staleRatio times the w of the factor.
const staleRatio = 0.25

func (p *preconditioner) update(ctx context.Context, columns []*column) error {
	t := p.t
	if p.factors == nil {
		p.factors, p.weights = make([]*dense.Matrix, len(t.cValues)), make([]float64, len(t.cValues))
	}
	most := make([]float64, len(t.cValues))
	for _, c := range columns {
		most[c.indexOfC] = max(most[c.indexOfC], c.meanCurvature)
	}
	for which, w := range most {
		if w == 0 || p.factors[which] != nil && w >= staleRatio*p.weights[which] {
			continue
		}
		gamma := t.cValues[which] * w * float64(len(t.rows)) / float64(t.factor.N)
		a, err := t.factor.Ridge(ctx, t.config, gamma)
		if err != nil {
			return err
		}
		if _, err := a.Cholesky(ctx, t.config, 0); err != nil {
			return err
		}
		p.factors[which], p.weights[which] = a, w
	}
	return nil
}

// forEachC calls f once per C, with the factor for this C and the concatenated vectors of its
// columns. f changes the vectors in place. forEachC returns the changed vectors.
func (p *preconditioner) forEachC(
	ctx context.Context, columns []*column, r [][]float64, f func(a *dense.Matrix, b []float64) error,
) (out [][]float64, err error) {
	out = make([][]float64, len(columns))
	m := p.t.factor.N
	for which, a := range p.factors {
		var b []float64
		var of []int
		for i, c := range columns {
			if c.indexOfC == which {
				b, of = append(b, r[i]...), append(of, i)
			}
		}
		if len(of) == 0 {
			continue
		}
		if a != nil { // a is nil if all weights are 0, because A is the identity
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
	return p.forEachC(ctx, columns, r, func(a *dense.Matrix, b []float64) error {
		if err := a.ForwardSolve(ctx, p.t.config, b); err != nil {
			return err
		}
		return a.BackSolve(ctx, p.t.config, b)
	})
}

// norms returns √(rᵀ(AᵀA)⁻¹r) for each column's r.
func (p *preconditioner) norms(ctx context.Context, columns []*column, r [][]float64) ([]float64, error) {
	b, err := p.forEachC(ctx, columns, r, func(a *dense.Matrix,
		b []float64) error {
		return a.ForwardSolve(ctx, p.t.config, b)
	})
	out := make([]float64, len(columns))
	for i, v := range b {
		out[i] = math.Sqrt(floats.Dot(v, v))
	}
	return out, err
}

// initNorms computes the preconditioned gradient norm at f = 0 for each new column. The first
// gradient of a column is at f = 0, unless the column is warm-started from a smaller C. A
// warm-started column reuses the smaller C's gradient at f = 0, scaled to C.
func (p *preconditioner) initNorms(ctx context.Context, columns []*column, gradients [][]float64) error {
	var r [][]float64
	for i, c := range columns {
		if c.zeroGradient == nil {
			c.zeroGradient = slices.Clone(gradients[i])
			floats.Scale(1/c.penalty, c.zeroGradient)
		}
		first := slices.Clone(c.zeroGradient)
		floats.Scale(c.penalty, first)
		r = append(r, first)
	}
	lengths, err := p.norms(ctx, columns, r)
	for i, c := range columns {
		if c.initialNorm == 0 {
			c.initialNorm = lengths[i]
		}
	}
	return err
}
