package svm

import (
	"context"
	"fmt"
	"math"
	"testing"

	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/engine/kernel"
	"github.com/gramengine/gram/internal/learn/model"
	"github.com/gramengine/gram/internal/musttest"
	"github.com/gramengine/gram/solver"
	"github.com/gramengine/gram/sparse"
)

// dense returns the kernel matrix of a corpus, in corpus order (not the problem's), computed in
// float64 by definition.
func dense(t *testing.T, c *corpus.Corpus, k kernel.Kernel) *solver.Dense {
	t.Helper()
	x := musttest.Get(k.Embedding().Fit(c.Documents).Transform(c.Documents))(t)
	k = kernel.Resolve(k, len(x.Embedder.Terms))
	n := x.Rows()
	data := make([]float32, n*n)
	for i, row := range distances(x, x) {
		for j := range i + 1 {
			v := float32(k.Eval(row[j], x.Norms[i], x.Norms[j]))
			if i == j {
				v = float32(k.Eval(0, x.Norms[i], x.Norms[i]))
			}
			data[i*n+j], data[j*n+i] = v, v
		}
	}
	return musttest.Get(solver.NewDense(n, data))(t)
}

// learnt returns the binary classifiers that package solver trains on the same corpus.
func learnt(t *testing.T, c *corpus.Corpus, m *solver.Dense, s Settings) []*solver.DecisionFunction {
	t.Helper()
	n := m.Len()
	single, sets, targets := make([]int, n), make([][]int, n), make([]float64, n)
	for i := range n {
		single[i], sets[i] = -1, []int{}
		for _, id := range c.Labels.Classes(i) {
			single[i] = int(id)
			sets[i] = append(sets[i], int(id))
			_, _ = fmt.Sscan(c.Classes[id], &targets[i])
		}
	}
	ctx := context.Background()
	par := solver.Parameters{Regularization: solver.Regularization{C: s.C, Nu: s.Nu, Epsilon: s.Epsilon},
		Probabilities: s.Probabilities, Seed: s.Seed}
	if s.Weights != nil {
		for _, name := range c.Classes {
			w, ok := s.Weights[name]
			if !ok {
				w = 1
			}
			par.Weights = append(par.Weights, w)
		}
	}
	training := solver.Training{Classes: len(c.Classes), Scheme: s.Scheme, Parameters: par}
	switch {
	case s.Type == model.EpsilonSVR, s.Type == model.NuSVR:
		training.Targets = targets
	case s.Scheme == solver.MultiLabel:
		training.LabelSets = sets
	default:
		training.Labels, training.OneClass = single, s.Type == model.OneClass
	}
	if training.OneClass {
		training.Labels = make([]int, n)
	}
	return musttest.Get(solver.Train(ctx, m, training, solver.Options{Tolerance: s.Tolerance}))(t).Functions
}

// numbered labels each document with its number of terms. several adds a second label to some
// documents and removes the label of some documents.
func numbered(c *corpus.Corpus) *corpus.Corpus {
	out := &corpus.Corpus{Source: "numbered", Documents: c.Documents, Vocabulary: c.Vocabulary}
	at := map[string]int32{}
	for i := range c.Documents.Rows() {
		terms, _ := c.Documents.Row(i)
		name := fmt.Sprintf("%.1f", float64(len(terms))/10)
		id, ok := at[name]
		if !ok {
			id = int32(len(out.Classes))
			at[name] = id
			out.Classes = append(out.Classes, name)
		}
		out.Labels.Add(id)
	}
	return out
}

func several(c *corpus.Corpus) *corpus.Corpus {
	out := *c
	out.Labels = sparse.Labels{}
	for i := range c.Documents.Rows() {
		id := c.Labels.Classes(i)[0]
		switch {
		case i%7 == 3:
			out.Labels.Add()
		case i%5 == 2:
			out.Labels.Add(id, (id+1)%int32(len(c.Classes)))
		default:
			out.Labels.Add(id)
		}
	}
	return &out
}

