package gram_test

import (
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gramengine/gram"
	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/engine"
	"github.com/gramengine/gram/engine/kernel"
	"github.com/gramengine/gram/internal/musttest"
	"github.com/gramengine/gram/sparse"
	"gonum.org/v1/gonum/mat"
)

var fewTexts = []string{"red green blue", "red green", "blue red", "salt pepper sugar", "salt sugar", "pepper salt"}

// few are documents of two classes.
func few(t testing.TB) *corpus.Corpus {
	t.Helper()
	labels := []string{"colour", "colour", "colour", "spice", "spice", "spice"}
	return gram.Must(gram.Texts(t.Context(), fewTexts, labels, gram.ReadOptions{MinDF: 1}))
}

// Empty inputs are valid where a result of nothing makes sense.
func TestEmptyArguments(t *testing.T) {
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
	o := gram.Options{Progress: tell, Warn: func(string) { called++ }}
	gram.Must(gram.Train(t.Context(), c, gram.TrainOptions{Options: o, C: 1}))
	gram.Must(gram.Gram(t.Context(), c, "", o))
	gram.Must(gram.Spectrum(t.Context(), c, gram.SpectrumOptions{Options: o, Centred: true}))
	if called == 0 {
		t.Error("progress was never told")
	}
}

// Each invalid argument is an error that names the argument or its value.
func TestInvalidArguments(t *testing.T) {
	ctx, c := t.Context(), few(t)
	m := gram.Must(gram.Train(ctx, c, gram.TrainOptions{Kernel: "linear", C: 1}))
	index := gram.Must(gram.NewIndex(ctx, fewTexts, gram.IndexOptions{}))
	pca := gram.Must(gram.PCA(ctx, c, gram.PCAOptions{}))
	nan, negative := math.NaN(), -1.0
	spoilt := *c
	spoilt.Documents = &sparse.CSR{Cols: c.Documents.Cols, Offsets: []int64{0, 9}}
	other := gram.Must(gram.FromMatrix(mat.NewDense(2, 2, []float64{1, 2, 3, 4}), []string{"x", "y"}))
	train := func(o gram.TrainOptions) func() error {
		return func() error { _, err := gram.Train(ctx, c, o); return err }
	}
	for name, test := range map[string]struct {
		call func() error
		want string
	}{
		"Train: nil corpus": {func() error {
			_, err := gram.Train(ctx, nil, gram.TrainOptions{})
			return err
		}, "corpus"},
		"Train: invalid corpus": {func() error {
			_, err := gram.Train(ctx, &spoilt, gram.TrainOptions{})
			return err
		}, "offset"},
		"Train: C":           {train(gram.TrainOptions{Kernel: "linear", C: -1}), "C"},
		"Train: C NaN":       {train(gram.TrainOptions{Kernel: "linear", C: nan}), "C"},
		"Train: Nu":          {train(gram.TrainOptions{Type: "nu_svc", Nu: nan}), "NaN"},
		"Train: Tolerance":   {train(gram.TrainOptions{Type: "logistic", Tolerance: nan}), "Tolerance"},
		"Train: ChooseWork":  {train(gram.TrainOptions{ChooseWork: nan}), "ChooseWork"},
		"Train: Kernel":      {train(gram.TrainOptions{Kernel: "linearr"}), "linearr"},
		"Train: ISA":         {train(gram.TrainOptions{Options: gram.Options{ISA: "mmx"}}), "mmx"},
		"Train: Workers":     {train(gram.TrainOptions{Options: gram.Options{Workers: -1}}), "Workers"},
		"Train: MemoryBytes": {train(gram.TrainOptions{Options: gram.Options{MemoryBytes: -1}}), "MemoryBytes"},
		"Options: nil kernel": {func() error {
			_, err := gram.Gram(ctx, c, "", gram.Options{Kernels: []kernel.Kernel{nil}})
			return err
		}, "nil"},
		"Gram: Kernel": {func() error { _, err := gram.Gram(ctx, c, "?", gram.Options{}); return err }, "?"},
		"GramTo: nil":  {func() error { return gram.GramTo(ctx, c, "", nil, gram.Options{}) }, "destination"},
		"GramTo: size": {func() error {
			return gram.GramTo(ctx, c, "", &engine.Symmetric{N: 2}, gram.Options{})
		}, "2"},
		"CrossTo: size": {func() error {
			return gram.CrossTo(ctx, c, c, "", engine.NewDense(2, 6), gram.Options{})
		}, "2"},
		"Neighbours: K": {func() error {
			_, err := gram.Neighbours(ctx, c, gram.NeighbourOptions{K: -1})
			return err
		}, "-1 neighbours"},
		"Neighbours: Min": {func() error {
			_, err := gram.Neighbours(ctx, c, gram.NeighbourOptions{Min: &nan})
			return err
		}, "NaN"},
		"Duplicates: Within": {func() error {
			_, err := gram.Duplicates(ctx, c, gram.DuplicateOptions{Within: &negative})
			return err
		}, "within -1"},
		"Duplicates: NaN": {func() error {
			_, err := gram.Duplicates(ctx, c, gram.DuplicateOptions{Within: &nan})
			return err
		}, "within NaN"},
		"PCA: Components": {func() error {
			_, err := gram.PCA(ctx, c, gram.PCAOptions{Components: -1})
			return err
		}, "-1 components"},
		"Project: another corpus": {func() error { _, err := pca.Project(ctx, other); return err }, "vectors"},
		"CrossValidate: Folds": {func() error {
			_, err := gram.CrossValidate(ctx, c, gram.ValidateOptions{Folds: 1})
			return err
		}, "1 folds"},
		"Search: Grid": {func() error {
			_, err := gram.Search(ctx, c, gram.SearchOptions{Grid: map[string][]string{"C": {"x"}}})
			return err
		}, "Grid C"},
		"SelectTerms: terms": {func() error {
			_, _, err := gram.SelectTerms(ctx, c, -1, gram.Options{})
			return err
		}, "term"},
		"Texts: labels": {func() error {
			_, err := gram.Texts(ctx, fewTexts, []string{"x"}, gram.ReadOptions{})
			return err
		}, "1 label"},
		"Terms: labels": {func() error {
			_, err := gram.Terms([][]string{{"a"}}, []string{"x", "y"})
			return err
		}, "2 labels"},
		"FromMatrix: nil": {func() error { _, err := gram.FromMatrix(nil, nil); return err }, "matrix"},
		"FromMatrix: NaN": {func() error {
			_, err := gram.FromMatrix(mat.NewDense(1, 1, []float64{nan}), nil)
			return err
		}, "NaN"},
		"Rows.Add: columns": {func() error { return gram.NewRows(3).Add([]uint32{2, 0}, []float64{1, 2}) }, "column"},
		"Rows.Add: width":   {func() error { return gram.NewRows(3).Add([]uint32{3}, []float64{1}) }, "3"},
		"Rows.Add: lengths": {func() error { return gram.NewRows(3).Add([]uint32{0}, nil) }, "value"},
		"Query: K": {func() error {
			_, err := index.Query(ctx, fewTexts, gram.IndexQuery{K: -1})
			return err
		}, "K"},
		"Query: Within": {func() error {
			_, err := index.Query(ctx, fewTexts, gram.IndexQuery{Within: &nan})
			return err
		}, "Within"},
		"Index.Remove":       {func() error { return index.Remove(99) }, "99"},
		"Index.Remove twice": {func() error { return index.Remove(1, 1) }, "1"},
		"Explain: n":         {func() error { _, err := m.Explain(t.Context(), -1); return err }, "-1"},
		"ExplainDocument": {func() error {
			_, err := m.ExplainDocument(ctx, c, 6, 3)
			return err
		}, "6"},
		"Evaluate: nil": {func() error { _, err := m.Evaluate(ctx, nil, gram.EvaluateOptions{}); return err }, "corpus"},
		"Read: no file": {func() error {
			_, err := gram.Read(ctx, "no/such.tsv", gram.ReadOptions{})
			return err
		}, "no/such.tsv"},
		"Read: Format": {func() error {
			_, err := gram.Read(ctx, "goroot", gram.ReadOptions{Format: "pdf"})
			return err
		}, "pdf"},
		"ReadIndex: nil": {func() error { _, err := gram.ReadIndex(ctx, nil, gram.Options{}); return err }, "reader"},
		"LoadFrom: nil":  {func() error { _, err := gram.LoadFrom(ctx, nil); return err }, "reader"},
	} {
		if err := test.call(); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: error %v, expected one with %q", name, err, test.want)
		}
	}
}
