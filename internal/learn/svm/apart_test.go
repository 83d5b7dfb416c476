package svm

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/engine/kernel"
	"github.com/gramengine/gram/internal/learn/model"
	"github.com/gramengine/gram/internal/musttest"
	"github.com/gramengine/gram/sparse"
)

// measured returns vectors of two classes. The first column is a thousand times the second, which
// separates the classes. One vector is an outlier, and only its fold changes the scales.
func measured(t *testing.T) *corpus.Corpus {
	t.Helper()
	r := rand.New(rand.NewPCG(7, 7))
	const n = 60
	c := &corpus.Corpus{Source: "measured", Classes: []string{"1", "2"}}
	var data []float32
	for i := range n {
		class := i % 2
		data = append(data, float32(1000*r.NormFloat64()), float32(2*class)+float32(r.NormFloat64()),
			float32(r.IntN(2)))
		c.Labels.Add(int32(class))
	}
	data[0], data[1] = 9e5, -300
	c.Documents = musttest.Get(sparse.FromDense(n, 3, data))(t)
	return c
}

// Each fold is predicted as by a model trained on the other folds.
func TestScalesAreThoseOfTheOtherFolds(t *testing.T) {
	c := measured(t)
	for _, spec := range []string{"rbf:gamma=0.5,embed=standard", "linear:embed=scale-1..1"} {
		for _, typ := range []model.Type{model.CSVC, model.EpsilonSVR} {
			s := Settings{Type: typ, Kernel: kernel.MustParse(spec), C: 10, Tolerance: 1e-6}
			p := musttest.Get(NewProblem(t.Context(), c, s.Kernel.Embedding(), Options{}))(t)
			v := crossValidate(t, p, s, 4, 3)
			if v.DotProducts == 0 || v.Elapsed == 0 {
				t.Errorf("%s: %d dot products in %v", spec, v.DotProducts, v.Elapsed)
			}
			for fold := range 4 {
				var train, test []int
				for doc, part := range v.Fold {
					if part == fold {
						test = append(test, doc)
					} else {
						train = append(train, doc)
					}
				}
				own := musttest.Get(NewProblem(t.Context(), c.Select(train), s.Kernel.Embedding(), Options{}))(t)
				m, _, err := own.Train(t.Context(), s)
				musttest.NoError(t, err)
				predictor := musttest.Get(NewPredictor(t.Context(), m, Options{}))(t)
				found := musttest.Get(predictor.Predict(t.Context(), c.Select(test).Documents))(t)
				tol := func(int) float64 { return 1e-4 } // both are within the tolerance of one optimum
				if w := predictor.Weights(); w != nil {  // and kernel values of the validation are float32's
					support := musttest.Get(m.Embedder.Transform(m.Support))(t)
					x := musttest.Get(m.Embedder.Transform(c.Select(test).Documents))(t)
					size := 0.0
					for at, s := range m.Classifier.Functions[0].Support {
						size += abs(m.Classifier.Functions[0].Coef[at]) * support.Norms[s]
					}
					tol = func(i int) float64 { return 1e-4 + 1e-6*size*x.Norms[i] }
				}
				for i, doc := range test {
					if v.Class != nil && v.Class[doc] != found.ClassIndices[i] {
						t.Errorf("%s: document %d is of class %d, expected %d", spec, doc, v.Class[doc], found.ClassIndices[i])
					}
					if v.Value != nil && !(abs(v.Value[doc]-found.Values[i]) <= tol(i)) {
						t.Errorf("%s: document %d has the value %v, expected %v", spec, doc, v.Value[doc], found.Values[i])
					}
				}
			}
		}
	}
}

func abs(v float64) float64 { return max(v, -v) }

// A search divided into tasks gives the same results. Each group is in one fold.
func TestScaledSearchInTasks(t *testing.T) {
	c := measured(t)
	s := Settings{Type: model.CSVC}
	var kernels []kernel.Kernel
	for _, gamma := range []float64{0.1, 0.5} {
		kernels = append(kernels, kernel.MustParse(fmt.Sprintf("rbf:gamma=%v,embed=standard", gamma)))
	}
	g := Grid{Kernels: kernels, C: []float64{1, 10}, Folds: 3, Seed: 5}
	for i := range c.Documents.Rows() {
		c.Groups = append(c.Groups, int64(i/2))
	}
	p := musttest.Get(NewProblem(t.Context(), c, kernels[0].Embedding(), Options{}))(t)
	want := musttest.Get(p.Search(t.Context(), s, g, nil))(t)
	tasks := tasksOf(t, s, g, func(int, sparse.Embedding) int { return p.TermCount() })
	got := musttest.Get(assembled(t, s, g, func(int, sparse.Embedding) (*Problem, error) { return p, nil },
		func(task int) (*TaskOutcome, error) { return tasks.Run(t.Context(), p, task) }))(t)
	for i := range want.Points {
		if !reflect.DeepEqual(comparable(&got.Points[i]), comparable(&want.Points[i])) {
			t.Errorf("point %d is %+v, expected %+v", i, got.Points[i], want.Points[i])
		}
	}
}
