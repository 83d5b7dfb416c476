package svm

import (
	"cmp"
	"context"
	"math"
	"testing"

	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/engine/kernel"
	"github.com/gramengine/gram/internal/learn/model"
	"github.com/gramengine/gram/internal/learn/tune"
	"github.com/gramengine/gram/internal/musttest"
	"github.com/gramengine/gram/solver"
	"github.com/gramengine/gram/sparse"
)

func read(t testing.TB, source string, opt corpus.Options) *corpus.Corpus {
	t.Helper()
	return musttest.Get(corpus.Read(context.Background(), source, opt))(t)
}

// halves divides a corpus into training and test documents.
func halves(c *corpus.Corpus) (train, test *corpus.Corpus) {
	var even, odd []int
	for i := range c.Documents.Rows() {
		if i%10 < 5 { // classes may take turns
			even = append(even, i)
		} else {
			odd = append(odd, i)
		}
	}
	return c.Select(even), c.Select(odd)
}

// problem makes a problem for a kernel.
func problem(t testing.TB, c *corpus.Corpus, k kernel.Kernel, opt Options) *Problem {
	t.Helper()
	return musttest.Get(NewProblem(context.Background(), c, k.Embedding(), opt))(t)
}

func train(t testing.TB, c *corpus.Corpus, s Settings, opt Options) (*model.Model, *Report) {
	t.Helper()
	if s.Kernel == nil {
		s.Kernel = kernel.MustParse(DefaultKernel)
	}
	m, r, err := problem(t, c, s.Kernel, opt).Train(context.Background(), s)
	musttest.NoError(t, err)
	return m, r
}

func predict(t testing.TB, m *model.Model, docs *sparse.CSR, opt Options) *model.Prediction {
	t.Helper()
	p := musttest.Get(NewPredictor(t.Context(), m, opt))(t)
	return musttest.Get(p.Predict(context.Background(), docs))(t)
}

// distances returns c = 1 - cosine between the rows of two embedded matrices, computed by
// definition in float64.
func distances(a, b *sparse.Embedded) [][]float64 {
	out := make([][]float64, a.Rows())
	dense := make([]float64, a.Cols)
	for i := range out {
		terms, _ := a.Row(i)
		unit := a.UnitVector64(i, nil)
		for k, t := range terms {
			dense[t] = unit[k]
		}
		var own float64
		for _, v := range unit {
			own += v * v
		}
		out[i] = make([]float64, b.Rows())
		for j := range out[i] {
			other, _ := b.Row(j)
			sum := own // ½ Σ (a-b)², over all of a and, where they differ from 0, of b
			for k, v := range b.UnitVector64(j, nil) {
				d := dense[other[k]]
				sum += (d-v)*(d-v) - d*d
			}
			out[i][j] = max(sum/2, 0)
		}
		for _, t := range terms {
			dense[t] = 0
		}
	}
	return out
}

// comparable clears values that differ or compare unequal in equal runs: times, and NaN.
func comparable(p *tune.Point) *tune.Point {
	p.Elapsed = 0
	s := p.Score
	for _, v := range []*float64{
		&s.Accuracy, &s.MicroF1, &s.MacroF1, &s.Hamming, &s.MeanSquaredError, &s.Correlation,
	} {
		if math.IsNaN(*v) {
			*v = 0
		}
	}
	return p
}

// Grid is a search of all combinations of lists. An empty list means the value in settings.
type Grid struct {
	Schemes        []solver.Scheme
	Kernels        []kernel.Kernel
	C, Nu, Epsilon []float64
	Folds          int
	Seed           uint64
}

// Searched is the result of a search.
type Searched struct {
	*tune.SearchResult
	*Evaluator
	Total int
}

// evaluator returns an evaluator and the candidates of a grid.
func (g Grid) evaluator(s Settings) (*Evaluator, []tune.Candidate, error) {
	s, err := s.Resolve()
	if err != nil {
		return nil, nil, err
	}
	list := func(values []float64, own float64) []float64 {
		if values == nil {
			return []float64{own}
		}
		return values
	}
	if g.Kernels == nil {
		g.Kernels = []kernel.Kernel{s.Kernel}
	}
	if g.Schemes == nil {
		g.Schemes = []solver.Scheme{s.Scheme}
	}
	all := tune.Combine(1, g.Schemes, g.Kernels, list(g.Nu, s.Nu), list(g.Epsilon, s.Epsilon), list(g.C, s.C))
	d := tune.Division{Folds: cmp.Or(g.Folds, tune.DefaultFolds), Seed: g.Seed}
	return &Evaluator{Settings: s, Division: d}, all, nil
}

// Search compares the points of a grid; its kernels must have the problem's embedding.
func (p *Problem) Search(ctx context.Context, s Settings, g Grid, each func(tune.Point)) (*Searched, error) {
	return search(ctx, p.withKernel(s), g, each, func(context.Context, int, sparse.Embedding) (*Problem, error) {
		return p, nil
	})
}

func search(
	ctx context.Context, s Settings, g Grid, each func(tune.Point),
	problem func(context.Context, int, sparse.Embedding) (*Problem, error),
) (*Searched, error) {
	v, all, err := g.evaluator(s)
	if err != nil {
		return nil, err
	}
	v.Problem = problem
	found, err := tune.Search(ctx, v, all, false, each)
	return &Searched{found, v, len(all)}, err
}

func within(t testing.TB, what string, got, want, tolerance float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tolerance) {
		t.Fatalf("%s is %v, expected %v ± %.2g", what, got, want, tolerance)
	}
}
