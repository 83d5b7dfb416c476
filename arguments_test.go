package gram_test

import (
	"errors"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"regexp"
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

func few(t testing.TB) *corpus.Corpus {
	t.Helper()
	labels := []string{"colour", "colour", "colour", "spice", "spice", "spice"}
	return gram.Must(gram.FromTexts(t.Context(), fewTexts, labels, gram.ReadOptions{MinDF: 1}))
}

// Empty inputs give empty results where an empty result makes sense.
func TestEmptyArguments(t *testing.T) {
	c := few(t)
	m := gram.Must(gram.Train(t.Context(), c, gram.TrainOptions{Kernel: "linear", C: 1}))
	if p := gram.Must(m.PredictTexts(t.Context(), nil)); p.Label(0) != "" || p.Label(-1) != "" {
		t.Errorf("predictions of nothing: %+v", p)
	}
	if c := gram.NewCorpusBuilder(3).Corpus(); c.Documents.Rows() != 0 {
		t.Errorf("%d documents of none", c.Documents.Rows())
	}
	if len(gram.Kernels()) == 0 || m.About().Support == 0 {
		t.Error("no kernels, or no support vectors")
	}
	path := filepath.Join(t.TempDir(), "a.model")
	musttest.NoError(t, errors.Join(m.Save(path), m.Close(), m.Close()))
	musttest.Get(os.Stat(path))(t)
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

// Each invalid argument gives an error with the prefix "gram: " that names the argument or its
// value, but no lower-level package.
func TestInvalidArguments(t *testing.T) {
	ctx, c, none := t.Context(), few(t), filepath.Join(t.TempDir(), "no", "where")
	m := gram.Must(gram.Train(ctx, c, gram.TrainOptions{Kernel: "linear", C: 1}))
	index := gram.Must(gram.NewIndex(ctx, fewTexts, gram.IndexOptions{}))
	pca := gram.Must(gram.PCA(ctx, c, gram.PCAOptions{}))
	nan, below := math.NaN(), -1.0
	spoilt := *c
	spoilt.Documents = &sparse.CSR{Cols: c.Documents.Cols, Offsets: []int64{0, 9}}
	vectors := gram.Must(gram.FromMatrix(mat.NewDense(2, 2, []float64{1, -2, 3, 4}), []string{"x", "y"}))
	idle, little, other := gram.Options{Workers: -3}, gram.Options{MemoryBytes: 10}, gram.Options{ISA: "mmx"}
	of := func(_ any, err error) error { return err }
	train := func(o gram.TrainOptions) error { return of(gram.Train(ctx, c, o)) }
	search := func(name, value string) error {
		o := gram.SearchOptions{TrainOptions: gram.TrainOptions{Kernel: "linear"}, Grid: map[string][]string{name: {value}}}
		return of(gram.Search(ctx, c, o))
	}
	for at, test := range []struct {
		want string
		err  error
	}{
		{"corpus", of(gram.Train(ctx, nil, gram.TrainOptions{}))},
		{"offset", of(gram.Train(ctx, &spoilt, gram.TrainOptions{}))},
		{"C must be a number above 0, got NaN", train(gram.TrainOptions{Kernel: "linear", C: nan})},
		{"NaN", train(gram.TrainOptions{Type: "nu_svc", Nu: nan})},
		{"Tolerance must be a number", train(gram.TrainOptions{Type: "logistic", Tolerance: nan})},
		{"ChooseWork", train(gram.TrainOptions{ChooseWork: nan})},
		{`kernel "linearr", column 1`, train(gram.TrainOptions{Kernel: "linearr"})},
		{`unknown embedding "none"; valid`, train(gram.TrainOptions{Embedding: "none"})},
		{"Embedding tf-l1-js", train(gram.TrainOptions{Type: "linear", Embedding: "tf-l1-js"})},
		{`Reject must be error=E or`, train(gram.TrainOptions{Reject: "2%"})},
		{`unknown learner Type "svm"`, train(gram.TrainOptions{Type: "svm"})},
		{"k=-1", train(gram.TrainOptions{Type: "knn:k=-1"})},
		{"got -2", of(gram.Train(ctx, vectors, gram.TrainOptions{Kernel: "diffusion:t=1", C: 1}))},
		{"mmx", train(gram.TrainOptions{Options: other})},
		{"MemoryBytes", train(gram.TrainOptions{Options: gram.Options{MemoryBytes: -1}})},
		{"Workers must be positive, or 0 for one per CPU, got -3", train(gram.TrainOptions{Options: idle})},
		{"Workers must be", of(gram.Gram(ctx, c, "", idle))},
		{"Workers must be", of(gram.Neighbours(ctx, c, gram.NeighbourOptions{Options: idle}))},
		{"Workers must be", of(gram.Duplicates(ctx, c, gram.DuplicateOptions{Options: idle}))},
		{"Workers must be", of(gram.PCA(ctx, c, gram.PCAOptions{Options: idle}))},
		{"nil", of(gram.Gram(ctx, c, "", gram.Options{Kernels: []kernel.Kernel{nil}}))},
		{"?", of(gram.Gram(ctx, c, "?", gram.Options{}))},
		{"mmx", of(gram.Gram(ctx, c, "", other))},
		{"needs", of(gram.Gram(ctx, c, "", little))},
		{"got -2", of(gram.Gram(ctx, vectors, "", gram.Options{}))},
		{"destination", gram.GramTo(ctx, c, "", nil, gram.Options{})},
		{"2", gram.GramTo(ctx, c, "", &engine.Symmetric{N: 2}, gram.Options{})},
		{"none", of(gram.CrossGram(ctx, c, c, "none", gram.Options{}))},
		{"2", gram.CrossGramTo(ctx, c, c, "", engine.NewDense(2, 6), gram.Options{})},
		{"number of neighbours must be positive, got -1", of(gram.Neighbours(ctx, c, gram.NeighbourOptions{K: -1}))},
		{"NaN", of(gram.Neighbours(ctx, c, gram.NeighbourOptions{Min: &nan}))},
		{"none", of(gram.Neighbours(ctx, c, gram.NeighbourOptions{Kernel: "none"}))},
		{"must be in [0, 1), got -1", of(gram.Duplicates(ctx, c, gram.DuplicateOptions{Within: &below}))},
		{"must be in [0, 1), got NaN", of(gram.Duplicates(ctx, c, gram.DuplicateOptions{Within: &nan}))},
		{"none", of(gram.Duplicates(ctx, c, gram.DuplicateOptions{Embedding: "none"}))},
		{"got -1 and 0", of(gram.PCA(ctx, c, gram.PCAOptions{Components: -1}))},
		{"none", of(gram.PCA(ctx, c, gram.PCAOptions{Kernel: "none"}))},
		{"vectors", of(pca.Project(ctx, vectors))},
		{"none", of(gram.Spectrum(ctx, c, gram.SpectrumOptions{Kernel: "none"}))},
		{"all eigenvalues for 6 documents needs ", of(gram.Spectrum(ctx, c, gram.SpectrumOptions{Options: little}))},
		{"got 1", of(gram.CrossValidate(ctx, c, gram.ValidateOptions{Folds: 1}))},
		{"type one_class cannot be cross-validated, because it has no labels",
			of(gram.CrossValidate(ctx, c, gram.ValidateOptions{TrainOptions: gram.TrainOptions{Type: "one_class"}}))},
		{"Grid C: values must be numbers, got ten", search("C", "ten")},
		{"Grid gamma: unknown parameter", search("gamma", "1")},
		{"(did you mean C?)", search("c", "1")},
		{"1 label", of(gram.FromTexts(ctx, fewTexts, []string{"x"}, gram.ReadOptions{}))},
		{"expected", of(gram.FromTexts(ctx, nil, nil, gram.ReadOptions{}))},
		{"2 labels", of(gram.FromTerms([][]string{{"a"}}, []string{"x", "y"}))},
		{"matrix", of(gram.FromMatrix(nil, nil))},
		{"NaN", of(gram.FromMatrix(mat.NewDense(1, 1, []float64{nan}), nil))},
		{"column", gram.NewCorpusBuilder(3).Add([]uint32{2, 0}, []float64{1, 2})},
		{"3", gram.NewCorpusBuilder(3).Add([]uint32{3}, []float64{1})},
		{"value", gram.NewCorpusBuilder(3).Add([]uint32{0}, nil)},
		{"none", of(gram.NewIndex(ctx, fewTexts, gram.IndexOptions{Embedding: "none"}))},
		{"K must be positive unless Within is set, got -1", of(index.Query(ctx, fewTexts, gram.IndexQuery{K: -1}))},
		{"Within must be nonnegative, got -1", of(index.Query(ctx, fewTexts, gram.IndexQuery{Within: &below}))},
		{"Within", of(index.Query(ctx, fewTexts, gram.IndexQuery{Within: &nan}))},
		{"Index is not initialized; use NewIndex or LoadIndex",
			of(new(gram.Index).Query(ctx, fewTexts, gram.IndexQuery{K: 1}))},
		{"99", index.Remove(99)},
		{"1", index.Remove(1, 1)},
		{"-1", of(m.Explain(ctx, -1))},
		{"number of terms must be at least 1, got 0", of(m.ExplainText(ctx, "red", 0))},
		{"document index must be between 0 and 5, got 6", of(m.ExplainDocument(ctx, c, 6, 3))},
		{"mmx", of(m.WithOptions(other).Predict(ctx, c))},
		{"corpus", of(m.Evaluate(ctx, nil, gram.EvaluateOptions{}))},
		{"vectors", of(m.Evaluate(ctx, vectors, gram.EvaluateOptions{}))},
		{"no/such.tsv", of(gram.Read(ctx, "no/such.tsv", gram.ReadOptions{}))},
		{"pdf", of(gram.Read(ctx, "goroot", gram.ReadOptions{Format: "pdf"}))},
		{none, of(gram.Load(none))},
		{"where", m.Save(none)},
		{"none", of(gram.LoadFrom(ctx, strings.NewReader("none")))},
		{"reader", of(gram.LoadFrom(ctx, nil))},
		{"reader", of(gram.ReadIndex(ctx, nil, gram.Options{}))},
	} {
		if test.err == nil {
			t.Errorf("%d: no error, want one with %q", at, test.want)
			continue
		}
		text := test.err.Error()
		below := regexp.MustCompile(`\b(engine|sparse|corpus|svm|learn|solver): `).FindString(text)
		if !strings.Contains(text, test.want) || !strings.HasPrefix(text, "gram: ") || below != "" ||
			strings.Count(text, "gram: ") != 1 {
			t.Errorf("%d: error %q, want one with %q that begins with gram: once and names no package below", at, text,
				test.want)
		}
	}
	if err := of(gram.Gram(ctx, c, "", little)); !errors.As(err, new(*corpus.MemoryError)) {
		t.Errorf("%v is no MemoryError", err)
	}
	musttest.WantError(of(gram.Read(ctx, none, gram.ReadOptions{})))(t, "a file that doesn't exist", fs.ErrNotExist)
}
