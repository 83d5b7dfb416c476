package landmark

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/gramengine/gram/engine"
	"github.com/gramengine/gram/engine/kernel"
	"github.com/gramengine/gram/internal/run"
	"github.com/gramengine/gram/sparse"
)

// choose draws landmarks, as places in the training's rows.
func (t *training) choose(ctx context.Context) ([]int, error) {
	n, m := len(t.rows), t.s.Landmarks
	r := rand.New(rand.NewPCG(t.s.Seed, 0x6d61726b))
	switch t.s.Choice {
	case Stratified:
		return t.stratified(r, m), nil
	case Pivoted:
		return t.pivoted(ctx, r, m)
	}
	return r.Perm(n)[:m], nil
}

// stratified draws as many documents of each class as of any other; of several classes a document
// counts for the first, and documents without one are a class.
func (t *training) stratified(r *rand.Rand, m int) (chosen []int) {
	of := make([][]int, len(t.c.Classes)+1)
	for _, at := range r.Perm(len(t.rows)) {
		class := len(t.c.Classes)
		if own := t.c.Labels.Of(t.rows[at]); len(own) > 0 {
			class = int(own[0])
		}
		of[class] = append(of[class], at)
	}
	for round := 0; len(chosen) < m; round++ {
		for _, list := range of {
			if round < len(list) && len(chosen) < m {
				chosen = append(chosen, list[round])
			}
		}
	}
	return chosen
}

// What randomly pivoted Cholesky looks at: so many documents, or eight times as many as there will be
// landmarks, and so many of them at a time.
const (
	fewestCandidates = 1 << 15
	proposals        = 128
)

// pivoted draws landmarks by randomly pivoted Cholesky: the next one with a probability in proportion
// to its squared distance to the span of those before. It draws some at a time by the old distances,
// and rejects those that the ones before them have come too near to, which gives the same law (arXiv
// 2410.03969, algorithm 2.2). Of many documents it looks at a uniform sample.
func (t *training) pivoted(ctx context.Context, r *rand.Rand, m int) ([]int, error) {
	candidates := r.Perm(len(t.rows))
	candidates = candidates[:min(len(candidates), max(fewestCandidates, 8*m))]
	n := len(candidates)
	x, err := t.embed(ctx, candidates)
	if err != nil {
		return nil, err
	}
	e, err := t.engine(ctx, x)
	if err != nil {
		return nil, err
	}
	defer e.Close()
	left, err := t.diagonal(e, x)
	if err != nil {
		return nil, err
	}
	factor := make([]float32, 0, m*n) // rows of the factor of k, whose columns are the candidates
	var chosen []int
	taken := make([]bool, n)
	rows := engine.NewDense(proposals, n)
	for misses := 0; len(chosen) < m; {
		if err := t.opt.tell(run.Progress{Stage: "landmarks", Done: int64(len(chosen)), Total: int64(m)}); err != nil {
			return nil, err
		}
		drawn := draw(r, left, proposals)
		if drawn == nil || misses > 100 { // nothing is left, so any document does
			for at := range candidates {
				if len(chosen) < m && !taken[at] {
					taken[at] = true
					chosen = append(chosen, candidates[at])
				}
			}
			break
		}
		b := len(drawn)
		some := &engine.Dense{Rows: b, Cols: n, Data: rows.Data[:b*n]}
		if err := e.Rows(ctx, t.k, drawn, some); err != nil {
			return nil, err
		}
		sums, by := make([]float64, b*n), make([]float64, len(chosen)*b)
		for i, v := range some.Data {
			sums[i] = float64(v)
		}
		for l := range len(factor) / n {
			for v, at := range drawn {
				by[l*b+v] = -float64(factor[l*n+at])
			}
		}
		err := t.columns(ctx, n, func(lo, hi int) {
			t.do.Kernels.Multiply(sums[lo:], n, factor[min(lo, len(factor)):], n, len(factor)/n, hi-lo, by, b, b)
		})
		if err != nil {
			return nil, err
		}
		accepted, err := reject(ctx, r, sums, n, drawn, left)
		if err != nil {
			return nil, err
		}
		if len(accepted) == 0 {
			misses++
			continue
		}
		for _, v := range accepted[:min(len(accepted), m-len(chosen))] {
			at := drawn[v]
			taken[at] = true
			chosen = append(chosen, candidates[at])
			row := sums[v*n:][:n]
			for i, value := range row {
				factor = append(factor, float32(value))
				left[i] = max(left[i]-value*value, 0)
			}
			left[at] = 0
		}
	}
	return chosen, nil
}

// draw draws places with a probability in proportion to their weights, nil where all are 0.
func draw(r *rand.Rand, weights []float64, count int) []int {
	sums, sum := make([]float64, len(weights)), 0.0
	for i, w := range weights {
		sum += w
		sums[i] = sum
	}
	if !(sum > 0) {
		return nil
	}
	drawn := make([]int, count)
	for v := range drawn {
		at, _ := slices.BinarySearch(sums, r.Float64()*sum)
		for at < len(weights)-1 && !(weights[at] > 0) {
			at++
		}
		drawn[v] = at
	}
	return drawn
}

// reject goes through the rows of what is left of the matrix, and accepts one with the probability
// that its distance has to the one that it was drawn by. Accepted rows become rows of the factor.
func reject(
	ctx context.Context, r *rand.Rand, rows []float64, n int, drawn []int, left []float64,
) (accepted []int, err error) {
	for v, at := range drawn {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		row := rows[v*n:][:n]
		for _, w := range accepted {
			by := rows[w*n:][:n]
			f := by[at]
			for i := range row {
				row[i] -= f * by[i]
			}
		}
		if pivot := row[at]; pivot > independent*left[at] && r.Float64()*left[at] < pivot {
			accepted = append(accepted, v)
			scale := 1 / math.Sqrt(pivot)
			for i := range row {
				row[i] *= scale
			}
		}
	}
	return accepted, nil
}

// residual returns the share of the trace of k + 1 that the landmarks leave, estimated on a sample of
// the training documents: Σ(k(x,x) + 1 - ‖T⁻ᵀkₓ‖²) / Σ(k(x,x) + 1).
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
	cross, err := t.e.Cross(ctx, t.k, x)
	if err != nil {
		return 0, err
	}
	b := make([]float64, len(cross.Data))
	for i, v := range cross.Data {
		b[i] = float64(v) + 1
	}
	if err := t.factor.Forward(ctx, t.do, b); err != nil {
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

// diagonal returns k(x, x) of documents.
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
		if err := kernel.Apply(t.k, t.do.Kernels, own, own, norms[i:i+1], norms[i:i+1]); err != nil {
			return nil, err
		}
		out[i] = float64(own[0])
	}
	return out, nil
}
