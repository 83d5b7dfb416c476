package gram_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/gramengine/gram"
	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/engine/kernel"
	"github.com/gramengine/gram/internal/musttest"
	"github.com/gramengine/gram/sparse"
)

// trainings returns the errors of Train, CrossValidate and Search with the same options.
func trainings(t *testing.T, c *corpus.Corpus, o gram.TrainOptions) []error {
	_, trained := gram.Train(t.Context(), c, o)
	_, validated := gram.CrossValidate(t.Context(), c, gram.ValidateOptions{TrainOptions: o})
	_, searched := gram.Search(t.Context(), c, gram.SearchOptions{TrainOptions: o})
	return []error{trained, validated, searched}
}

// Errors for documents without labels and for the zero Model name the cause.
func TestNothingToLearnFrom(t *testing.T) {
	texts, _ := ordered(200)
	for _, labels := range [][]string{nil, make([]string, 200)} {
		c := gram.Must(gram.FromTexts(t.Context(), texts, labels, gram.ReadOptions{}))
		for _, o := range []gram.TrainOptions{{}, {Kernel: "linear"}, {Kernel: "linear", C: 1}, {Type: "logistic"}} {
			for _, err := range trainings(t, c, o) {
				if err == nil || !strings.HasPrefix(err.Error(), "gram: texts has no labels; Type one_class needs none") {
					t.Errorf("%+v: %v, expected an error that says there are no labels", o, err)
				}
			}
		}
		gram.Must(gram.Train(t.Context(), c, gram.TrainOptions{Type: "one_class"}))
	}
	for _, m := range []*gram.Model{nil, {}, new(gram.Model).WithOptions(gram.Options{Workers: 1})} {
		_, predicted := m.Predict(t.Context(), few(t))
		_, texts := m.PredictTexts(t.Context(), fewTexts)
		_, terms := m.PredictTerms(t.Context(), nil)
		_, why := m.Explain(t.Context(), 1)
		_, whyText := m.ExplainText(t.Context(), "red", 1)
		for i, err := range []error{predicted, texts, terms, why, whyText, m.Save(filepath.Join(t.TempDir(), "a")),
			m.Write(t.Context(), io.Discard), m.Close()} {
			musttest.WantError(err)(t, i, "gram: Model is not initialized")
		}
		if a := m.About(); a.Classes != nil || m.ReadOptions().Vocabulary != nil {
			t.Errorf("an empty model has %v", a)
		}
	}
}

// The columns of table rows may be in any order. Errors name the column.
func TestRowsOfTables(t *testing.T) {
	columns, labels := []string{"title", "price", "zip"}, []string{"a", "b", "a", "b"}
	rows := [][]string{{"red bike", "1", "07"}, {"a house", "9", "11"}, {"blue bike", "", "07"}, {"a flat", "8", "11"}}
	read := gram.ReadOptions{MinDF: 1,
		Tokenizer: gram.Must(corpus.ParseTokenizer("title=words + zip=categories + price=numbers"))}
	c := gram.Must(gram.FromRows(t.Context(), columns, rows, labels, read))
	m := gram.Must(gram.Train(t.Context(), c, gram.TrainOptions{Kernel: "linear", C: 1}))
	want := gram.Must(m.PredictRows(t.Context(), columns, [][]string{{"old bike", "2", ""}})).Margins[0]
	for _, given := range [][2][]string{{{"price", "title"}, {"2", "old bike"}},
		{{"id", "zip", "title", "price"}, {"x", "", "old bike", "2.0"}}} {
		if got := gram.Must(m.PredictRows(t.Context(), given[0], given[1:])).Margins[0]; got != want {
			t.Errorf("%q: %v, expected %v", given, got, want)
		}
	}
	withIDs := [][]string{{"k7", "red bike", "1", "07"}, {"k9", "a house", "9", "x"}}
	inferred := gram.Must(gram.FromRows(t.Context(), append([]string{"id"}, columns...), withIDs, labels[:2],
		gram.ReadOptions{Columns: "zip=category"}))
	if inferred.DescribeTable() != "id: id; text: title; category: zip; number: price; ignored: none" ||
		inferred.DocumentName(1) != "k9" ||
		!strings.HasPrefix(inferred.Tokenizer.String(), "title=word + zip=categories + ") {
		t.Errorf("%s, %s, cut by %s", inferred.DescribeTable(), inferred.Names, inferred.Tokenizer)
	}
	row := func(columns []string, row ...string) error {
		_, err := m.PredictRows(t.Context(), columns, [][]string{row})
		_, explained := m.ExplainRow(t.Context(), columns, row, 1)
		if err == nil || explained == nil || err.Error() != explained.Error() {
			t.Errorf("%q: %v, explained: %v, expected the same", row, err, explained)
		}
		return err
	}
	_, text := m.PredictTexts(t.Context(), []string{"bike"})
	_, made := gram.FromRows(t.Context(), columns, [][]string{{"a", "1"}}, nil, read)
	_, none := gram.FromRows(t.Context(), nil, nil, nil, read)
	_, empty := gram.FromRows(t.Context(), nil, [][]string{{}}, nil, gram.ReadOptions{})
	for want, err := range map[string]error{
		"rows: no columns, expected at least one column":    empty,
		"gram: column title: no such column among price":    row([]string{"price"}, "1"),
		`"cheap" in the column price`:                       row(columns, "a", "cheap", ""),
		"row 0 has 2 fields, but there are 3 columns":       row(columns, "a", "1"),
		"got texts instead of rows with columns title, zip": text,
		"row 0 has 2 fields, but there are 3 columns (":     made,
		"column title: no such column":                      none,
	} {
		musttest.WantError(err)(t, "rows", want)
	}
}

