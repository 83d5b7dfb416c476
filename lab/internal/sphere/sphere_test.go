package sphere

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/internal/learn/archive/archivetest"
	"github.com/gramengine/gram/internal/learn/lbfgs"
	"github.com/gramengine/gram/internal/learn/task"
	"github.com/gramengine/gram/internal/musttest"
	"github.com/gramengine/gram/internal/run"
	"github.com/gramengine/gram/solver"
	"github.com/gramengine/gram/sparse"
)

func texts(t testing.TB, n, classes int, seed uint64) *corpus.Corpus {
	t.Helper()
	source := fmt.Sprintf("synthetic:docs=%d,terms=100,length=15,classes=%d,seed=%d", n, classes, seed)
	return musttest.Get(corpus.Read(context.Background(), source, corpus.Options{}))(t)
}

func problem(t testing.TB, c *corpus.Corpus) *Problem {
	t.Helper()
	x := musttest.Get(sparse.SphereEmbedding.Fit(c.Documents).Transform(c.Documents))(t)
	return musttest.Get(NewProblem(x, run.Range(0, x.Rows())))(t)
}

func of(c *corpus.Corpus, k int32) []bool {
	return musttest.MakeSlice(c.Documents.Rows(), func(i int) bool { return c.Labels.Classes(i)[0] == k })
}

// A binary classifier depends only on its own C, not on smaller values of C trained before.
func TestEachPriceAlone(t *testing.T) {
	c := texts(t, 60, 3, 2)
	p := problem(t, c)
	cValues := []float64{1e-3, 0.1, 10}
	all := musttest.Get(p.Train(t.Context(), of(c, 1), cValues, Settings{}, 1))(t)
	for i, price := range cValues {
		one := musttest.Get(p.Train(t.Context(), of(c, 1), []float64{price}, Settings{}, 1))(t)
		if !reflect.DeepEqual(all[i], one[0]) {
			t.Errorf("C = %v: θ is %v in a list and %v alone", price, all[i].Theta, one[0].Theta)
		}
	}
}

// The gradients of both objectives agree with finite differences at random points, even if
// coordinates of the nearest point are 0.
func TestObjectiveGradient(t *testing.T) {
	few, r := corpus.Corpus{}, rand.New(rand.NewPCG(5, 6))
	var rows []float32
	for i := range 30 {
		x, _ := draw(r, 5)
		rows = append(rows, x...)
		few.Labels.Add(int32(i % 2))
	}
	few.Documents = musttest.Get(sparse.FromDense(30, 5, rows))(t)
	for name, c := range map[string]*corpus.Corpus{"texts": texts(t, 40, 2, 1), "few terms": &few} {
		for _, cValues := range [][2]float64{{}, {0.5, 3}} {
			o := newObjective(problem(t, c), task.BinaryProblem{Positive: of(c, 0), Weights: cValues, Workers: 1})
			o.c = 3
			n := len(o.Terms)
			w, g, none := make([]float64, n), make([]float64, n), make([]float64, n)
			for j := range w {
				w[j] = r.NormFloat64()
			}
			for margin, value := range map[string]lbfgs.Function{"spherical": o.value, "euclidean": o.euclidean} {
				_ = musttest.Get(value(t.Context(), w, g))(t)
				far := 0
				for j := range w {
					const step = 1e-6
					at := func(d float64) float64 {
						w[j] += d
						v := musttest.Get(value(t.Context(), w, none))(t)
						w[j] -= d
						return v
					}
					want := (at(step) - at(-step)) / (2 * step)
					if !(math.Abs(want-g[j]) <= 1e-6*max(1, math.Abs(want))) {
						far++
						t.Logf("%s, %v, %s, variable %d: %v, expected %v", name, cValues, margin, j, g[j], want)
					}
				}
				if far > 1 { // a step may contain a kink
					t.Errorf("%s, %v, %s: %d of %d derivatives are wrong", name, cValues, margin, far, n)
				}
			}
		}
	}
}

// Models have the same bits for any number of workers, and the last model of a path equals a model
// trained with the last C alone.
func TestSameFromAnyNumberOfWorkers(t *testing.T) {
	c := texts(t, 2000, 3, 4)
	s := Settings{Tolerance: 1e-2, Weights: map[string]float64{c.Classes[1]: 2}}
	var before *Model
	for _, workers := range []int{1, 2, 7} {
		m := musttest.Get(TrainPath(t.Context(), c, sparse.SphereEmbedding, s, []float64{0.1, 1},
			Options{Workers: workers}))(t)[1]
		p := musttest.Get(m.Predict(t.Context(), c.Documents, Options{Workers: workers}))(t)
		right := 0
		for i, k := range p.ClassIndices {
			if int32(k) == c.Labels.Classes(i)[0] {
				right++
			}
		}
		if right < 1400 {
			t.Errorf("%d of 2000 right", right)
		}
		if before == nil {
			before = m
			s := s
			s.C = 1
			alone := musttest.Get(Train(t.Context(), c, sparse.SphereEmbedding, s, Options{}))(t)
			for k, a := range alone.Classifiers {
				if b := m.Classifiers[k].Objective; !(math.Abs(a.Objective-b) <= 1e-2*a.Objective) {
					t.Errorf("objective %v at the end of a path, %v alone", b, a.Objective)
				}
			}
			continue
		}
		for k, a := range m.Classifiers {
			if !slices.Equal(a.Weights, before.Classifiers[k].Weights) {
				t.Fatalf("%d workers give other weights of class %d", workers, k)
			}
		}
	}
}

