package svm_test

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/engine"
	"github.com/gramengine/gram/engine/kernel"
	"github.com/gramengine/gram/internal/learn/model"
	"github.com/gramengine/gram/internal/learn/svm"
	"github.com/gramengine/gram/internal/musttest"
	"github.com/gramengine/gram/solver"
	"github.com/gramengine/gram/sparse"
)

// precomputed is a corpus in two parts, with the square matrix and the cross matrix of a kernel.
type precomputed struct {
	train, test *corpus.Corpus
	matrix      *corpus.Corpus // rows of the square matrix
	cross       *sparse.CSR
}

func newPrecomputed(t *testing.T, k kernel.Kernel) *precomputed {
	t.Helper()
	ctx := context.Background()
	c := musttest.Get(corpus.Read(ctx, "synthetic:docs=240,terms=700,length=25,classes=3,seed=5", corpus.Options{}))(t)
	var docs, held []int
	for i := range c.Documents.Rows() {
		if i%4 == 3 {
			held = append(held, i)
		} else {
			docs = append(docs, i)
		}
	}
	p := &precomputed{train: c.Select(docs), test: c.Select(held)}
	embedder := k.Embedding().Fit(p.train.Documents)
	x := musttest.Get(embedder.Transform(p.train.Documents))(t)
	y := musttest.Get(embedder.Transform(p.test.Documents))(t)
	e := musttest.Get(engine.New(x, engine.Options{}))(t)
	square := musttest.Get(e.Gram(ctx, k, nil))(t)
	cross := musttest.Get(e.Rows(ctx, k, engine.Request{TestDocuments: y}, nil))(t)
	own := *p.train
	own.Vocabulary = nil
	own.Documents = musttest.Get(sparse.FromDense(square.N, square.N, square.Data))(t)
	p.cross = musttest.Get(sparse.FromDense(cross.Rows, cross.Cols, cross.Data))(t)
	p.matrix = &own
	return p
}

// Training on a kernel matrix gives the same binary classifiers bit for bit as training on
// documents, also through both file formats. Predictions agree within the error of kernel values,
// because the predictor of documents has an engine of only the support vectors, which rounds
// differently.
func TestPrecomputed(t *testing.T) {
	ctx := context.Background()
	for _, spec := range []string{"diffusion:t=0.5", "linear:embed=tfidf-l2"} {
		k := kernel.MustParse(spec)
		p := newPrecomputed(t, k)
		tolerance := 0.0 // tolerance of a kernel value
		for c := range 100 {
			tolerance = max(tolerance, kernel.Tolerance(k, float64(c)/100, 1, 1))
		}
		documents := musttest.Get(svm.NewProblem(ctx, p.train, k.Embedding(), svm.Options{SingleUse: true}))(t)
		matrix := musttest.Get(svm.NewPrecomputed(ctx, p.matrix, svm.Options{MemoryBytes: 256 << 20}))(t)
		for _, s := range []svm.Settings{
			{C: 10}, {C: 1, Scheme: solver.OneVsRest}, {C: 1, Probabilities: true, Seed: 7}, {Type: model.NuSVC, Nu: 0.2},
			{Type: model.OneClass, Nu: 0.3},
		} {
			t.Run(fmt.Sprintf("%s/%s/%s/b=%t", spec, s.Type, s.Scheme, s.Probabilities), func(t *testing.T) {
				own := s
				own.Kernel = k
				want, _, err := documents.Train(ctx, own)
				musttest.NoError(t, err)
				got, report, err := matrix.Train(ctx, s)
				musttest.NoError(t, err)
				if len(report.Warnings) > 0 {
					t.Errorf("warnings %q", report.Warnings)
				}
				if !reflect.DeepEqual(got.Classifier, want.Classifier) {
					t.Fatal("other machines than from the documents")
				}
				if got.Kernel != model.Precomputed || !reflect.DeepEqual(got.SupportDocs, want.SupportDocs) {
					t.Fatalf("kernel %s of support vectors %v, expected %v", got.Kernel, got.SupportDocs, want.SupportDocs)
				}
				found := predictions(t, got, p.cross)
				near(t, "from the documents", found, predictions(t, want, p.test.Documents), func(machine int) float64 {
					sum := 0.0
					for _, c := range want.Classifier.Functions[machine].Coef {
						sum += math.Abs(c)
					}
					return 2 * sum * tolerance
				})
				if again := predictions(t, reread(t, got, false), p.cross); !reflect.DeepEqual(again, found) {
					t.Error("other predictions from the model's file")
				}
				if s.Scheme == solver.OneVsOne { // LIBSVM's format sorts support vectors differently, and so changes sums
					near(t, "through LIBSVM's form", predictions(t, reread(t, got, true), p.cross), found,
						func(int) float64 { return 1e-12 })
				}
			})
		}
	}
}

// near checks that decision values agree within a tolerance for each binary classifier.
func near(t *testing.T, what string, got, want *model.Prediction, tolerance func(machine int) float64) {
	t.Helper()
	for i, row := range got.DecisionValues {
		for j, v := range row {
			if w := want.DecisionValues[i][j]; !(math.Abs(v-w) <= tolerance(j)) {
				t.Fatalf("%s: decision %d of document %d is %v, expected %v", what, j, i, v, w)
			}
		}
	}
}

func predictions(t *testing.T, m *model.Model, docs *sparse.CSR) *model.Prediction {
	t.Helper()
	p := musttest.Get(svm.NewPredictor(t.Context(), m, svm.Options{MemoryBytes: 64 << 20}))(t)
	return musttest.Get(p.Predict(context.Background(), docs))(t)
}

