package gram_test

import (
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/gramengine/gram"
	"github.com/gramengine/gram/engine"
	"github.com/gramengine/gram/engine/kernel"
	"github.com/gramengine/gram/internal/doortest"
	"github.com/gramengine/gram/internal/musttest"
	"github.com/gramengine/gram/sparse"
)

var fewTexts = []string{"red green blue", "red green", "blue red", "salt pepper sugar", "salt sugar", "pepper salt"}

// few are documents of two classes.
func few(t testing.TB) *sparse.Corpus {
	t.Helper()
	labels := []string{"colour", "colour", "colour", "spice", "spice", "spice"}
	return gram.Must(gram.Texts(t.Context(), fewTexts, labels, gram.ReadOptions{MinDF: 1}))
}

// What makes no sense is an error at the door, never a panic or a result.
func TestDoors(t *testing.T) {
	c := few(t)
	numbers := gram.Must(gram.FromMatrix(mat.NewDense(2, 2, []float64{1, 2, 3, 4}), nil))
	m := gram.Must(gram.Train(t.Context(), c, gram.TrainOptions{Kernel: "linear", C: 1}))
	curved := gram.Must(gram.Train(t.Context(), c, gram.TrainOptions{Kernel: "diffusion:t=1", C: 1}))
	text := doortest.Written(t, m.Write)
	one := gram.TrainOptions{Kernel: "linear", C: 1}
	index := func() *gram.Index { return gram.Must(gram.NewIndex(t.Context(), fewTexts, gram.IndexOptions{})) }
	path := filepath.Join(t.TempDir(), "a.index")
	musttest.Do(t, index().Save(path))
	indexed := string(gram.Must(os.ReadFile(path)))
	doortest.Run(t, doortest.Package{
		Good: []any{c, m, one, gram.Must(gram.PCA(t.Context(), c, gram.PCAOptions{})), &gram.Predictions{},
			index, func() *gram.Rows { return gram.NewRows(3) }},
		Bad: []any{numbers, curved, gram.TrainOptions{Type: "nu_svc", Nu: math.NaN()},
			gram.TrainOptions{Type: "epsilon_svr", Epsilon: math.NaN()},
			gram.TrainOptions{Type: "logistic", C: math.NaN()}, gram.TrainOptions{Type: "logistic", Tolerance: math.NaN()},
			gram.TrainOptions{ChooseWork: math.NaN()}},
		Calls: [][]any{
			{gram.Cross, c, c, ""}, {gram.CrossTo, c, c, "", engine.NewDense(6, 6)},
			{gram.GramTo, c, "", &engine.Symmetric{N: 6, Data: make([]float32, 36)}},
			{gram.ReadIndex, func() *strings.Reader { return strings.NewReader(indexed) }, gram.Options{}},
			{gram.CrossValidate, c, gram.ValidateOptions{TrainOptions: one, Folds: 2}},
			{gram.Duplicates}, {gram.FromMatrix, mat.NewDense(2, 1, []float64{1, 2}), []string{"x", "y"}}, {gram.Gram, c, ""},
			{gram.Kernels}, {gram.Load, doortest.File(t, "model", text)},
			{gram.LoadFrom, func() *strings.Reader { return strings.NewReader(text) }},
			{gram.Neighbours}, {gram.NewRows}, {gram.PCA}, {gram.Read, doortest.File(t, "a.tsv", "x\ta b\ny\ta b c\n")},
			{gram.ReadFrom, func() *strings.Reader { return strings.NewReader("x\ta b\ny\ta b\n") }, "a.tsv"},
			{gram.Search, c, gram.SearchOptions{TrainOptions: one, Grid: map[string][]string{"C": {"1", "2"}}, Folds: 2}},
			{gram.SelectTerms, c, 2}, {gram.Spectrum}, {gram.Terms, [][]string{{"a"}, {"b"}}, []string{"x", "y"}},
			{gram.Texts, fewTexts, []string{"x", "x", "x", "y", "y", "y"}, gram.ReadOptions{MinDF: 1}}, {gram.Train},
			{"Model.Save", "a.model"}, {"Model.Explain", 3}, {"Model.ExplainText", "red", 3}, {"Model.ExplainDocument", c, 0, 3},
			{"Model.Evaluate", c, gram.EvaluateOptions{Mistakes: 2, Training: c}},
			{"Model.PredictTexts", fewTexts}, {"Model.Warm"}, {"Model.WithNovelty", c},
			{gram.NewIndex, fewTexts, gram.IndexOptions{}},
			{gram.LoadIndex, doortest.File(t, "index", indexed), gram.Options{}}, {"Index.Save", "a.index"},
			{"Index.Query", fewTexts, gram.IndexQuery{K: 2}}, {"Index.Add", fewTexts}, {"Index.Remove", []int{1}},
			{"Model.PredictTerms", [][]string{{"red"}}}, {"Rows.Add", []uint32{0, 2}, []float64{1, 2}, nil},
		},
		Elsewhere: map[string]string{"Must": "TestDoorsTakeNothing"},
	})
}

// Empty inputs that make sense are no errors.
func TestDoorsTakeNothing(t *testing.T) {
	c := few(t)
	m := gram.Must(gram.Train(t.Context(), c, gram.TrainOptions{Kernel: "linear", C: 1}))
	if p := gram.Must(m.PredictTexts(t.Context(), nil)); p.Label(0) != "" || p.Label(-1) != "" {
		t.Errorf("predictions of nothing: %+v", p)
	}
	if c := gram.NewRows(3).Corpus(); c.Documents.Rows() != 0 {
		t.Errorf("%d documents of none", c.Documents.Rows())
	}
	if len(gram.Kernels()) == 0 || m.About().Support == 0 {
		t.Error("no kernels, or no support vectors")
	}
	path := filepath.Join(t.TempDir(), "a.model")
	musttest.Do(t, errors.Join(m.Save(path), m.Close(), m.Close()))
	if _, err := os.Stat(path); err != nil {
		t.Fatal(err)
	}
	func() {
		defer func() {
			if recover() == nil {
				t.Error("Must of an error: no panic")
			}
		}()
		gram.Must(0, errors.New("own"))
	}()
	called := 0
	tell := func(gram.Progress) { called++ }
	o := gram.Options{Progress: tell, Warn: func(string) { called++ }, Kernels: []kernel.Kernel{nil}}
	gram.Must(gram.Train(t.Context(), c, gram.TrainOptions{Options: o, C: 1}))
	gram.Must(gram.Gram(t.Context(), c, "", o))
	gram.Must(gram.Spectrum(t.Context(), c, gram.SpectrumOptions{Options: o, Centred: true}))
	if called == 0 {
		t.Error("progress was never told")
	}
}