// The test compares every type and scheme with package solver on a float64 matrix in another
// document order. Both training runs stop at a violation of 10⁻⁵ on matrices that differ by at most
// 10⁻⁵ per value, so objectives agree to about 10⁻⁴ of the sum of their coefficients. The test
// allows 10⁻⁴ of the objective, and 5·10⁻³ for decision values.
func TestTrainEveryType(t *testing.T) {
	docs := read(t, "synthetic:docs=420,terms=600,length=25,classes=3,seed=5", corpus.Options{})
	cases := map[string]struct {
		c *corpus.Corpus
		s Settings
	}{
		"c_svc":           {docs, Settings{C: 10}},
		"c_svc/rest":      {docs, Settings{C: 10, Scheme: solver.OneVsRest}},
		"c_svc/weights":   {docs, Settings{C: 0.02, Weights: map[string]float64{docs.Classes[1]: 0.3}}},
		"c_svc/labels":    {several(docs), Settings{C: 10, Scheme: solver.MultiLabel}},
		"c_svc/sigmoids":  {docs, Settings{C: 10, Probabilities: true, Seed: 3}},
		"nu_svc":          {docs, Settings{Type: model.NuSVC, Nu: 0.3}},
		"one_class":       {docs, Settings{Type: model.OneClass, Nu: 0.2}},
		"epsilon_svr":     {numbered(docs), Settings{Type: model.EpsilonSVR, C: 10, Epsilon: 0.05}},
		"nu_svr":          {numbered(docs), Settings{Type: model.NuSVR, C: 10, Nu: 0.4}},
		"c_svc/geodesic":  {docs, Settings{C: 1, Kernel: kernel.MustParse("ngd")}},
		"c_svc/raw-terms": {docs, Settings{C: 1, Kernel: kernel.MustParse("linear")}},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			s := test.s
			if s.Kernel == nil {
				s.Kernel = kernel.MustParse(DefaultKernel)
			}
			s.Tolerance = 1e-5
			m, report := train(t, test.c, s, Options{})
			matrix := dense(t, test.c, s.Kernel)
			want := learnt(t, test.c, matrix, s)
			if len(want) != len(m.Classifier.Functions) {
				t.Fatalf("%d machines, expected %d", len(m.Classifier.Functions), len(want))
			}
			got := predict(t, m, test.c.Documents, Options{})
			var sum float64
			for j, machine := range want {
				within(t, fmt.Sprintf("objective of machine %d", j), m.Classifier.Functions[j].Objective,
					machine.Objective, 1e-4*math.Abs(machine.Objective)+1e-9)
				sum += machine.Objective
				if s.Probabilities {
					// folds depend on document order, so only the direction is the same
					if sigmoid := m.Classifier.Functions[j].Sigmoid; sigmoid == nil || !(sigmoid.A < 0) {
						t.Errorf("machine %d has the sigmoid %v, want one that rises with the decision value", j,
							sigmoid)
					}
				}
				for i := range matrix.Len() {
					scale, want := 1.0, -machine.Rho
					for k, v := range machine.Coef {
						scale = max(scale, math.Abs(v))
						want += v * float64(matrix.Row(i)[machine.Support[k]])
					}
					within(t, fmt.Sprintf("document %d, machine %d", i, j), got.DecisionValues[i][j], want, 5e-3*scale)
				}
			}
			within(t, "the sum of the objectives", report.Objective, sum, 1e-4*math.Abs(sum)+1e-9)
			if report.Unfinished != 0 || !(report.Gap <= s.Tolerance) {
				t.Errorf("%d machines unfinished, gap %v", report.Unfinished, report.Gap)
			}
			if s.Probabilities {
				for i, p := range got.Probabilities {
					var sum float64
					for _, v := range p {
						sum += v
					}
					within(t, fmt.Sprintf("the sum of the probabilities of document %d", i), sum, 1, 1e-9)
				}
			} else if got.Probabilities != nil {
				t.Error("probabilities without sigmoids")
			}
		})
	}
}

// Invalid training runs fail with the expected messages.
func TestTrainRefuses(t *testing.T) {
	docs := read(t, "synthetic:docs=60,terms=100,length=10,classes=2,seed=6", corpus.Options{})
	one := docs.Select([]int{0, 2, 4}) // classes take turns
	cases := map[string]struct {
		c *corpus.Corpus
		s Settings
	}{
		"class \"nobody\" has a weight": {docs, Settings{Weights: map[string]float64{"nobody": 2}}},
		`requires scheme "labels"`:      {several(docs), Settings{}},
		"at least two classes, got 1":   {one, Settings{}},
		"requires finite numbers": {withClasses(docs, "low", "high"),
			Settings{Type: model.EpsilonSVR}},
		"at most 1, got 2":  {docs, Settings{Type: model.NuSVC, Nu: 2}},
		"at most 1, got -1": {docs, Settings{Type: model.NuSVC, Nu: -1}},
		"at most 1, got 7":  {docs, Settings{Type: model.OneClass, Nu: 7}},
		"weight of class 1 must be positive and finite, got 0": {docs,
			Settings{Weights: map[string]float64{docs.Classes[1]: 0}}},
		"c must be a number above 0": {docs, Settings{C: -1}},
		"needs documents embedded":   {docs, Settings{Kernel: kernel.MustParse("linear")}},
	}
	for want, test := range cases {
		t.Run(want, func(t *testing.T) {
			p := problem(t, test.c, kernel.MustParse(DefaultKernel), Options{})
			musttest.WantError(p.Train(t.Context(), test.s))(t, "Train", want)
		})
	}
}

// withClasses renames the classes of a corpus.
func withClasses(c *corpus.Corpus, names ...string) *corpus.Corpus {
	out := *c
	out.Classes = names
	return &out
}
