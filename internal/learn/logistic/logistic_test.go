package logistic

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/internal/learn/task"
	"github.com/gramengine/gram/internal/musttest"
	"github.com/gramengine/gram/internal/run"
	"github.com/gramengine/gram/solver"
	"github.com/gramengine/gram/sparse"
)

// texts draws documents of several classes with overlapping words.
func texts(t testing.TB, n, classes int, seed uint64) *corpus.Corpus {
	t.Helper()
	r := rand.New(rand.NewPCG(seed, 1))
	var docs, labels []string
	for i := range n {
		k := i % classes
		var b strings.Builder
		for range 5 + r.IntN(20) {
			word := int(60 * math.Pow(r.Float64(), 2))
			if r.IntN(4) == 0 {
				word = 60 + 8*k + r.IntN(12)
			}
			fmt.Fprintf(&b, "w%c%c ", 'a'+word/26, 'a'+word%26)
		}
		docs, labels = append(docs, b.String()), append(labels, fmt.Sprint("class", k))
	}
	c := musttest.Get(corpus.FromTexts(context.Background(), docs, labels, corpus.Options{MinDF: 1}))(t)
	return c
}

func points(t testing.TB, c *corpus.Corpus) *task.Points {
	t.Helper()
	x := musttest.Get(sparse.Sphere.Fit(c.Documents).Transform(c.Documents))(t)
	return task.NewPoints(x, run.Numbers(0, x.Rows()))
}

// of reports for each document whether it has class k.
func of(c *corpus.Corpus, k int32) []bool {
	positive := make([]bool, c.Documents.Rows())
	for i := range positive {
		positive[i] = c.Labels.Of(i)[0] == k
	}
	return positive
}

var kinds = map[string]Settings{"bias": {C: 3}, "no bias": {C: 3, NoBias: true}, "weighted": {C: 3, Balanced: true}}

