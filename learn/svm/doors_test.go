package svm

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/gramengine/gram/engine"
	"github.com/gramengine/gram/internal/run"
	"github.com/gramengine/gram/learn/model"
	"github.com/gramengine/gram/solver"
	"github.com/gramengine/gram/sparse"
)

// door is a call with a bad argument and what its error says.
type door struct {
	name, want string
	call       func() error
}

func checkDoors(t *testing.T, doors []door) {
	t.Helper()
	for _, d := range doors {
		t.Run(d.name, func(t *testing.T) {
			if err := d.call(); err == nil || !strings.Contains(err.Error(), d.want) {
				t.Errorf("error %v, expected one with %q", err, d.want)
			}
		})
	}
}

// sixty reads a corpus of 60 documents in three classes.
func sixty(t *testing.T) *sparse.Corpus {
	return read(t, "synthetic:docs=60,terms=100,length=10,classes=3,seed=3", sparse.Options{})
}

// A corpus that was filled by hand is checked before anything is computed from it.
func TestProblemDoors(t *testing.T) {
	problem := func(change func(c *sparse.Corpus), opt Options) func() error {
		return func() error {
			c := *sixty(t)
			docs := *c.Documents
			docs.Offsets, docs.Terms = slices.Clone(docs.Offsets), slices.Clone(docs.Terms)
			docs.Values = slices.Clone(docs.Values)
			c.Documents, c.Classes = &docs, slices.Clone(c.Classes)
			c.Labels = sparse.Labels{Offsets: slices.Clone(c.Labels.Offsets), IDs: slices.Clone(c.Labels.IDs)}
			change(&c)
			_, err := NewProblem(t.Context(), &c, sparse.Sphere, opt)
			return err
		}
	}
	as := func(*sparse.Corpus) {}
	var none context.Context
	checkDoors(t, []door{
		{"offsets", "row 1", problem(func(c *sparse.Corpus) { c.Documents.Offsets[2] = 1 << 40 }, Options{})},
		{"terms in the wrong order", "row 1", problem(func(c *sparse.Corpus) {
			at := c.Documents.Offsets[1]
			c.Documents.Terms[at], c.Documents.Terms[at+1] = c.Documents.Terms[at+1], c.Documents.Terms[at]
		}, Options{})},
		{"columns", "column", problem(func(c *sparse.Corpus) { c.Documents.Cols = 3 }, Options{})},
		{"value", "NaN", problem(func(c *sparse.Corpus) { c.Documents.Values[7] = float32(math.NaN()) }, Options{})},
		{"labels of fewer documents", "labels of 59 documents, expected those of 60", problem(func(c *sparse.Corpus) {
			c.Labels.Offsets = c.Labels.Offsets[:60]
			c.Labels.IDs = c.Labels.IDs[:59]
		}, Options{})},
		{"class", "class 3", problem(func(c *sparse.Corpus) { c.Labels.IDs[4] = 3 }, Options{})},
		{"negative class", "class -1", problem(func(c *sparse.Corpus) { c.Labels.IDs[4] = -1 }, Options{})},
		{"class twice", "two classes of", problem(func(c *sparse.Corpus) { c.Classes[2] = c.Classes[0] }, Options{})},
		{"vocabulary", "a vocabulary of 1 terms",
			problem(func(c *sparse.Corpus) { c.Vocabulary = []string{"one"} }, Options{})},
		{"workers", "-1 workers", problem(as, Options{Workers: -1})},
		{"memory", "MemoryBytes is -1", problem(as, Options{MemoryBytes: -1})},
		{"held", "HeldBytes is -5", problem(as, Options{HeldBytes: -5})},
		{"endlessly held", "HeldBytes is 9223372036854775807",
			problem(as, Options{MemoryBytes: 1 << 30, HeldBytes: math.MaxInt64})},
		{"cache", "CacheBytes is -1", problem(as, Options{CacheBytes: -1})},
		{"context", "a nil context", func() error {
			_, err := NewProblem(none, sixty(t), sparse.Sphere, Options{Progress: func(Progress) {}})
			return err
		}},
		{"embedding", "is unknown", func() error {
			_, err := NewProblem(t.Context(), sixty(t), sparse.Embedding{Weighting: 99}, Options{})
			return err
		}},
	})

	k := engine.MustParseKernel(DefaultKernel)
	p, err := NewProblem(t.Context(), sixty(t), k.Embedding(), Options{Workers: 2})
	if err != nil {
		t.Fatal(err)
	}
	train := func(s Settings) func() error {
		return func() error { _, _, err := p.Train(t.Context(), s); return err }
	}
	search := func(g Grid) func() error {
		return func() error { _, err := p.Search(t.Context(), Settings{}, g, nil); return err }
	}
	checkDoors(t, []door{
		{"type", `type "svm"`, train(Settings{Type: "svm"})},
		{"scheme", "scheme 9 is unknown", train(Settings{Scheme: 9})},
		{"C", "C is NaN", train(Settings{C: math.NaN()})},
		{"nu", "ν is -1", train(Settings{Type: model.NuSVC, Nu: -1})},
		{"nu of one class", "ν is 7", train(Settings{Type: model.OneClass, Nu: 7})},
		{"tolerance", "tolerance NaN", train(Settings{Tolerance: math.NaN()})},
		{"weight", "weight 0 of class", train(Settings{Weights: map[string]float64{sixty(t).Classes[1]: 0}})},
		{"class of a weight", `a weight for class "x"`, train(Settings{Weights: map[string]float64{"x": 1}})},
		{"kernel of another embedding", "embed", train(Settings{Kernel: engine.MustParseKernel("linear")})},
		{"folds", "-1 folds", func() error { _, err := p.CrossValidate(t.Context(), Settings{}, -1, 1); return err }},
		{"nil context", "a nil context", func() error { _, _, err := p.Train(none, Settings{}); return err }},
		{"nil context to validate", "a nil context",
			func() error { _, err := p.CrossValidate(none, Settings{}, 3, 1); return err }},
		{"nil context to search", "a nil context",
			func() error { _, err := p.Search(none, Settings{}, Grid{}, nil); return err }},
		{"nil context to build", "a nil context", func() error { return p.Build(none) }},
		{"nil kernel", "kernel 1 of the grid is nil", search(Grid{Kernels: []engine.Kernel{k, nil}})},
		{"folds of a grid", "-2 folds", search(Grid{Folds: -2})},
		{"C of a grid", "C is -1", search(Grid{C: []float64{1, -1}})},
		{"nu of a grid", "a list of values of nu", search(Grid{Nu: []float64{0.1}})},
		{"combinations", "expected at most 1048576 combinations", func() error {
			_, err := p.Search(
				t.Context(), Settings{Type: model.NuSVR}, Grid{C: make([]float64, 1<<11), Nu: make([]float64, 1<<10)},
				nil,
			)
			return err
		}},
		{"no problem", "no problem for kernels of the embedding", func() error {
			_, err := SearchProblems(
				t.Context(), Settings{}, Grid{}, func(int, sparse.Embedding) (*Problem, error) { return nil, nil }, nil,
			)
			return err
		}},
		{"no function", "no function that makes problems",
			func() error { _, err := SearchProblems(t.Context(), Settings{}, Grid{}, nil, nil); return err }},
		{"search of nothing", "expected at least one", func() error {
			_, err := SearchCorpus(t.Context(), nil, Settings{}, Grid{}, Options{}, nil)
			return err
		}},
	})
}