// Errors and warnings name fields of options, not the command's flags.
func TestErrorsNameFields(t *testing.T) {
	c := few(t)
	m := gram.Must(gram.Train(t.Context(), c, gram.TrainOptions{Type: "knn:k=1"}))
	musttest.WantError(m.Explain(t.Context(), 1))(t, "explaining nearest neighbours", "such as Type linear or")
	var warnings []string
	o := gram.Options{Warn: func(s string) { warnings = append(warnings, s) }}
	gram.Must(gram.Train(t.Context(), c, gram.TrainOptions{Options: o, Type: "linear:passes=1", C: 1e6}))
	if all := strings.Join(warnings, "\n"); !strings.Contains(all, "did not reach Tolerance") {
		t.Errorf("warnings %q", all)
	}
}

// File names are unchanged in errors, even if they look like flags.
func TestErrorsLeaveNames(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "a-type -grid b")
	_, read := gram.Read(t.Context(), folder, gram.ReadOptions{})
	_, loaded := gram.Load(folder)
	var texts, numbers []string
	for i := range 30 {
		texts, numbers = append(texts, "red"), append(numbers, strconv.Itoa(i))
	}
	c := gram.Must(gram.FromTexts(t.Context(), texts, numbers, gram.ReadOptions{MinDF: 1}))
	c.Source = folder
	_, trained := gram.Train(t.Context(), c, gram.TrainOptions{})
	for _, err := range []error{read, loaded, trained} {
		musttest.WantError(err)(t, "a name that looks like flags", folder)
	}
	if !strings.Contains(trained.Error(), "use Type epsilon_svr ") {
		t.Errorf("%v, expected an error that names Type", trained)
	}
}