// The gradient agrees with difference quotients of the objective, at random points.
func TestObjectiveGradient(t *testing.T) {
	c := texts(t, 40, 2, 1)
	for name, s := range kinds {
		s := musttest.Get(s.resolve())(t)
		k := task.Class{Positive: of(c, 0), Workers: 1}
		if s.Balanced {
			k.Weights = [2]float64{0.5, 3}
		}
		o := newObjective(points(t, c), &s, k)
		r := rand.New(rand.NewPCG(5, 6))
		n := o.size()
		w, g, none := make([]float64, n), make([]float64, n), make([]float64, n)
		for j := range w {
			w[j] = r.NormFloat64()
		}
		ctx := context.Background()
		if _, err := o.value(ctx, w, g); err != nil {
			t.Fatal(err)
		}
		for j := range w {
			const step = 1e-6
			at := func(d float64) float64 {
				w[j] += d
				v, _ := o.value(ctx, w, none)
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

// Models and predictions are bit-identical for any number of workers. A path ends at the same model
// as its last C alone.
func TestSameFromAnyNumberOfWorkers(t *testing.T) {
	c := texts(t, 2000, 3, 4)
	e, _ := sparse.ParseEmbedding("tf-l1-sqrt")
	for name, s := range kinds {
		s.Tolerance = 1e-2
		var before *Model
		for _, workers := range []int{1, 2, 7} {
			models := musttest.Get(TrainPath(context.Background(), c, e, s, []float64{0.1, 1}, Options{Workers: workers}))(t)
			m := models[1]
			p := musttest.Get(m.Predict(context.Background(), c.Documents, Options{Workers: workers}))(t)
			right := 0
			for i, k := range p.Class {
				if int32(k) == c.Labels.Of(i)[0] {
					right++
				}
				sum := 0.0
				for _, v := range p.Probabilities[i] {
					sum += v
				}
				if !(math.Abs(sum-1) <= 1e-12) {
					t.Fatalf("%s: probabilities sum to %v", name, sum)
				}
			}
			if right < 1400 {
				t.Errorf("%s: %d of 2000 right", name, right)
			}
			if before == nil {
				before = m
				alone := musttest.Get(Train(context.Background(), c, e, m.Settings, Options{}))(t)
				for k, a := range alone.Functions {
					if b := m.Functions[k].Value; !(math.Abs(a.Value-b) <= 1e-2*a.Value) {
						t.Errorf("%s: objective %v at the end of a path, %v alone", name, b, a.Value)
					}
				}
				continue
			}
			for k, a := range m.Functions {
				for j, v := range a.Weights {
					if math.Float64bits(v) != math.Float64bits(before.Functions[k].Weights[j]) {
						t.Fatalf("%s: %d workers give another weight %d of class %d", name, workers, j, k)
					}
				}
			}
		}
	}
}

// Invalid input gives an error that names it. Unusual input gives defined results.
func TestOddInput(t *testing.T) {
	ctx := context.Background()
	root, _ := sparse.ParseEmbedding("tf-l1-sqrt")
	l2, _ := sparse.ParseEmbedding("tf-l2")
	chi, _ := sparse.ParseEmbedding("tf-l1-chi2")
	c := texts(t, 12, 2, 5)
	one := texts(t, 12, 1, 5)
	for name, call := range map[string]struct {
		run  func() error
		want string
	}{
		"one label": {func() error { _, err := Train(ctx, one, root, Settings{}, Options{}); return err },
			"1 classes, expected at least 2"},
		"histogram": {func() error { _, err := Train(ctx, c, chi, Settings{}, Options{}); return err }, "tf-l1-chi2"},
		"C":         {func() error { _, err := Train(ctx, c, l2, Settings{C: -1}, Options{}); return err }, "c=-1"},
		"memory": {func() error { _, err := Train(ctx, c, l2, Settings{}, Options{MemoryBytes: 100}); return err },
			"needs"},
		"prices": {func() error {
			_, err := TrainPath(ctx, c, l2, Settings{}, []float64{1, 1}, Options{})
			return err
		}, "ascend"},
	} {
		if err := call.run(); err == nil || !strings.Contains(err.Error(), call.want) {
			t.Errorf("%s: %v, expected %q", name, err, call.want)
		}
	}
	cancelled, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := Train(cancelled, c, root, Settings{}, Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("%v, expected the end of the context", err)
	}

	// Training works with a class of all documents, a class of none, an empty document, and with
	// separable documents without regularization.
	odd := c.Select([]int{0, 1, 2, 3, 4, 5})
	odd.Classes = append(odd.Classes[:2:2], "all", "none")
	labels := sparse.Labels{}
	for i := range 6 {
		labels.Add(odd.Labels.Of(i)[0], 2)
	}
	odd.Labels = labels
	odd.Documents.Offsets[6] = odd.Documents.Offsets[5]
	odd.Documents.Terms = odd.Documents.Terms[:odd.Documents.Offsets[6]]
	odd.Documents.Values = odd.Documents.Values[:odd.Documents.Offsets[6]]
	for _, s := range []Settings{{}, {C: math.Inf(1)}} {
		s.Scheme = solver.Labels
		for _, e := range []sparse.Embedding{root, l2} {
			m := musttest.Get(Train(ctx, odd, e, s, Options{}))(t)
			p := musttest.Get(m.Predict(ctx, odd.Documents, Options{}))(t)
			for i, f := range p.Decisions {
				if !(f[2] == math.Log(7) && f[3] == -math.Log(7)) || !finite(f[0]) || !finite(f[1]) {
					t.Errorf("C %v, %v, document %d: %v, expected log 7 for what all have", s.C, e, i, f)
				}
			}
		}
	}
}

// With two classes, the second classifier and its probabilities mirror the first.
func TestTwoClasses(t *testing.T) {
	ctx := context.Background()
	c := texts(t, 60, 2, 9)
	m := musttest.Get(Train(ctx, c, sparse.Sphere, Settings{}, Options{}))(t)
	p := musttest.Get(m.Predict(ctx, c.Documents, Options{}))(t)
	for i, f := range p.Decisions {
		if !(math.Abs(f[0]+f[1]) <= 1e-12*math.Abs(f[0])) ||
			!(math.Abs(p.Probabilities[i][0]-probability(f[0])) <= 1e-12) {
			t.Fatalf("decisions %v, probabilities %v", f, p.Probabilities[i])
		}
	}
}

// Weight 3 for a class is equivalent to three copies of its documents, within the gap. Balanced
// classes of the same size have weight 1.
func TestWeights(t *testing.T) {
	ctx := context.Background()
	for _, classes := range []int{2, 3} {
		c := texts(t, 60, classes, 11)
		var thrice []int
		for i := range c.Documents.Rows() {
			if thrice = append(thrice, i); c.Labels.Of(i)[0] == 1 {
				thrice = append(thrice, i, i)
			}
		}
		s := Settings{C: 3, Tolerance: 1e-9}
		train := func(c *corpus.Corpus, weights map[string]float64, balanced bool) *Model {
			s.Weights, s.Balanced = weights, balanced
			m := musttest.Get(Train(ctx, c, sparse.Sphere, s, Options{}))(t)
			return m
		}
		name := c.Classes[1]
		got := train(c, map[string]float64{name: 3}, false).Functions[1]
		want := train(c.Select(thrice), nil, false).Functions[1]
		if !(math.Abs(got.Value-want.Value) <= 1e-8*want.Value) || !(got.Gap <= 1e-9*got.Value) || !got.Converged ||
			!(math.Abs(got.Bias-want.Bias) <= 1e-3) {
			t.Errorf("%d classes: %v, bias %v, gap %v, expected %v, bias %v", classes, got.Value, got.Bias, got.Gap,
				want.Value, want.Bias)
		}
		if plain, even := train(c, nil, false), train(c, nil, true); classes == 2 && !reflect.DeepEqual(plain, even) {
			t.Errorf("balanced classes of the same size: %+v, expected %+v", even.Functions[0], plain.Functions[0])
		}
	}
}
