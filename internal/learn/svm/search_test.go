package svm

import (
	"context"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"testing"

	"gonum.org/v1/gonum/stat"

	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/engine/kernel"
	"github.com/gramengine/gram/internal/learn/model"
	"github.com/gramengine/gram/internal/learn/tune"
	"github.com/gramengine/gram/internal/musttest"
)

func kernelsFor(specs ...string) []kernel.Kernel {
	var out []kernel.Kernel
	for _, s := range specs {
		out = append(out, kernel.MustParse(s))
	}
	return out
}

// A search gives the results of separate validations, computes each dot product once, and reports
// each completed point.
func TestSearchLikeSeparateValidations(t *testing.T) {
	c := noisy(t)
	g := Grid{
		Kernels: kernelsFor("diffusion:t=0.5", "ngd-exp:t=1", "diffusion:t=2", "diffusion:t=1"),
		C:       []float64{10, 0.3, 3}, Folds: 4, Seed: 2,
	}
	p := problem(t, c, g.Kernels[0], Options{})
	var told []tune.Point
	r := musttest.Get(p.Search(context.Background(), Settings{}, g, func(q tune.Point) { told = append(told, q) }))(t)
	n := int64(p.Len())
	if r.DotProducts != n*(n+1)/2 || p.CacheStats().PairsComputed != r.DotProducts {
		t.Errorf("%d dot products, expected %d", r.DotProducts, n*(n+1)/2)
	}
	if len(r.Points) != 12 || r.Total != 12 || r.FitCount() != 48 || len(told) != 12 {
		t.Fatalf("%d points of %d, %d fits, %d told", len(r.Points), r.Total, r.FitCount(), len(told))
	}
	var separate int64
	best := 0
	for i, q := range r.Points {
		if q.Kernel != g.Kernels[i/3] || q.C != g.C[i%3] {
			t.Fatalf("point %d is %v, C=%v", i, q.Kernel, q.C)
		}
		if !slices.ContainsFunc(told, func(other tune.Point) bool { return reflect.DeepEqual(q, other) }) {
			t.Errorf("point %d wasn't told", i)
		}
		own := crossValidate(t, p, Settings{Kernel: q.Kernel, C: q.C}, 4, 2)
		for fold, figure := range q.FoldValues {
			// At most two decisions per fold are within the tolerance.
			within(t, fmt.Sprintf("fold %d of %v, C=%v", fold, q.Kernel, q.C), figure, own.FoldValues[fold], 2.0/150)
			held := int64(0)
			for _, f := range own.Fold {
				if f == fold {
					held++
				}
			}
			separate += (n-held)*(n-held+1)/2 + held*int64(own.FoldSupportVectorCounts[fold])
		}
		mean, sd := stat.MeanStdDev(q.FoldValues, nil)
		if q.Mean != mean || q.SD != sd || q.Iterations == 0 || q.Elapsed == 0 {
			t.Errorf("point %d: %+v", i, q)
		}
		if top := r.Points[best]; q.Mean > top.Mean || q.Mean == top.Mean && q.Score.MacroF1 > top.Score.MacroF1 {
			best = i
		}
	}
	if r.BestIndex != best {
		t.Errorf("the best is point %d, expected %d", r.BestIndex, best)
	}
	if !(math.Abs(float64(r.SeparateDotProducts-separate)) < 0.001*float64(separate)) {
		t.Errorf("separately %d dot products, expected about %d", r.SeparateDotProducts, separate)
	}
	if p.CacheStats().PairsComputed != r.DotProducts {
		t.Error("the validations computed dot products again")
	}
}

// Warm starts reduce the number of iterations.
func TestSearchStartsNear(t *testing.T) {
	c := noisy(t)
	g := Grid{
		Kernels: kernelsFor("diffusion:t=0.5", "diffusion:t=0.7", "diffusion:t=1"), C: []float64{1, 10, 100}, Seed: 1,
	}
	p := problem(t, c, g.Kernels[0], Options{})
	r := musttest.Get(p.Search(context.Background(), Settings{}, g, nil))(t)
	alone, together := int64(0), int64(0)
	for _, q := range r.Points {
		own := crossValidate(t, p, Settings{Kernel: q.Kernel, C: q.C}, 5, 1).Iterations
		if q.Kernel != g.Kernels[2] || q.C > 1 {
			alone += own
			together += q.Iterations
		} else if own != q.Iterations {
			t.Errorf("%d steps at the first point, alone %d", q.Iterations, own)
		}
	}
	if together > alone*2/3 {
		t.Errorf("%d steps from neighbours, %d alone", together, alone)
	}
}

