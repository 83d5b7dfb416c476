package logistic

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/internal/learn/archive"
	"github.com/gramengine/gram/internal/learn/task"
	"github.com/gramengine/gram/internal/musttest"
	"github.com/gramengine/gram/internal/run"
	"github.com/gramengine/gram/solver"
	"github.com/gramengine/gram/sparse"
)

// texts draws documents whose words follow Zipf's law. A quarter of the words depend on the class.
func texts(t testing.TB, n, classes int, seed uint64) *corpus.Corpus {
	t.Helper()
	source := fmt.Sprintf("synthetic:docs=%d,terms=100,length=15,classes=%d,seed=%d", n, classes, seed)
	return musttest.Get(corpus.Read(context.Background(), source, corpus.Options{}))(t)
}

func points(t testing.TB, c *corpus.Corpus) *task.TrainingMatrix {
	t.Helper()
	x := musttest.Get(sparse.SphereEmbedding.Fit(c.Documents).Transform(c.Documents))(t)
	return task.NewTrainingMatrix(x, run.Range(0, x.Rows()))
}

// of returns, for each document, whether it has class k.
func of(c *corpus.Corpus, k int32) []bool {
	return musttest.MakeSlice(c.Documents.Rows(), func(i int) bool { return c.Labels.Classes(i)[0] == k })
}

var kinds = map[string]Settings{"bias": {C: 3}, "no bias": {C: 3, NoBias: true}, "weighted": {C: 3, Balanced: true}}

// The gradient agrees with difference quotients of the objective, at random points.
func TestObjectiveGradient(t *testing.T) {
	c := texts(t, 40, 2, 1)
	for name, s := range kinds {
		s := musttest.Get(s.resolve())(t)
		k := task.BinaryProblem{Positive: of(c, 0), Workers: 1}
		if s.Balanced {
			k.Weights = [2]float64{0.5, 3}
		}
		o := newObjective(points(t, c), &s, k)
		r := rand.New(rand.NewPCG(5, 6))
		n := o.numVariables()
		w, g, none := make([]float64, n), make([]float64, n), make([]float64, n)
		for j := range w {
			w[j] = r.NormFloat64()
		}
		ctx := context.Background()
		musttest.Get(o.evaluate(ctx, w, g))(t)
		for j := range w {
			const step = 1e-6
			at := func(d float64) float64 {
				w[j] += d
				v, _ := o.evaluate(ctx, w, none)
				w[j] -= d
				return v
			}
			want := (at(step) - at(-step)) / (2 * step)
			if !(math.Abs(want-g[j]) <= 1e-6*max(1, math.Abs(want))) {
				t.Errorf("%s, variable %d: %v, expected %v", name, j, g[j], want)
			}
		}
	}
}

// The last model of a path has the objective of a model trained alone, within the tolerance.
func TestPath(t *testing.T) {
	c := texts(t, 600, 3, 4)
	for name, s := range kinds {
		s.Tolerance = 1e-2
		models := musttest.Get(TrainPath(t.Context(), c, sparse.SphereEmbedding, s, []float64{0.1, 1}, Options{}))(t)
		s.C = 1
		alone := musttest.Get(Train(t.Context(), c, sparse.SphereEmbedding, s, Options{}))(t)
		for k, a := range alone.Functions {
			if b := models[1].Functions[k].Objective; !(math.Abs(a.Objective-b) <= 1e-2*a.Objective) {
				t.Errorf("%s: objective %v at the end of a path, %v alone", name, b, a.Objective)
			}
		}
	}
}

// Unusual input gives defined results.
func TestOddInput(t *testing.T) {
	ctx := context.Background()
	root, _ := sparse.ParseEmbedding("tf-l1-sqrt")
	l2, _ := sparse.ParseEmbedding("tf-l2")
	c := texts(t, 12, 2, 5)
	cancelled, cancel := context.WithCancel(ctx)
	cancel()
	musttest.WantError(Train(cancelled, c, root, Settings{}, Options{}))(t,
		"after the end of the context", context.Canceled)

	// Training works with a class of all documents, a class without documents, an empty document,
	// and separable documents without regularization.
	odd := c.Select([]int{0, 1, 2, 3, 4, 5})
	odd.Classes = append(odd.Classes[:2:2], "all", "none")
	labels := sparse.Labels{}
	for i := range 6 {
		labels.Add(odd.Labels.Classes(i)[0], 2)
	}
	odd.Labels = labels
	odd.Documents.Offsets[6] = odd.Documents.Offsets[5]
	odd.Documents.Terms = odd.Documents.Terms[:odd.Documents.Offsets[6]]
	odd.Documents.Values = odd.Documents.Values[:odd.Documents.Offsets[6]]
	for _, s := range []Settings{{}, {C: math.Inf(1)}} {
		s.Scheme = solver.MultiLabel
		for _, e := range []sparse.Embedding{root, l2} {
			m := musttest.Get(Train(ctx, odd, e, s, Options{}))(t)
			p := musttest.Get(m.Predict(ctx, odd.Documents, Options{}))(t)
			for i, f := range p.DecisionValues {
				if !(f[2] == math.Log(7) && f[3] == -math.Log(7)) || archive.CheckFinite(f[:2]) != nil {
					t.Errorf("C %v, %v, document %d: %v, expected log 7 for what all have", s.C, e, i, f)
				}
			}
		}
	}
}