// reread writes a model and reads it.
func reread(t *testing.T, m *model.Model, libsvm bool) *model.Model {
	t.Helper()
	if !libsvm {
		return musttest.Get(model.Read(t.Context(), strings.NewReader(musttest.Output(t, m.Write))))(t)
	}
	var b bytes.Buffer
	musttest.Get(m.WriteLIBSVM(t.Context(), &b, false))(t)
	return musttest.Get(model.ReadLIBSVM(t.Context(), &b, "m.libsvm"))(t)
}

// Validations and searches on the matrix equal validations and searches on the documents.
func TestPrecomputedFolds(t *testing.T) {
	ctx := context.Background()
	k := kernel.MustParse("diffusion:t=0.5")
	p := newPrecomputed(t, k)
	documents := musttest.Get(svm.NewProblem(ctx, p.train, k.Embedding(), svm.Options{}))(t)
	matrix := musttest.Get(svm.NewPrecomputed(ctx, p.matrix, svm.Options{}))(t)
	want := musttest.Get(documents.Search(ctx, svm.Settings{Kernel: k, C: 3}, svm.Grid{Folds: 4}, nil))(t).Points[0]
	got := musttest.Get(matrix.Search(ctx, svm.Settings{C: 3}, svm.Grid{Folds: 4}, nil))(t).Points[0]
	if !reflect.DeepEqual(got.Score.Confusion, want.Score.Confusion) || !slices.Equal(got.FoldValues, want.FoldValues) {
		t.Error("other predictions than from the documents")
	}
	grid := svm.Grid{C: []float64{1, 10}, Folds: 3}
	found := musttest.Get(matrix.Search(ctx, svm.Settings{}, grid, nil))(t)
	from := musttest.Get(documents.Search(ctx, svm.Settings{Kernel: k}, grid, nil))(t)
	for i := range from.Points {
		if !reflect.DeepEqual(found.Points[i].FoldValues, from.Points[i].FoldValues) {
			t.Errorf("figures %v, expected %v", found.Points[i].FoldValues, from.Points[i].FoldValues)
		}
	}
}

func TestPrecomputedErrors(t *testing.T) {
	ctx := context.Background()
	docs := func(n, cols int, data ...float32) *corpus.Corpus {
		m := musttest.Get(sparse.FromDense(n, cols, data))(t)
		c := &corpus.Corpus{Source: "K", Documents: m, Classes: []string{"a", "b"}}
		for i := range n {
			c.Labels.Add(int32(i % 2))
		}
		return c
	}
	for want, c := range map[string]*corpus.Corpus{
		"2 rows and 3 columns":                                docs(2, 3, 1, 0, 0, 0, 1, 0),
		"0.25 in row 1, column 2, but 0.5 in row 2, column 1": docs(2, 2, 1, 0.25, 0.5, 1),
	} {
		musttest.WantError(svm.NewPrecomputed(ctx, c, svm.Options{}))(t, "a wrong matrix", want)
	}
	good := docs(2, 2, 1, 0.25, 0.25, 1)
	musttest.WantError(svm.NewPrecomputed(ctx, good, svm.Options{MemoryBytes: 100}))(t, "a matrix in 100 bytes")
	p := musttest.Get(svm.NewPrecomputed(ctx, good, svm.Options{}))(t)
	m, _, err := p.Train(ctx, svm.Settings{})
	musttest.NoError(t, err)
	predictor := musttest.Get(svm.NewPredictor(t.Context(), m, svm.Options{}))(t)
	musttest.WantError(predictor.Predict(ctx, docs(1, 3, 1, 1, 1).Documents))(t,
		"a row of 3 values", "rows must have 2 kernel values, one per training document, got 3")
}

// A model with a user-defined kernel can predict only if the program provides the kernel.
func TestOwnKernel(t *testing.T) {
	ctx := context.Background()
	own := func(name string) kernel.Kernel {
		return musttest.Get(kernel.New(kernel.Custom{Name: name, Embedding: sparse.SphereEmbedding,
			Eval:       func(c, _, _ float64) float64 { return 1 / (1 + 2*c) },
			Properties: kernel.Properties{Definiteness: kernel.PositiveDefinite}}))(t)
	}
	student := own("student-1")
	p := newPrecomputed(t, student)
	problem := musttest.Get(svm.NewProblem(ctx, p.train, student.Embedding(), svm.Options{}))(t)
	m, _, err := problem.Train(ctx, svm.Settings{Kernel: student})
	musttest.NoError(t, err)
	m = reread(t, m, false)
	_, err = svm.NewPredictor(t.Context(), m, svm.Options{Kernels: []kernel.Kernel{own("student-2")}})
	if err == nil || !strings.Contains(err.Error(), `"student-1"`) || !strings.Contains(err.Error(), "Kernels") {
		t.Errorf("without the kernel: %v", err)
	}
	predictor := musttest.Get(svm.NewPredictor(t.Context(), m, svm.Options{
		Kernels: []kernel.Kernel{own("student-2"), own("student-1")}}))(t)
	musttest.Get(predictor.Predict(ctx, p.test.Documents))(t)
	for _, name := range []string{"linear", "diffusion : t=3", "precomputed"} {
		eval := func(c, _, _ float64) float64 { return c }
		musttest.WantError(kernel.New(kernel.Custom{Name: name, Eval: eval}))(t, "a user-defined kernel called "+name)
	}
}