func TestPredictDoors(t *testing.T) {
	c := sixty(t)
	m, _ := train(t, c, Settings{}, Options{})
	ready := func(m *model.Model, opt PredictOptions) func() error {
		return func() error { _, err := NewPredictor(m, opt); return err }
	}
	spoilt := func(change func(m *model.Model)) func() error {
		own := *m
		own.Classifier.Machines = slices.Clone(m.Classifier.Machines)
		change(&own)
		return ready(&own, PredictOptions{})
	}
	bad := func(change func(docs *sparse.CSR)) func() error {
		return func() error {
			docs := *c.Documents
			docs.Offsets, docs.Terms = slices.Clone(docs.Offsets), slices.Clone(docs.Terms)
			docs.Values = slices.Clone(docs.Values)
			change(&docs)
			for _, opt := range []PredictOptions{{}, {MemoryBytes: 1 << 30}} {
				p, err := NewPredictor(m, opt)
				if err != nil {
					return err
				}
				if out, err := p.Predict(t.Context(), &docs); out != nil || err == nil || opt.MemoryBytes > 0 {
					return err
				}
			}
			return nil
		}
	}
	var none context.Context
	p, err := NewPredictor(m, PredictOptions{})
	if err != nil {
		t.Fatal(err)
	}
	checkDoors(t, []door{
		{"no model", "no model", ready(nil, PredictOptions{})},
		{"empty model", "the model: ", ready(&model.Model{}, PredictOptions{})},
		{"no embedding", "no embedding", spoilt(func(m *model.Model) { m.Embedder = nil })},
		{"no support", "no support vectors", spoilt(func(m *model.Model) { m.Support = nil })},
		{"support", "support vectors: ", spoilt(func(m *model.Model) {
			own := *m.Support
			own.Offsets = slices.Clone(own.Offsets)
			own.Offsets[1] = 1 << 40
			m.Support = &own
		})},
		{"coefficients", "machine 1: ", spoilt(func(m *model.Model) {
			own := *m.Classifier.Machines[1]
			own.Coef = own.Coef[1:]
			m.Classifier.Machines[1] = &own
		})},
		{"machines", "2 machines (one-vs-one) for 3 classes",
			spoilt(func(m *model.Model) { m.Classifier.Machines = m.Classifier.Machines[1:] })},
		{"workers", "-1 workers", ready(m, PredictOptions{Workers: -1})},
		{"memory", "MemoryBytes is -1", ready(m, PredictOptions{MemoryBytes: -1})},
		{"held", "HeldBytes is -1",
			func() error { _, err := p.Holding(-1).Predict(t.Context(), c.Documents); return err }},
		{"instruction set", "avx9", ready(m, PredictOptions{ISA: "avx9"})},
		{"nil context", "a nil context",
			func() error { _, err := NewPredictorContext(none, m, PredictOptions{}); return err }},
		{"nil context to predict", "a nil context",
			func() error { _, err := p.Predict(none, c.Documents); return err }},
		{"no documents", "no documents to predict", func() error { _, err := p.Predict(t.Context(), nil); return err }},
		{"no offsets", "documents to predict: ", bad(func(docs *sparse.CSR) { docs.Offsets = nil })},
		{"offsets", "documents to predict: ", bad(func(docs *sparse.CSR) { docs.Offsets[3] = 1 << 50 })},
		{"terms", "documents to predict: ", bad(func(docs *sparse.CSR) { docs.Terms[1] = docs.Terms[0] })},
		{"term beyond columns", "documents to predict: ", bad(func(docs *sparse.CSR) { docs.Cols = 2 })},
		{"value", "documents to predict: ", bad(func(docs *sparse.CSR) { docs.Values[3] = float32(math.Inf(1)) })},
	})
	q := p.Holding(5)
	if err := errors.Join(p.Close(), p.Close(), q.Close()); err != nil {
		t.Error(err)
	}
	for _, p := range []*Predictor{p, q} {
		if _, err := p.Predict(t.Context(), c.Documents); err == nil ||
			!strings.Contains(err.Error(), "the predictor is closed") {
			t.Errorf("error %v of a predictor that is closed", err)
		}
	}
	d := &slowDevice{}
	if p, err = NewPredictor(m, PredictOptions{Device: newSlowDevice(d)}); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(p.Holding(1).Close(), p.Close()); err != nil || d.closed != 1 {
		t.Errorf("error %v, the device was closed %d times, expected once", err, d.closed)
	}
}