// Errors number documents and columns from 0, as the arguments do.
func TestErrorsCountFromZero(t *testing.T) {
	numbers := func(v float64) (*corpus.Corpus, error) {
		return gram.FromMatrix(mat.NewDense(2, 2, []float64{1, 2, 3, v}), []string{"x", "y"})
	}
	_, infinite := numbers(math.Inf(1))
	_, large := numbers(1e300)
	c := gram.Must(numbers(-4))
	_, negative := gram.Gram(t.Context(), c, "diffusion:t=2", gram.Options{})
	_, trained := gram.Train(t.Context(), c, gram.TrainOptions{Kernel: "diffusion:t=2", C: 1})
	half := gram.Must(gram.FromMatrix(mat.NewDense(2, 1, []float64{1, 2}), []string{"5", ""}))
	_, estimated := gram.Train(t.Context(), half, gram.TrainOptions{Type: "nu_svr"})
	targets := musttest.MakeSlice(30, func(i int) string { return strconv.Itoa(i) })
	numbered := gram.Must(gram.FromMatrix(mat.NewDense(30, 1, make([]float64, 30)), targets))
	_, asked := gram.Train(t.Context(), numbered, gram.TrainOptions{})
	_, text := gram.FromTexts(t.Context(), []string{"a b", "a \xff"}, nil, gram.ReadOptions{Strict: true})
	r := gram.NewCorpusBuilder(2)
	const cube = "polynomial:gamma=1,degree=3"
	big := gram.Must(gram.FromMatrix(mat.NewDense(3, 1, []float64{1, 1, 1e12}), []string{"x", "y", "x"}))
	_, beyond := gram.Gram(t.Context(), big, cube, gram.Options{})
	_, across := gram.CrossGram(t.Context(), big, big, cube, gram.Options{})
	_, machine := gram.Train(t.Context(), big, gram.TrainOptions{Kernel: cube, C: 1})
	_, nearest := gram.Train(t.Context(), big, gram.TrainOptions{Type: "knn", Kernel: "exp(100*bhattacharyya)"})
	_, near := gram.Neighbours(t.Context(), big, gram.NeighbourOptions{Kernel: "exp(100*bhattacharyya)", K: 1})
	steep := "gram: rows: kernel exp(100*bhattacharyya): the value for document "
	pair := "gram: rows: kernel polynomial:gamma=1,r=0,degree=3: the value for document 2 and "
	for want, err := range map[string]error{
		"gram: document 1, column 1: value must be finite, got +Inf":                              infinite,
		"gram: document 1, column 1: value must be at most 3.4e+38 to fit in float32, got 1e+300": large,
		"gram: document 0, column 2: the matrix has only 2 columns": r.Add([]uint32{2},
			[]float64{1}),
		"gram: document 0, column 0: column must be greater than": r.Add([]uint32{1,
			0}, []float64{1, 1}),
		"gram: rows: document 1, column 1: value must be finite and nonnegative":     negative,
		"gram: rows: document 1, column 1: value must be finite and nonnegative for": trained,
		pair + "document 2 is +Inf, not a finite number":                             machine,
		pair + "document 2 is +Inf, not":                                             beyond,
		"gram: the labels of rows are numbers with 30 distinct":                      asked,
		pair + "column 2 is +Inf, not":                                               across,
		steep + "0 and document 0 is +Inf":                                           nearest,
		steep + "0 and document 1 is +Inf":                                           near,
		"gram: text 1: ":                                                             text,
		"gram: document 1 of rows has no label":                                      estimated,
	} {
		if err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("error %v, expected %s", err, want)
		}
	}
}

// Options that don't apply to the Type, or are out of range, are errors that name the field.
func TestOptionsApply(t *testing.T) {
	c := few(t)
	weights := map[string]float64{"spice": 2}
	for want, o := range map[string]gram.TrainOptions{
		"Kernel does not apply to Type linear, which takes Embedding, Scheme, C, Weights, Balanced, Tolerance, " +
			"DocumentWeights": {Type: "linear", Kernel: "diffusion"},
		"Reject does not apply to Type linear":            {Type: "linear", Reject: "error=2%"},
		"Thresholds does not apply to Type linear":        {Type: "linear", Thresholds: true},
		"Scheme must be one-vs-rest or labels":            {Type: "linear", Scheme: "one-vs-one"},
		"C does not apply to Type knn, which takes Kern":  {Type: "knn", C: 2},
		"Nu does not apply to Type knn":                   {Type: "knn:k=3", Nu: 0.2},
		"Balanced does not apply to Type knn":             {Type: "knn", Balanced: true},
		"Probabilities does not apply to Type knn":        {Type: "knn", Probabilities: true},
		"Weights does not apply to Type knn":              {Type: "knn", Weights: weights},
		"Nu does not apply to Type c_svc, which takes Ke": {Nu: 0.2},
		"C does not apply to Type nu_svc":                 {Type: "nu_svc", C: 2},
		"Scheme does not apply to Type one_class":         {Type: "one_class", Scheme: "labels"},
		"C must be a number above 0, got -1":              {C: -1},

		"got 2 DocumentWeights for 6": {DocumentWeights: []float64{1, 2}},
		"DocumentWeights must be nonnegative and finite, got -1 for document 2": {
			DocumentWeights: []float64{1, 1, -1, 1, 1, 1}},
		"DocumentWeights must be nonnegative and finite, got NaN for document 0": {
			DocumentWeights: []float64{math.NaN(), 1, 1, 1, 1, 1}},
		"DocumentWeights must be nonnegative and finite, got +Inf for document 5": {
			DocumentWeights: []float64{1, 1, 1, 1, 1, math.Inf(1)}},
		"at least one of DocumentWeights must be positive": {DocumentWeights: make([]float64, 6)},
		"DocumentWeights must be positive with a precomputed Kernel, got 0 for document 1": {
			DocumentWeights: []float64{1, 0, 1, 1, 1, 1}, Kernel: "precomputed"},
		"DocumentWeights does not apply to Type knn": {Type: "knn", DocumentWeights: []float64{1, 1, 1, 1, 1, 1}},
	} {
		for _, err := range trainings(t, c, o) {
			if err == nil || !strings.HasPrefix(err.Error(), "gram: "+want) {
				t.Errorf("error %v, expected %s", err, want)
			}
		}
	}
}

