package tune

import (
	"context"
	"math"

	"github.com/gramengine/gram/engine/kernel"
	"github.com/gramengine/gram/solver"
)

// Candidate is a combination of settings to compare.
type Candidate struct {
	Tokenizer int           // index of the tokenizer
	Kernel    kernel.Kernel // nil if the evaluator needs no kernel
	Scheme    solver.Scheme

	solver.Regularization
}

// HasSameKernel reports whether q and o have the same kernel and the same tokenizer.
func (q Candidate) HasSameKernel(o Candidate) bool {
	return q.Tokenizer == o.Tokenizer && kernel.Equal(q.Kernel, o.Kernel)
}

// Equal reports whether q and o have the same settings.
func (q Candidate) Equal(o Candidate) bool {
	return q.HasSameKernel(o) && q.Scheme == o.Scheme && q.Regularization == o.Regularization
}

// Combine returns the candidates with tokenizers 0 to cuts-1 and all combinations of the listed
// values. Candidates are ordered by tokenizer, scheme, kernel, nu, epsilon and C.
func Combine(cuts int, schemes []solver.Scheme, kernels []kernel.Kernel, nu, epsilon, c []float64) (all []Candidate) {
	for cut := range cuts {
		for _, scheme := range schemes {
			for _, k := range kernels {
				for _, nu := range nu {
					for _, epsilon := range epsilon {
						for _, c := range c {
							all = append(all, Candidate{cut, k, scheme, solver.Regularization{C: c, Nu: nu, Epsilon: epsilon}})
						}
					}
				}
			}
		}
	}
	return all
}

// Point is a candidate with its result.
type Point struct {
	Candidate
	*Result
}

// Evaluator cross-validates candidates.
type Evaluator interface {
	// Evaluate calls done with the index and the result of each completed candidate, in any order,
	// but not concurrently. An evaluator that resolves a kernel parameter sets the parameter in p.
	Evaluate(ctx context.Context, all []Candidate, done func(i int, p Point)) error
}

// SearchResult holds the points that [Search] compared.
type SearchResult struct {
	Points    []Point // completed points, in the order of the candidates
	BestIndex int     // index of the selected point, see [Search]; -1 if there is none
}

// FitCount returns the number of trained models: one per point and fold.
func (f *SearchResult) FitCount() (n int) {
	for _, p := range f.Points {
		n += len(p.FoldValues)
	}
	return n
}

// Search compares candidates. BestIndex is the index of the best point ([Result.IsBetter]). If minC
// is set, BestIndex is the index of the point with the smallest C among points that differ from the
// best point only in C, have no more unconverged classifiers, and score worse by at most the
// standard error of the differences over folds. If ctx is done, or after another error, the result
// has the completed points. each, if not nil, is called with each completed point.
func Search(
	ctx context.Context, e Evaluator, all []Candidate, minC bool, each func(Point),
) (*SearchResult, error) {
	points := make([]*Point, len(all))
	err := e.Evaluate(ctx, all, func(i int, p Point) {
		if points[i] = &p; each != nil {
			each(p)
		}
	})
	f := &SearchResult{BestIndex: -1}
	for _, p := range points {
		if p == nil {
			continue
		}
		if f.Points = append(f.Points, *p); f.BestIndex < 0 || p.IsBetter(f.Points[f.BestIndex].Result) {
			f.BestIndex = len(f.Points) - 1
		}
	}
	if minC && f.BestIndex >= 0 {
		f.BestIndex = smallestC(f.Points, f.BestIndex, math.Inf(1))
	}
	setDifferences(f.Points, f.BestIndex)
	return f, err
}

func setDifferences(points []Point, best int) {
	for i, p := range points {
		if p.DifferenceToBest = nil; i != best {
			d := PairedDifference(p.FoldValues, points[best].FoldValues)
			p.DifferenceToBest = &d
		}
	}
}

// smallestC returns the index of the point with the smallest C among points that differ from the
// best point only in C, have no more unconverged classifiers, and score worse by at most the
// standard error of the differences over folds. The difference is also limited to most, because few
// folds estimate the standard error badly. best is the index of the best point.
func smallestC(points []Point, best int, most float64) int {
	top := points[best]
	for i, p := range points {
		other := p.Candidate
		if other.C = top.C; !other.Equal(top.Candidate) || p.C >= points[best].C {
			continue
		}
		lost := PairedDifference(top.FoldValues, p.FoldValues)
		if top.Measure == MeanSquaredError {
			lost.Mean = -lost.Mean
		}
		if p.UnfinishedCount <= top.UnfinishedCount && lost.Mean <= min(lost.SE, most) {
			best = i
		}
	}
	return best
}