// searchCorpus searches with one problem per embedding.
func searchCorpus(
	ctx context.Context, c *corpus.Corpus, s Settings, g Grid, opt Options, each func(tune.Point),
) (*Searched, error) {
	own := problemSource{opt: opt, corpus: func(context.Context, int) (*corpus.Corpus, int64, error) { return c, 0, nil }}
	return search(ctx, s, g, each, own.next)
}

// The result is the same for any number of workers, and kernels of several embeddings have separate
// problems with the same folds.
func TestSearchProblems(t *testing.T) {
	c := noisy(t)
	g := Grid{
		Kernels: kernelsFor("diffusion:t=0.5", "rbf:gamma=1,embed=tfidf-l2", "diffusion:t=1", "linear:embed=tfidf-l2"),
		C:       []float64{1, 10}, Folds: 3, Seed: 1,
	}
	var first *Searched
	for _, workers := range []int{1, 3} {
		r := musttest.Get(searchCorpus(context.Background(), c, Settings{}, g, Options{Workers: workers}, nil))(t)
		n := int64(c.Documents.Rows())
		if r.DotProducts != 2*n*(n+1)/2 || len(r.Points) != 8 {
			t.Errorf("%d points, %d dot products, expected %d for two embeddings", len(r.Points), r.DotProducts,
				n*(n+1))
		}
		if first == nil {
			first = r
			continue
		}
		for i, q := range r.Points {
			if !slices.Equal(q.FoldValues, first.Points[i].FoldValues) || q.Iterations != first.Points[i].Iterations {
				t.Errorf("point %d: %+v with %d workers, %+v with 1", i, q, workers, first.Points[i])
			}
		}
	}
}