// The error for a missing user-defined kernel of a model suggests a remedy.
func TestKernelOfModelUnknown(t *testing.T) {
	own := gram.Must(kernel.New(kernel.Custom{Name: "cauchy-3", Embedding: sparse.SphereEmbedding,
		Eval: func(c, _, _ float64) float64 { return 1 / (1 + c) }}))
	o := gram.Options{Kernels: []kernel.Kernel{own}}
	m := gram.Must(gram.Train(t.Context(), few(t), gram.TrainOptions{Options: o, Kernel: "cauchy-3"}))
	_, err := m.WithOptions(gram.Options{}).PredictTexts(t.Context(), fewTexts)
	const want = `gram: the model's kernel "cauchy-3" is unknown; set it by Model.With(Options{Kernels: ...})`
	if err == nil || err.Error() != want {
		t.Errorf("%v, expected %s", err, want)
	}
}

// A CorpusBuilder that isn't from NewCorpusBuilder gives an error. A corpus without documents gives
// empty results.
func TestNoRows(t *testing.T) {
	var zero gram.CorpusBuilder
	err := zero.Add([]uint32{0}, []float64{1})
	if err == nil || err.Error() != "gram: CorpusBuilder is not initialized; use NewCorpusBuilder" {
		t.Errorf("zero Rows: %v", err)
	}
	if c := new(gram.CorpusBuilder).Corpus(); c.Documents.Rows() != 0 || c.Documents.Cols != 0 {
		t.Errorf("zero Rows have %+v", c)
	}
	c := gram.NewCorpusBuilder(3).Corpus()
	k := gram.Must(gram.Gram(t.Context(), c, "", gram.Options{}))
	near := gram.Must(gram.Neighbours(t.Context(), c, gram.NeighbourOptions{}))
	values := gram.Must(gram.Spectrum(t.Context(), c, gram.SpectrumOptions{}))
	if k.SymmetricDim() != 0 || len(near) != 0 || len(values) != 0 {
		t.Errorf("no documents: %d rows, %d lists, %d eigenvalues", k.SymmetricDim(), len(near), len(values))
	}
}

// failing is a reader that panics.
type failing struct{}

func (failing) Read([]byte) (int, error) { panic("out of order") }

// Reading a blocked stream ends when its context is done. A panic of the stream becomes an error.
// The memory limit applies to reading.
func TestStreams(t *testing.T) {
	m := gram.Must(gram.Train(t.Context(), few(t), gram.TrainOptions{Kernel: "linear", C: 1}))
	x := gram.Must(gram.NewIndex(t.Context(), fewTexts, gram.IndexOptions{}))
	var model, index bytes.Buffer
	musttest.NoError(t, errors.Join(m.Write(t.Context(), &model), x.Write(&index)))
	for name, read := range map[string]func(ctx context.Context, r io.Reader, limit int64) error{
		"texts": func(ctx context.Context, r io.Reader, _ int64) error {
			_, err := gram.ReadFrom(ctx, r, "a.txt", gram.ReadOptions{})
			return err
		},
		"model": func(ctx context.Context, r io.Reader, _ int64) error {
			_, err := gram.LoadFrom(ctx, r)
			return err
		},
		"index": func(ctx context.Context, r io.Reader, limit int64) error {
			_, err := gram.ReadIndex(ctx, r, gram.Options{MemoryBytes: limit})
			return err
		},
	} {
		ctx, cancel := context.WithCancel(t.Context())
		asked, other := io.Pipe()
		ended := make(chan error, 1)
		go func() { ended <- read(ctx, asked, 0) }()
		_, _ = other.Write([]byte("gram ")) // the reader now waits for more
		cancel()
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v, expected that it was cancelled", name, err)
		}
		other.Close()
		musttest.WantError(read(t.Context(), failing{}, 0))(t, name, "out of order")
		saved := map[string][]byte{"texts": []byte("a b"), "model": model.Bytes(), "index": index.Bytes()}[name]
		if err := read(t.Context(), bytes.NewReader(saved), 0); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	var memory *corpus.MemoryError
	_, err := gram.ReadIndex(t.Context(), bytes.NewReader(index.Bytes()), gram.Options{MemoryBytes: 100})
	if !errors.As(err, &memory) {
		t.Errorf("an index of more bytes than there may be: %v, expected a MemoryError", err)
	}
}