// Invalid training data give an error that names the problem. Unusual data have defined results.
func TestOddInput(t *testing.T) {
	l2 := musttest.Get(sparse.ParseEmbedding("tf-l2"))(t)
	chi := musttest.Get(sparse.ParseEmbedding("tf-l1-chi2"))(t)
	c := texts(t, 12, 2, 5)
	one := texts(t, 12, 1, 5)
	signed := &corpus.Corpus{Source: "signed", Classes: []string{"a", "b"}, Documents: &sparse.CSR{
		Cols: 2, Offsets: []int64{0, 1, 2}, Terms: []uint32{0, 1}, Values: []float32{-1, 1},
	}}
	signed.Labels.Add(0)
	signed.Labels.Add(1)
	train := func(c *corpus.Corpus, e sparse.Embedding, s Settings, o Options) error {
		_, err := Train(t.Context(), c, e, s, o)
		return err
	}
	positive := *signed
	positive.Documents = &sparse.CSR{Cols: 2, Offsets: []int64{0, 1, 2}, Terms: []uint32{0, 1}, Values: []float32{1, 1}}
	m := musttest.Get(Train(t.Context(), &positive, l2, Settings{}, Options{}))(t)
	_, negative := m.Predict(t.Context(), signed.Documents, Options{})
	for want, err := range map[string]error{
		"1 classes, but at least 2 are required": train(one, sparse.SphereEmbedding, Settings{},
			Options{}),
		"value must be nonnegative": train(signed, l2, Settings{}, Options{}),
		"row 0, term 0: value must be nonnegative in embedding tf-l2 to lie": negative,
		"tf-l1-chi2":                         train(c, chi, Settings{}, Options{}),
		"c must be a number above 0, got -1": train(c, l2, Settings{C: -1}, Options{}),
		"needs":                              train(c, l2, Settings{}, Options{MemoryBytes: 100}),
	} {
		musttest.WantError(err)(t, "invalid input", want)
	}
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	musttest.WantError(Train(cancelled, c, sparse.SphereEmbedding, Settings{}, Options{}))(t,
		"after the end of the context", context.Canceled)

	// A class with all documents and a class without documents; a document without terms; separable
	// documents without regularisation.
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
	for _, price := range []float64{10, math.Inf(1)} {
		m := musttest.Get(Train(t.Context(), odd, sparse.SphereEmbedding, Settings{C: price, Scheme: solver.MultiLabel},
			Options{}))(t)
		p := musttest.Get(m.Predict(t.Context(), odd.Documents, Options{}))(t)
		for i, f := range p.DecisionValues {
			if f[2] != math.Log(7) || f[3] != -math.Log(7) || f[0]-f[0] != 0 || f[1]-f[1] != 0 {
				t.Errorf("C %v, document %d: %v, expected log 7 for what all have", price, i, f)
			}
		}
	}
}

// With two classes, the second classifier is the negative of the first.
func TestTwoClasses(t *testing.T) {
	c := texts(t, 60, 2, 9)
	m := musttest.Get(Train(t.Context(), c, sparse.SphereEmbedding, Settings{}, Options{}))(t)
	p := musttest.Get(m.Predict(t.Context(), c.Documents, Options{}))(t)
	for _, f := range p.DecisionValues {
		if f[0] != -f[1] {
			t.Fatalf("decisions %v", f)
		}
	}
}

func trained(t testing.TB, s Settings, embedding string) *Model {
	t.Helper()
	e := musttest.Get(sparse.ParseEmbedding(embedding))(t)
	return musttest.Get(Train(context.Background(), texts(t, 20, 3, 7), e, s, Options{}))(t)
}

func TestModelFile(t *testing.T) {
	for _, s := range []Settings{{}, {C: math.Inf(1)}} {
		archivetest.Check(t, Format, trained(t, s, "tf-l1-sqrt"), trained(t, s, "tfidf-l2"))
	}
}

func FuzzRead(f *testing.F) {
	archivetest.Fuzz(f, Format, func(t *testing.T, m *Model) {
		if _, err := m.Predict(t.Context(), &sparse.CSR{Offsets: []int64{0, 0}}, Options{}); err != nil {
			t.Log(err)
		}
	}, trained(f, Settings{}, "tfidf-l1-sqrt"))
}