func TestScoreDoors(t *testing.T) {
	c := &sparse.Corpus{
		Source: "truth", Classes: []string{"1", "2"},
		Labels: sparse.Labels{Offsets: []int64{0, 1, 2}, IDs: []int32{0, 1}},
	}
	with := func(l sparse.Labels) *sparse.Corpus { return &sparse.Corpus{Classes: c.Classes, Labels: l} }
	classes := func(names []string, predicted []int, truth *sparse.Corpus) func() error {
		return func() error { _, err := ScoreClasses(names, predicted, truth); return err }
	}
	labels := func(predicted [][]int, truth *sparse.Corpus) func() error {
		return func() error { _, err := ScoreLabels(c.Classes, predicted, truth); return err }
	}
	values := func(values []float64, truth *sparse.Corpus) func() error {
		return func() error { _, err := ScoreValues(values, truth); return err }
	}
	checkDoors(t, []door{
		{"class", "class 2 predicted for document 1", classes(c.Classes, []int{0, 2}, c)},
		{"negative class", "class -2 predicted for document 0", classes(c.Classes, []int{-2, 0}, c)},
		{"class of the truth only", "class 1 predicted for document 1", classes([]string{"1"}, []int{0, 1}, c)},
		{"class twice", `two classes are called "a"`, classes([]string{"a", "a", "b"}, []int{2, 2}, c)},
		{"documents", "predictions for 3 documents, labels of 2", classes(c.Classes, []int{0, 1, 0}, c)},
		{"no truth", "without a corpus", classes(c.Classes, []int{0, 1}, nil)},
		{"offsets", "labels",
			classes(c.Classes, []int{0, 1}, with(sparse.Labels{Offsets: []int64{0, 5, 2}, IDs: []int32{0, 1}}))},
		{"label of the truth", "class 2",
			classes(c.Classes, []int{0, 1}, with(sparse.Labels{Offsets: []int64{0, 1, 2}, IDs: []int32{0, 2}}))},
		{"label", "label 2 predicted for document 0", labels([][]int{{0, 2}, nil}, c)},
		{"negative label", "label -1 predicted for document 0", labels([][]int{{-1}, nil}, c)},
		{"label twice", "label 1 predicted for document 1 behind label 1", labels([][]int{nil, {1, 1}}, c)},
		{"labels without truth", "without a corpus", labels(nil, nil)},
		{"values", "predictions for 1 documents, labels of 2", values([]float64{1}, c)},
		{"values without truth", "without a corpus", values(nil, nil)},
		{"a label that is NaN", `label "NaN"`,
			values([]float64{1, 2}, &sparse.Corpus{Classes: []string{"1", "NaN"}, Labels: c.Labels})},
		{"no model", "without a model", func() error { _, err := (&Prediction{}).Score(nil, c); return err }},
		{"no corpus", "without a model or a corpus",
			func() error { _, err := (&Prediction{}).Score(&model.Model{Type: model.OneClass}, nil); return err }},
	})
	// Two classes of the truth of one name are one.
	s, err := ScoreLabels(
		[]string{"a"}, [][]int{{0}},
		&sparse.Corpus{Classes: []string{"a", "a"}, Labels: sparse.Labels{Offsets: []int64{0, 2}, IDs: []int32{0, 1}}},
	)
	if err != nil || s.Right != 1 || s.Classes[0].Of != 1 {
		t.Errorf("%+v, error %v", s, err)
	}
}

