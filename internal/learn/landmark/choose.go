package landmark

import (
	"context"
	"math/rand/v2"

	"github.com/gramengine/gram/engine"
	"github.com/gramengine/gram/engine/kernel"
	"github.com/gramengine/gram/sparse"
)

// Choose draws the indices of min(m, n) of n documents, uniformly without replacement. The same
// seed gives the same landmarks.
func Choose(n, m int, seed uint64) []int {
	return rand.New(rand.NewPCG(seed, 0x6d61726b)).Perm(n)[:min(m, n)]
}

// residual returns the fraction of the trace of k + 1 that the landmarks don't explain, estimated
// on a sample of training documents: Σ(k(x,x) + 1 - ‖T⁻ᵀkₓ‖²) / Σ(k(x,x) + 1), where kₓ[j] is
// k(x,zⱼ) + 1.
func (t *training) residual(ctx context.Context) (float64, error) {
	const sample = 1000
	n := len(t.rows)
	r := rand.New(rand.NewPCG(t.s.Seed, 0x74726163))
	some := r.Perm(n)[:min(n, sample)]
	x, err := t.embed(ctx, some)
	if err != nil {
		return 0, err
	}
	all, err := t.diagonal(t.e, x)
	if err != nil {
		return 0, err
	}
	cross, err := t.e.Rows(ctx, t.k, engine.Request{TestDocuments: x}, nil)
	if err != nil {
		return 0, err
	}
	b := make([]float64, len(cross.Data))
	for i, v := range cross.Data {
		b[i] = float64(v) + 1
	}
	if err := t.factor.ForwardSolve(ctx, t.config, b); err != nil {
		return 0, err
	}
	m := t.factor.N
	var left, sum float64
	for i, d := range all {
		near := 0.0
		for _, v := range b[i*m:][:m] {
			near += v * v
		}
		sum += d + 1
		left += max(d+1-near, 0)
	}
	return left / sum, nil
}

func (t *training) diagonal(e *engine.Engine, x *sparse.Embedded) ([]float64, error) {
	n := x.Rows()
	values, norms := make([]float32, n), make([]float32, n)
	for i := range norms {
		if x.Norms != nil {
			norms[i] = float32(x.Norms[i])
		}
	}
	out := make([]float64, n)
	for i := range n {
		own := values[i : i+1]
		if err := kernel.Apply(t.k, t.config.Kernels, own, own, norms[i:i+1], norms[i:i+1]); err != nil {
			return nil, err
		}
		out[i] = float64(own[0])
	}
	return out, nil
}