// If its context is cancelled, a search soon returns the completed points.
func TestSearchCancelled(t *testing.T) {
	c := noisy(t)
	g := Grid{
		Kernels: kernelsFor("diffusion:t=1", "diffusion:t=0.5", "diffusion:t=2", "diffusion:t=4"), C: []float64{1, 10},
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	r, err := problem(t, c, g.Kernels[0], Options{Workers: 2}).Search(ctx, Settings{}, g, func(q tune.Point) {
		if q.Kernel == g.Kernels[2] && q.C == 10 {
			cancel()
		}
	})
	if !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	if len(r.Points) != 4 || r.Total != 8 || r.Points[0].Kernel != g.Kernels[2] || r.Points[3].Kernel != g.Kernels[3] ||
		r.BestIndex < 0 ||
		r.DotProducts == 0 {
		t.Errorf("%d points of %d, the best %d: %+v", len(r.Points), r.Total, r.BestIndex, r)
	}
}

// Progress comes at least once a second, counts to the end, and has about the right total.
func TestSearchProgress(t *testing.T) {
	c := noisy(t)
	g := Grid{Kernels: kernelsFor("diffusion:t=0.5", "diffusion:t=1"), C: []float64{1, 10}, Folds: 3}
	var all []Progress
	p := problem(t, c, g.Kernels[0], Options{Progress: func(at Progress) { all = append(all, at) }})
	musttest.Get(p.Search(context.Background(), Settings{}, g, nil))(t)
	searching := slices.DeleteFunc(all, func(at Progress) bool { return at.Stage != "searching" })
	if len(searching) == 0 {
		t.Fatal("no progress")
	}
	last := searching[len(searching)-1]
	if want := int64(6 * 3 * 2 * 2); last.Done != want || last.Total != want {
		t.Errorf("at the end %d of %d, expected %d", last.Done, last.Total, want)
	}
	for i := 1; i < len(searching); i++ {
		if searching[i].Done < searching[i-1].Done || searching[i].Total != last.Total {
			t.Errorf("%d of %d after %d of %d", searching[i].Done, searching[i].Total, searching[i-1].Done,
				searching[i-1].Total)
		}
	}
}

// A search can have lists of nu and epsilon.
func TestSearchOthers(t *testing.T) {
	c := noisy(t)
	ctx := context.Background()
	p := problem(t, c, kernel.MustParse(DefaultKernel), Options{})
	r, err := p.Search(ctx, Settings{Type: model.NuSVC}, Grid{Nu: []float64{0.2, 0.4}, Folds: 3}, nil)
	if err != nil || len(r.Points) != 2 || r.Points[1].Nu != 0.4 || r.Points[0].Kernel.String() != DefaultKernel {
		t.Fatalf("%+v, %v", r, err)
	}
	numbers := &corpus.Corpus{
		Source: c.Source, Documents: c.Documents, Vocabulary: c.Vocabulary, Classes: []string{"1", "2", "4", "-3"},
		Labels: c.Labels,
	}
	q := problem(t, numbers, kernel.MustParse(DefaultKernel), Options{})
	r, err = q.Search(
		ctx, Settings{Type: model.EpsilonSVR},
		Grid{
			Kernels: kernelsFor("diffusion:t=0.5", "diffusion:t=1"), C: []float64{0.01, 3}, Epsilon: []float64{2, 0.1},
			Folds: 3,
		},
		nil,
	)
	if err != nil || len(r.Points) != 8 || r.Points[0].Measure != tune.MeanSquaredError {
		t.Fatalf("%+v, %v", r, err)
	}
	for i, point := range r.Points {
		if point.Mean < r.Points[r.BestIndex].Mean {
			t.Errorf("point %d is better than the best", i)
		}
		s := Settings{Type: model.EpsilonSVR, Kernel: point.Kernel, C: point.C, Epsilon: point.Epsilon}
		// Decisions differ by the tolerance, so squares of errors of about 2 differ by 4
		// tolerances.
		within(t, "the mean squared error", point.Mean, crossValidate(t, q, s, 3, 0).Mean, 0.02)
	}
}

func TestSearchPath(t *testing.T) {
	order := pathOrder(kernelsFor(
		"diffusion:t=2", "rbf:gamma=1", "polynomial:gamma=1,r=1,degree=2", "diffusion:t=0.5",
		"polynomial:gamma=1,r=1,degree=1", "rbf:gamma=0.1", "diffusion:t=1",
	))
	// descending t and ascending gamma: from wide to narrow
	if want := []int{0, 6, 3, 5, 1, 4, 2}; !slices.Equal(order, want) {
		t.Errorf("order %v, expected %v", order, want)
	}
	for _, c := range []struct {
		way  []string // last kernel first
		to   string
		want []float64
	}{
		{nil, "diffusion:t=1", nil},
		{[]string{"diffusion:t=1"}, "diffusion:t=2", []float64{1}},
		// the same step of the logarithm
		{[]string{"diffusion:t=2", "diffusion:t=1"}, "diffusion:t=4", []float64{2, -1}},
		{[]string{"diffusion:t=2", "diffusion:t=1"}, "diffusion:t=2.828427124746190", []float64{1.5, -0.5}},
		{[]string{"diffusion:t=2", "diffusion:t=1"}, "diffusion:t=100", []float64{1}}, // too far
		{[]string{"diffusion:t=2", "ngd-exp:t=1"}, "diffusion:t=4", []float64{1}},
		{[]string{"ngd-exp:t=1"}, "diffusion:t=4", nil},
		{[]string{"polynomial:gamma=1,r=1,degree=2"}, "polynomial:gamma=2,r=0,degree=2", nil},
		{
			[]string{"polynomial:gamma=1,r=1,degree=2", "polynomial:gamma=1,r=1,degree=1"},
			"polynomial:gamma=2,r=1,degree=2", []float64{1},
		},
		// 0 has no logarithm
		{
			[]string{"polynomial:gamma=1,r=1,degree=2", "polynomial:gamma=1,r=0,degree=2"},
			"polynomial:gamma=1,r=2,degree=2", []float64{2, -1},
		},
		{[]string{"diffusion:t=pi"}, "diffusion:t=3", []float64{1}},
		{
			[]string{"0.5*diffusion:t=1 + linear:embed=tf-l1-sqrt"}, "0.75*diffusion:t=1 + linear:embed=tf-l1-sqrt",
			[]float64{1},
		},
		{[]string{"diffusion:t=1000000"}, "diffusion:t=2000000", []float64{1}}, // written 1e+06
	} {
		var way path
		for _, spec := range slices.Backward(c.way) {
			way.add(kernel.MustParse(spec), nil)
		}
		var got []float64
		for _, w := range way.warmStarts(kernel.MustParse(c.to)) {
			got = append(got, w.Factor)
		}
		if len(got) != len(c.want) {
			t.Errorf("%v to %s: %v, expected %v", c.way, c.to, got, c.want)
			continue
		}
		for i := range got {
			within(t, fmt.Sprintf("%v to %s", c.way, c.to), got[i], c.want[i], 1e-12)
		}
	}
}