// Whatever a Progress function panics at, the call comes back with that as its error, and what
// comes after goes well.
func TestProgressPanics(t *testing.T) {
	own := errors.New("the caller's own")
	c := sixty(t)
	k := engine.MustParseKernel(DefaultKernel)
	stage, seen := "", map[string]bool{}
	tell := func(p Progress) {
		if seen[p.Stage] = true; p.Stage == stage {
			panic(own)
		}
	}
	check := func(what string, err error) {
		t.Helper()
		if failed := (*run.PanicError)(nil); !errors.As(err, &failed) || !errors.Is(err, own) {
			t.Errorf("%s: error %v, expected a PanicError with the caller's own", what, err)
		}
	}
	for _, stage = range []string{"embedding", "preparing the engine"} {
		p, err := NewProblem(t.Context(), c, k.Embedding(), Options{Progress: tell})
		if check(stage, err); p != nil {
			t.Errorf("%s: there is a problem beside the error", stage)
		}
	}
	stage = ""
	p, err := NewProblem(t.Context(), c, k.Embedding(), Options{Progress: tell, Workers: 2})
	if err != nil {
		t.Fatal(err)
	}
	m, _, err := p.Train(t.Context(), Settings{})
	if err != nil {
		t.Fatal(err)
	}
	q, err := NewPredictor(m, PredictOptions{Progress: tell})
	if err != nil {
		t.Fatal(err)
	}
	for what, call := range map[string]func() error{
		"training":   func() error { _, _, err := p.Train(t.Context(), Settings{C: 3}); return err },
		"validating": func() error { _, err := p.CrossValidate(t.Context(), Settings{}, 3, 1); return err },
		"searching": func() error {
			_, err := p.Search(t.Context(), Settings{}, Grid{C: []float64{1, 2}}, nil)
			return err
		},
		"predicting": func() error { _, err := q.Predict(t.Context(), c.Documents); return err },
	} {
		stage = what
		check(what, call())
		if stage = ""; !seen[what] {
			t.Errorf("%s: nobody was told", what)
		}
		if err := call(); err != nil {
			t.Errorf("%s: error %v afterwards", what, err)
		}
	}
}

// The classes of a corpus that are the same documents have no margin for nu-SVC to divide by.
func TestNoMargin(t *testing.T) {
	c := sixty(t)
	twice := &sparse.Corpus{
		Source: "twins", Documents: c.Documents.SelectRows([]int{0, 0, 1, 1, 2, 2}), Vocabulary: c.Vocabulary,
		Classes: []string{"a", "b"},
	}
	for i := range 6 {
		twice.Labels.Add(int32(i % 2))
	}
	for _, spec := range []string{DefaultKernel, "rbf:gamma=0.1", "linear"} {
		k := engine.MustParseKernel(spec)
		m, _, err := problem(t, twice, k, Options{}).Train(t.Context(), Settings{Type: model.NuSVC, Kernel: k, Nu: 0.6})
		if m != nil || err == nil || !strings.Contains(err.Error(), "the margin of class 0 against 1 is 0") {
			t.Errorf("%s: error %v, expected that there is no margin", spec, err)
		}
	}
	if _, _, err := problem(t, twice, engine.MustParseKernel(DefaultKernel), Options{}).Train(
		t.Context(), Settings{Scheme: solver.OneVsRest},
	); err != nil {
		t.Error(err)
	}
}
