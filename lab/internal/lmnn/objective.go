package lmnn

import (
	"context"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/gramengine/gram/internal/run"
)

// problem is the optimisation problem: minimise ε for the documents x.
type problem struct {
	x         *mat.Dense // documents as rows
	y         []int32
	targets   []int32 // k targets per document
	k         int
	push      float64
	workers   int
	smoothing float64               // s in the smoothed hinge loss: loss²/(2s) if loss < s, otherwise loss - s/2
	maxPairs  int64                 // maximum number of pairs in impostors; 0 for no limit
	impostors [][]int32             // documents of other classes near each document, see findImpostors
	gradients [rangeCount][]float64 // gradients with respect to z (see loss), one per range of documents

	// onIteration, if not nil, is called with L after each iteration. An error ends the
	// optimisation.
	onIteration func(ctx context.Context, iterations int, l []float64) error
	stopErr     error
}

// rangeCount is the number of ranges into which documents are divided. Sums over ranges are added
// in a fixed order, so that results don't depend on the number of workers.
const rangeCount = 16

func (p *problem) forEachRange(ctx context.Context, f func(part, lo, hi int) error) error {
	n := len(p.y)
	return run.Tasks(ctx, p.workers, rangeCount, func(ctx context.Context, _, part int) error {
		return f(part, part*n/rangeCount, (part+1)*n/rangeCount)
	})
}

// notify calls onIteration, unless an earlier call has returned an error.
func (p *problem) notify(ctx context.Context, iterations int, l []float64) {
	if p.onIteration != nil && p.stopErr == nil {
		p.stopErr = p.onIteration(ctx, iterations, l)
	}
}

// loss returns ε at L = w, restricted to pairs in impostors. It sets g to the gradient 2 Σ c_ab
// (z_a - z_b)(x_a - x_b)ᵀ, where z = Lx, and c_ab is the weight of D(a, b) in ε. w and g are in
// row-major order.
func (p *problem) loss(ctx context.Context, w, g []float64) (float64, error) {
	if p.stopErr != nil {
		return 0, p.stopErr
	}
	n, d := p.x.Dims()
	z, err := applyTransform(ctx, p.x, mat.NewDense(d, d, w))
	if err != nil {
		return 0, err
	}
	norms, sums := squaredNorms(z), [rangeCount]float64{}
	err = p.forEachRange(ctx, func(part, lo, hi int) error {
		if p.gradients[part] == nil {
			p.gradients[part] = make([]float64, n*d)
		}
		slope, weights := p.gradients[part], make([]float64, n)
		clear(slope)
		distances, pulls := make([]float64, p.k), make([]float64, p.k)
		pair := func(a, b int, weight float64) { // adds 2 weight (z_a - z_b) to row a of slope, subtracts it from row b
			weight *= 2
			floats.AddScaled(slope[a*d:(a+1)*d], -weight, z.RawRowView(b))
			floats.AddScaled(slope[b*d:(b+1)*d], -weight, z.RawRowView(a))
			weights[a] += weight
			weights[b] += weight
		}
		for i := lo; i < hi; i++ {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			zi, widest := z.RawRowView(i), math.Inf(-1)
			mine := p.targets[i*p.k : (i+1)*p.k]
			for t, j := range mine {
				distances[t], pulls[t] = math.Inf(-1), 0
				if j >= 0 {
					distances[t], pulls[t] = squaredDistance(zi, z.RawRowView(int(j))), 1-p.push
					sums[part] += (1 - p.push) * distances[t]
				}
				widest = max(widest, distances[t])
			}
			for _, l := range p.impostors[i] {
				far := norms[i] + norms[l] - 2*floats.Dot(zi, z.RawRowView(int(l)))
				if !(far < 1+widest) {
					continue
				}
				away := 0.0
				for t, near := range distances {
					loss := 1 + near - far
					if !(loss > 0) {
						continue
					}
					weight := p.push
					if loss < p.smoothing {
						weight *= loss / p.smoothing
						sums[part] += weight * loss / 2
					} else {
						sums[part] += weight * (loss - p.smoothing/2)
					}
					pulls[t] += weight
					away += weight
				}
				pair(i, int(l), -away)
			}
			for t, j := range mine {
				if j >= 0 {
					pair(i, int(j), pulls[t])
				}
			}
		}
		for a, weight := range weights {
			floats.AddScaled(slope[a*d:(a+1)*d], weight, z.RawRowView(a))
		}
		return nil
	})
	if err != nil {
		return 0, err
	}
	total := p.gradients[0]
	for _, slope := range p.gradients[1:] {
		floats.Add(total, slope)
	}
	if err := multiplyTransposed(ctx, g, mat.NewDense(n, d, total), p.x); err != nil {
		return 0, err
	}
	sum := 0.0
	for _, v := range sums {
		sum += v
	}
	return sum, nil
}

// findTargets sets targets to the nearest documents of the same class, by distance between rows of
// z. Ties are broken by index.
func (p *problem) findTargets(ctx context.Context, z *mat.Dense) error {
	p.targets = make([]int32, len(p.y)*p.k)
	return p.forEachRange(ctx, func(_, lo, hi int) error {
		best := newNeighbourList(p.k)
		for i := lo; i < hi; i++ {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			best.reset()
			for j, y := range p.y {
				if y == p.y[i] && j != i {
					best.insert(j, squaredDistance(z.RawRowView(i), z.RawRowView(j)))
				}
			}
			copy(p.targets[i*p.k:], best.indices)
		}
		return nil
	})
}

// neighbourList holds the nearest documents found so far. Ties go to the document offered first.
type neighbourList struct {
	indices   []int32 // document indices; -1 for an empty entry
	distances []float64
}

func newNeighbourList(k int) *neighbourList {
	b := &neighbourList{indices: make([]int32, k), distances: make([]float64, k)}
	b.reset()
	return b
}

func (b *neighbourList) reset() {
	for t := range b.indices {
		b.indices[t], b.distances[t] = -1, math.Inf(1)
	}
}

func (b *neighbourList) insert(j int, distance float64) {
	t := len(b.indices)
	for t > 0 && distance < b.distances[t-1] {
		t--
	}
	if t < len(b.indices) {
		copy(b.indices[t+1:], b.indices[t:])
		copy(b.distances[t+1:], b.distances[t:])
		b.indices[t], b.distances[t] = int32(j), distance
	}
}
