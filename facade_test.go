package gram_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/gramengine/gram"
	"github.com/gramengine/gram/engine"
	"github.com/gramengine/gram/engine/kernel"
	"github.com/gramengine/gram/sparse"
)

// A model may be used concurrently: everybody gets what one alone gets.
func TestModelPredictsConcurrently(t *testing.T) {
	for _, o := range []gram.TrainOptions{{Kernel: "diffusion:t=1", C: 1}, {Type: "logistic"}, {Type: "knn:k=1"}} {
		m := gram.Must(gram.Train(t.Context(), few(t), o))
		want := gram.Must(m.PredictTexts(t.Context(), fewTexts))
		m = m.With(gram.Options{Workers: 1}) // nothing is ready
		var all sync.WaitGroup
		for range 8 {
			all.Go(func() {
				if got, err := m.PredictTexts(t.Context(), fewTexts); err != nil || !reflect.DeepEqual(got, want) {
					t.Errorf("%s: %+v, %v, expected %+v", o.Type, got, err, want)
				}
			})
		}
		all.Wait()
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	}
}

// Warm makes what the first predictions would make, so that the first costs what the tenth does; a model of
// vectors can be warmed, too.
func TestModelWarm(t *testing.T) {
	var texts, labels []string
	for i := range 600 {
		texts = append(texts, fmt.Sprintf("w%c%c w%c%c w%c", 'a'+i%26, 'a'+i%17, 'a'+i%5, 'a'+i%3, 'a'+i%7))
		labels = append(labels, fmt.Sprint(i%3))
	}
	c := gram.Must(gram.Texts(t.Context(), texts, labels, gram.ReadOptions{}))
	allocated := func(m *gram.Model) uint64 {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		gram.Must(m.PredictTexts(t.Context(), texts[:1]))
		runtime.ReadMemStats(&after)
		return after.TotalAlloc - before.TotalAlloc
	}
	trained := gram.Must(gram.Train(t.Context(), c, gram.TrainOptions{Kernel: "diffusion:t=1", C: 1}))
	m := trained.With(gram.Options{Workers: 1})
	cold := allocated(m)
	m = trained.With(gram.Options{Workers: 1})
	if err := m.Warm(t.Context()); err != nil {
		t.Fatal(err)
	}
	if first, second := allocated(m), allocated(m); first > 2*second || cold < 4*second {
		t.Errorf("the first predictions allocate %d and %d bytes after Warm, %d without", first, second, cold)
	}
	numbers := gram.Must(gram.FromMatrix(mat.NewDense(2, 2, []float64{1, 2, 3, 4}), []string{"x", "y"}))
	m = gram.Must(gram.Train(t.Context(), numbers, gram.TrainOptions{Kernel: "linear", C: 1}))
	if err := m.Warm(t.Context()); err != nil {
		t.Error(err)
	}
	if err := new(gram.Model).Warm(t.Context()); err == nil {
		t.Error("an empty model is warm")
	}
}

// The margin of a prediction is what explains it: by pairs, by class, of labels and of nearest neighbours.
func TestMarginsAreExplained(t *testing.T) {
	c := gram.Must(gram.Texts(t.Context(), fewTexts, []string{"a", "a", "b", "b", "c", "c"}, gram.ReadOptions{MinDF: 1}))
	for _, o := range []gram.TrainOptions{
		{Kernel: "linear", C: 1, Scheme: "one-vs-one"}, {Kernel: "linear", C: 1, Scheme: "one-vs-rest"},
		{Kernel: "linear", C: 1, Scheme: "labels"}, {Type: "logistic"}, {Type: "knn:k=1"},
	} {
		m := gram.Must(gram.Train(t.Context(), c, o))
		p := gram.Must(m.PredictTexts(t.Context(), fewTexts))
		for i, text := range fewTexts {
			why := gram.Must(m.ExplainText(t.Context(), text, 1))
			if p.Margins[i] != why.Value || p.Seconds[i] != why.Against {
				t.Errorf("%+v: margin %v to %q, explained %v to %q", o, p.Margins[i], p.Seconds[i], why.Value, why.Against)
			}
		}
	}
}

// Predictions say how many words of a text the model knows, however it cuts text.
func TestPredictTextsKnown(t *testing.T) {
	labels := []string{"colour", "colour", "colour", "spice", "spice", "spice"}
	texts := []string{"", "xygrez plughe", "green green salt", "plughe salt ale"}
	for _, q := range []struct {
		cut          string
		known, words []int
	}{
		{"word", []int{0, 0, 2, 1}, []int{0, 2, 2, 3}},
		{"word:ngrams=1..2", []int{0, 0, 2, 1}, []int{0, 2, 2, 3}},
		{"char_wb:ngrams=2..5", []int{0, 0, 5, 2}, []int{0, 8, 5, 7}},
		{"words:1..2 + chars:2..5", []int{0, 0, 2, 1}, []int{0, 2, 2, 3}},
	} {
		cut, err := sparse.ParseTokenizer(q.cut)
		if strings.Contains(q.cut, "+") {
			cut, err = sparse.Tokenizer{Views: q.cut}, nil
		}
		if err != nil {
			t.Fatal(err)
		}
		o := gram.ReadOptions{Tokenizer: cut, MinDF: 1}
		c := gram.Must(gram.Texts(t.Context(), fewTexts, labels, o))
		m := gram.Must(gram.Train(t.Context(), c, gram.TrainOptions{Kernel: "linear", C: 1}))
		p := gram.Must(m.PredictTexts(t.Context(), texts))
		if !slices.Equal(p.Known, q.known) || !slices.Equal(p.Words, q.words) {
			t.Errorf("%s: known %v of %v, expected %v of %v", q.cut, p.Known, p.Words, q.known, q.words)
		}
		d := gram.Must(gram.Texts(t.Context(), texts, nil, m.ReadOptions()))
		if p := gram.Must(m.Predict(t.Context(), d)); !slices.Equal(p.Known, q.known) || p.Words != nil {
			t.Errorf("%s: known of a corpus %v of %v, expected %v", q.cut, p.Known, p.Words, q.known)
		}
	}
	m := gram.Must(gram.Train(t.Context(), few(t), gram.TrainOptions{Kernel: "linear", C: 1}))
	p := gram.Must(m.PredictTerms(t.Context(), [][]string{{"red", "red", "x"}, nil}))
	if !slices.Equal(p.Known, []int{1, 0}) {
		t.Errorf("known terms %v, expected 1 and 0", p.Known)
	}
}

// A few texts that MinDF 2 leaves empty are a warning, and none where MinDF is given.
func TestTextsWarn(t *testing.T) {
	for minDF, want := range map[int]bool{0: true, 1: false, 2: false} {
		var warnings []string
		o := gram.ReadOptions{MinDF: minDF, Options: gram.Options{Warn: func(s string) { warnings = append(warnings, s) }}}
		gram.Must(gram.Texts(t.Context(), []string{"one two", "three four", "five six"}, nil, o))
		if all := strings.Join(warnings, "\n"); strings.Contains(all, "MinDF 1") != want || minDF == 1 && all != "" {
			t.Errorf("MinDF %d: warnings %q", minDF, all)
		}
	}
}

// A kernel of the program's own is known by its name, from the matrix to the loaded model.
func TestOwnKernels(t *testing.T) {
	own := gram.Must(kernel.New(kernel.Custom{Name: "halved", Embedding: sparse.Sphere,
		Eval: func(c, _, _ float64) float64 { return 1 - c/2 }}))
	o := gram.Options{Kernels: []kernel.Kernel{own}}
	c := few(t)
	k := gram.Must(gram.Gram(t.Context(), c, "halved", o))
	if !(math.Abs(k.At(0, 3)-0.5) <= 1e-6) || !(math.Abs(k.At(2, 2)-1) <= 1e-6) {
		t.Errorf("values %v and %v, expected 0.5 and 1", k.At(0, 3), k.At(2, 2))
	}
	m := gram.Must(gram.Train(t.Context(), c, gram.TrainOptions{Options: o, Kernel: "halved"}))
	path := filepath.Join(t.TempDir(), "own.model")
	if err := m.Save(path); err != nil {
		t.Fatal(err)
	}
	loaded := gram.Must(gram.Load(path))
	if _, err := loaded.PredictTexts(t.Context(), fewTexts); err == nil {
		t.Error("a model of a kernel that the program doesn't have predicts")
	}
	want, got := gram.Must(m.Predict(t.Context(), c)), gram.Must(loaded.With(o).Predict(t.Context(), c))
	if !reflect.DeepEqual(want, got) {
		t.Errorf("%+v before, %+v after it was loaded", want, got)
	}
}

// Model files of LIBSVM's svm-train are loaded.
func TestLoadLIBSVM(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.model")
	const text = "svm_type c_svc\nkernel_type linear\nnr_class 2\ntotal_sv 2\nrho 0.5\nlabel 1 -1\nnr_sv 1 1\nSV\n" +
		"1 1:1\n-1 2:1\n"
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	r := gram.NewRows(3) // columns are LIBSVM's indices
	if err := errors.Join(r.Add([]uint32{1}, []float64{3}), r.Add([]uint32{2}, []float64{3})); err != nil {
		t.Fatal(err)
	}
	p := gram.Must(gram.Must(gram.Load(path)).Predict(t.Context(), r.Corpus()))
	if p.Label(0) != "1" || p.Label(1) != "-1" || !(math.Abs(p.Scores[0][0]-2.5) <= 1e-6) {
		t.Errorf("%+v", p)
	}
}

// The facade builds for WebAssembly, and takes no command, plots or GPU along.
func TestImportsOfTheFacade(t *testing.T) {
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip(err)
	}
	build := exec.Command("go", "build", ".")
	build.Env = append(os.Environ(), "GOOS=js", "GOARCH=wasm")
	if out, err := build.CombinedOutput(); err != nil {
		t.Errorf("go build for wasm: %v\n%s", err, out)
	}
	out, err := exec.Command("go", "list", "-deps", ".").Output()
	if err != nil {
		t.Fatal(err)
	}
	for path := range strings.Lines(string(out)) {
		if strings.TrimSpace(path) == "github.com/gramengine/gram/internal/run" {
			continue // what every computation may use and how it reports
		}
		for _, other := range []string{"gonum.org/v1/plot", "gram/internal/", "gram/cuda", "gram/cmd", "gram/cluster",
			"gorgonia", "progressbar"} {
			if strings.Contains(path, other) {
				t.Errorf("the facade takes %s along", strings.TrimSpace(path))
			}
		}
	}
}

// ordered are texts whose classes differ in the order of words alone.
func ordered(n int) (texts, labels []string) {
	for i := range n {
		text, label := "red fox", "odd"
		if i%2 == 0 {
			text, label = "fox red", "even"
		}
		texts, labels = append(texts, fmt.Sprintf("%s w%c x%c", text, 'a'+i%7, 'a'+i%11)), append(labels, label)
	}
	return texts, labels
}

// A model that chose its terms predicts any corpus as it predicts its texts, or says why it can't.
func TestPredictCutsAsTraining(t *testing.T) {
	texts, labels := ordered(200)
	read := func(o gram.ReadOptions) *sparse.Corpus { return gram.Must(gram.Texts(t.Context(), texts, labels, o)) }
	c := read(gram.ReadOptions{})
	m := gram.Must(gram.Train(t.Context(), c, gram.TrainOptions{}))
	if m.About().Tokenizer == c.Tokenizer {
		t.Fatal("the choice kept words, expected pairs of them")
	}
	want := gram.Must(m.PredictTexts(t.Context(), texts))
	if !slices.Equal(slices.Concat(want.Labels...), labels) {
		t.Fatalf("predicts %v", want.Labels)
	}
	for _, d := range []*sparse.Corpus{c, read(m.ReadOptions())} {
		if p := gram.Must(m.Predict(t.Context(), d)); !reflect.DeepEqual(p.Scores, want.Scores) {
			t.Errorf("texts kept: %t: %+v, expected %+v", d.Texts != nil, p, want)
		}
	}
	d := read(gram.ReadOptions{Vocabulary: c.Vocabulary})
	_, predicted := m.Predict(t.Context(), d)
	_, explained := m.ExplainDocument(t.Context(), d, 0, 1)
	_, crossed := gram.Cross(t.Context(), d, read(m.ReadOptions()), "", gram.Options{})
	for _, err := range []error{predicted, explained, crossed} {
		if err == nil || !strings.Contains(err.Error(), " was cut by word and that of ") ||
			!strings.Contains(err.Error(), m.About().Tokenizer.String()) {
			t.Errorf("error %v, expected one that names both tokenizers", err)
		}
	}
}

// Documents without labels, and a model that nobody made, are errors that say so.
func TestNothingToLearnFrom(t *testing.T) {
	texts, _ := ordered(200)
	for _, labels := range [][]string{nil, make([]string, 200)} {
		c := gram.Must(gram.Texts(t.Context(), texts, labels, gram.ReadOptions{}))
		for _, o := range []gram.TrainOptions{{}, {Kernel: "linear"}, {Kernel: "linear", C: 1}, {Type: "logistic"}} {
			_, trained := gram.Train(t.Context(), c, o)
			_, searched := gram.Search(t.Context(), c, gram.SearchOptions{TrainOptions: o})
			_, validated := gram.CrossValidate(t.Context(), c, gram.ValidateOptions{TrainOptions: o})
			for _, err := range []error{trained, searched, validated} {
				if err == nil || !strings.HasPrefix(err.Error(), "gram: texts has no labels, expected some to learn from") {
					t.Errorf("%+v: %v, expected an error that says there are no labels", o, err)
				}
			}
		}
		gram.Must(gram.Train(t.Context(), c, gram.TrainOptions{Type: "one_class"}))
	}
	for _, m := range []*gram.Model{nil, {}, new(gram.Model).With(gram.Options{Workers: 1})} {
		_, predicted := m.Predict(t.Context(), few(t))
		_, texts := m.PredictTexts(t.Context(), fewTexts)
		_, terms := m.PredictTerms(t.Context(), nil)
		_, why := m.Explain(1)
		_, whyText := m.ExplainText(t.Context(), "red", 1)
		for i, err := range []error{predicted, texts, terms, why, whyText, m.Save(filepath.Join(t.TempDir(), "a")),
			m.Write(t.Context(), io.Discard), m.Close()} {
			if err == nil || !strings.Contains(err.Error(), "gram: an empty Model") {
				t.Errorf("%d: %v, expected an error that says the model is empty", i, err)
			}
		}
		if a := m.About(); a.Classes != nil || m.ReadOptions().Vocabulary != nil {
			t.Errorf("an empty model has %v", a)
		}
	}
}

// Errors and warnings name fields of options, not the command's flags.
func TestErrorsNameFields(t *testing.T) {
	c := few(t)
	m := gram.Must(gram.Train(t.Context(), c, gram.TrainOptions{Kernel: "diffusion:t=1", C: 1}))
	_, explained := m.Explain(1)
	train := func(o gram.TrainOptions) error { _, err := gram.Train(t.Context(), c, o); return err }
	search := func(name, value string) error {
		_, err := gram.Search(t.Context(), c, gram.SearchOptions{TrainOptions: gram.TrainOptions{Kernel: "linear"},
			Grid: map[string][]string{name: {value}}})
		return err
	}
	one := gram.ValidateOptions{TrainOptions: gram.TrainOptions{Type: "one_class"}}
	_, validated := gram.CrossValidate(t.Context(), c, one)
	for want, err := range map[string]error{
		"gram: Grid gamma: no such":              search("gamma", "1"),
		"gram: Grid C: ten, expected":            search("C", "ten"),
		"nu, epsilon, kernel, embed, sc":         search("gamma", "1"),
		"isn't made of others (did you mean C?)": search("c", "1"),
		`gram: Reject "2%", expected err`:        train(gram.TrainOptions{Reject: "2%"}),
		`gram: Type "svm", expected`:             train(gram.TrainOptions{Type: "svm"}),
		"gram: Embedding tf-l1-js":               train(gram.TrainOptions{Type: "linear", Embedding: "tf-l1-js"}),
		"Type lmnn: texts is text":               train(gram.TrainOptions{Type: "lmnn"}),
		"regression, Type linear or":             explained,
		"Type one_class: there is noth":          validated,
	} {
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), " -") {
			t.Errorf("error %v, expected %s", err, want)
		}
	}
	var warnings []string
	o := gram.Options{Warn: func(s string) { warnings = append(warnings, s) }}
	gram.Must(gram.Train(t.Context(), c, gram.TrainOptions{Options: o, Type: "linear:passes=1", C: 1e6}))
	if all := strings.Join(warnings, "\n"); !strings.Contains(all, "before Tolerance was reached") {
		t.Errorf("warnings %q", all)
	}
}

// Errors number documents and columns from 0, as the arguments do.
func TestErrorsCountFromZero(t *testing.T) {
	numbers := func(v float64) (*sparse.Corpus, error) {
		return gram.FromMatrix(mat.NewDense(2, 2, []float64{1, 2, 3, v}), []string{"x", "y"})
	}
	_, infinite := numbers(math.Inf(1))
	_, large := numbers(1e300)
	c := gram.Must(numbers(-4))
	_, negative := gram.Gram(t.Context(), c, "diffusion:t=2", gram.Options{})
	_, trained := gram.Train(t.Context(), c, gram.TrainOptions{Kernel: "diffusion:t=2", C: 1})
	half := gram.Must(gram.FromMatrix(mat.NewDense(2, 1, []float64{1, 2}), []string{"5", ""}))
	_, estimated := gram.Train(t.Context(), half, gram.TrainOptions{Type: "nu_svr"})
	_, text := gram.Texts(t.Context(), []string{"a b", "a \xff"}, nil, gram.ReadOptions{Strict: true})
	r := gram.NewRows(2)
	for want, err := range map[string]error{
		"gram: document 1, column 1: found +Inf, expected a finite value":    infinite,
		"gram: document 1, column 1: found 1e+300, expected at most 3.4e+38": large,
		"gram: document 0, column 2: expected a column":                      r.Add([]uint32{2}, []float64{1}),
		"gram: document 0, column 0: after 1, exp":                           r.Add([]uint32{1, 0}, []float64{1, 1}),
		"gram: rows: document 1, column 1: found -4, expected":               negative,
		"gram: rows: document 1, column 1: found -4, expected a":             trained,
		"gram: text 1: ":                        text,
		"gram: document 1 of rows has no label": estimated,
	} {
		if err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("error %v, expected %s", err, want)
		}
	}
}

// Whether a kernel is definite is a warning where the caller named it.
func TestWarnsOfNamedKernels(t *testing.T) {
	texts, labels := ordered(200)
	c := gram.Must(gram.Texts(t.Context(), texts, labels, gram.ReadOptions{Tokenizer: sparse.Tokenizer{MinN: 2}}))
	for spec, want := range map[string]bool{"": false, "diffusion:t=2": true, "linear": false} {
		var warnings []string
		o := gram.TrainOptions{Kernel: spec, Options: gram.Options{Warn: func(s string) { warnings = append(warnings, s) }}}
		m := gram.Must(gram.Train(t.Context(), c, o))
		if got := strings.Contains(strings.Join(warnings, "\n"), "positive definite"); got != want {
			t.Errorf("%q, which became %s: warnings %q", spec, m.About().Kernel, warnings)
		}
	}
}

// Errors say which argument is wrong, and once which package says so.
func TestErrorsAreOfTheCall(t *testing.T) {
	c := few(t)
	m := gram.Must(gram.Train(t.Context(), c, gram.TrainOptions{Kernel: "linear", C: 1}))
	idle := gram.Options{Workers: -3}
	_, matrix := gram.Gram(t.Context(), c, "", idle)
	_, near := gram.Neighbours(t.Context(), c, gram.NeighbourOptions{Options: idle})
	_, same := gram.Duplicates(t.Context(), c, gram.DuplicateOptions{Options: idle})
	_, components := gram.PCA(t.Context(), c, gram.PCAOptions{Options: idle})
	_, trained := gram.Train(t.Context(), c, gram.TrainOptions{Options: idle})
	for _, err := range []error{matrix, near, same, components, trained} {
		if err == nil || err.Error() != "gram: Workers -3, expected 1 or more, or 0 for one per processor" {
			t.Errorf("%v, expected an error that names Workers", err)
		}
	}
	_, unknown := gram.Train(t.Context(), c, gram.TrainOptions{Kernel: "none"})
	_, embedded := gram.Train(t.Context(), c, gram.TrainOptions{Embedding: "none"})
	_, text := m.ExplainText(t.Context(), "red", 0)
	_, document := m.ExplainDocument(t.Context(), c, 6, 1)
	_, values := gram.Spectrum(t.Context(), c, gram.SpectrumOptions{Options: gram.Options{MemoryBytes: 10}})
	for want, err := range map[string]error{
		`gram: kernel "none", column 1`: unknown, `gram: embedding "none" is`: embedded,
		"gram: 0 terms to name, expected 1 or more":             text,
		"gram: document 6 to explain, expected one from 0 to 5": document,
		"gram: finding all eigenvalues of 6 documents needs ":   values,
	} {
		if err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("error %v, expected %s", err, want)
		}
	}
	if memory := new(sparse.MemoryError); !errors.As(values, &memory) || memory.Limit != 10 {
		t.Errorf("%v is no MemoryError", values)
	}
}

// Options that don't apply to the Type are errors that name the field.
func TestOptionsApply(t *testing.T) {
	c := few(t)
	weights := map[string]float64{"spice": 2}
	for want, o := range map[string]gram.TrainOptions{
		"Kernel does not apply to Type linear, which takes Embedding, Scheme, C, Weights, Balanced, Tolerance": {
			Type: "linear", Kernel: "diffusion"},
		"Reject does not apply to Type linear":            {Type: "linear", Reject: "error=2%"},
		"Thresholds does not apply to Type linear":        {Type: "linear", Thresholds: true},
		"Scheme one-vs-one does not apply to Type linear": {Type: "linear", Scheme: "one-vs-one"},
		"C does not apply to Type knn, which takes Kern":  {Type: "knn", C: 2},
		"Nu does not apply to Type knn":                   {Type: "knn:k=3", Nu: 0.2},
		"Balanced does not apply to Type knn":             {Type: "knn", Balanced: true},
		"Probabilities does not apply to Type knn":        {Type: "knn", Probabilities: true},
		"Weights does not apply to Type knn":              {Type: "knn", Weights: weights},
		"Tolerance does not apply to Type lmnn, which takes none of": {
			Type: "lmnn", Tolerance: 0.1},
		"Nu does not apply to Type c_svc, which takes Ke": {Nu: 0.2},
		"C does not apply to Type nu_svc":                 {Type: "nu_svc", C: 2},
		"Scheme does not apply to Type one_class":         {Type: "one_class", Scheme: "labels"},
		"C -1, expected a number above 0":                 {C: -1},
	} {
		_, trained := gram.Train(t.Context(), c, o)
		_, validated := gram.CrossValidate(t.Context(), c, gram.ValidateOptions{TrainOptions: o})
		_, searched := gram.Search(t.Context(), c, gram.SearchOptions{TrainOptions: o})
		for _, err := range []error{trained, validated, searched} {
			if err == nil || !strings.HasPrefix(err.Error(), "gram: "+want) {
				t.Errorf("error %v, expected %s", err, want)
			}
		}
	}
}

// Of vectors, too, Known counts the columns that a model knows, whatever its type.
func TestPredictKnownColumns(t *testing.T) {
	train := gram.Must(gram.FromMatrix(mat.NewDense(6, 5, []float64{
		9, 1, 0, 0, 2, 8, 2, 0, 0, 1, 7, 1, 0, 0, 1,
		1, 9, 0, 0, 1, 2, 8, 0, 0, 2, 1, 7, 0, 0, 1,
	}), []string{"a", "a", "a", "b", "b", "b"}))
	r := gram.NewRows(9)
	for _, columns := range [][]uint32{{0, 1, 4}, {0, 2, 3}, {2, 3, 7, 8}, nil} {
		if err := r.Add(columns, make([]float64, len(columns))); err != nil {
			t.Fatal(err)
		}
	}
	test := r.Corpus()
	for i := range test.Documents.Values {
		test.Documents.Values[i] = 1
	}
	for _, kind := range []string{"", "linear", "logistic", "landmark", "knn:k=1"} {
		m := gram.Must(gram.Train(t.Context(), train, gram.TrainOptions{Type: kind}))
		if p := gram.Must(m.Predict(t.Context(), test)); !slices.Equal(p.Known, []int{3, 1, 0, 0}) {
			t.Errorf("%q: known %v, expected 3, 1, 0 and 0 columns", kind, p.Known)
		}
	}
}

// Whatever package below fails, its error begins with gram, once, and is what it was.
func TestErrorsBeginOnce(t *testing.T) {
	c := few(t)
	ctx := t.Context()
	ended, cancel := context.WithCancel(ctx)
	cancel()
	m := gram.Must(gram.Train(ctx, c, gram.TrainOptions{Kernel: "linear", C: 1}))
	bad := gram.Options{ISA: "none"}
	little := gram.Options{MemoryBytes: 10}
	negative := gram.Must(gram.FromMatrix(mat.NewDense(2, 1, []float64{1, -1}), []string{"x", "y"}))
	panics := gram.Must(kernel.New(kernel.Custom{Name: "panics", Embedding: sparse.Sphere,
		Eval: func(c, _, _ float64) float64 {
			if c > 0.3 && c < 0.9 {
				panic("broken")
			}
			return 1 - c
		}}))
	_, matrix := gram.Gram(ctx, c, "none", gram.Options{})
	_, isa := gram.Gram(ctx, c, "", bad)
	_, memory := gram.Gram(ctx, c, "", little)
	_, power := gram.Gram(ctx, negative, "", gram.Options{})
	_, crossed := gram.Cross(ctx, c, c, "none", gram.Options{})
	_, near := gram.Neighbours(ctx, c, gram.NeighbourOptions{Kernel: "none"})
	_, same := gram.Duplicates(ctx, c, gram.DuplicateOptions{Embedding: "none"})
	_, _, selected := gram.SelectTerms(ctx, negative, 0, gram.Options{})
	_, components := gram.PCA(ctx, c, gram.PCAOptions{Kernel: "none"})
	_, values := gram.Spectrum(ctx, c, gram.SpectrumOptions{Kernel: "none"})
	_, read := gram.Read(ctx, filepath.Join(t.TempDir(), "none"), gram.ReadOptions{})
	_, texts := gram.Texts(ctx, nil, nil, gram.ReadOptions{})
	_, loaded := gram.Load(filepath.Join(t.TempDir(), "none"))
	_, loadedFrom := gram.LoadFrom(ctx, strings.NewReader("none"))
	_, predicted := m.With(bad).Predict(ctx, c)
	_, evaluated := m.Evaluate(ctx, negative, gram.EvaluateOptions{})
	_, index := gram.NewIndex(ctx, fewTexts, gram.IndexOptions{Embedding: "none"})
	_, trained := gram.Train(ctx, negative, gram.TrainOptions{C: 1, Kernel: "diffusion:t=1"})
	_, layers := gram.Train(ctx, c, gram.TrainOptions{Type: "mkm:k=-1"})
	saved := m.Save(filepath.Join(t.TempDir(), "no", "where"))
	for i, err := range []error{matrix, isa, memory, power, crossed, near, same, selected, components, values, read, texts,
		loaded, loadedFrom, predicted, evaluated, index, trained, layers, saved} {
		if err == nil {
			t.Errorf("%d: no error", i)
			continue
		}
		text := err.Error()
		for _, below := range []string{"engine: ", "sparse: ", "svm: ", "learn: ", "solver: ", "mkm: ", "selection: "} {
			if strings.Contains(text, below) {
				t.Errorf("%d: %v names a package below", i, err)
			}
		}
		if !strings.HasPrefix(text, "gram: ") || strings.Count(text, "gram: ") != 1 {
			t.Errorf("%d: %v, expected gram: once", i, err)
		}
	}
	_, broken := gram.Gram(ctx, c, "panics", gram.Options{Kernels: []kernel.Kernel{panics}})
	if failed := (*engine.PanicError)(nil); broken == nil || (!errors.As(broken, &failed) ||
		strings.Contains(broken.Error(), "\n")) {
		t.Errorf("%v, expected a PanicError in a line", broken)
	}
	if few := new(sparse.MemoryError); !errors.As(memory, &few) || !errors.Is(read, fs.ErrNotExist) {
		t.Errorf("%v, %v: not what they were", memory, read)
	}
	if _, err := gram.Gram(ended, c, "", gram.Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("%v, expected the end of the context", err)
	}
}

// A model whose own kernel the program doesn't bring says what to do.
func TestKernelOfModelUnknown(t *testing.T) {
	own := gram.Must(kernel.New(kernel.Custom{Name: "cauchy:s=3", Embedding: sparse.Sphere,
		Eval: func(c, _, _ float64) float64 { return 1 / (1 + c) }}))
	o := gram.Options{Kernels: []kernel.Kernel{own}}
	m := gram.Must(gram.Train(t.Context(), few(t), gram.TrainOptions{Options: o, Kernel: "cauchy:s=3"}))
	_, err := m.With(gram.Options{}).PredictTexts(t.Context(), fewTexts)
	const want = `gram: the model's kernel "cauchy:s=3" is unknown: give it by Model.With(Options{Kernels: ...})`
	if err == nil || err.Error() != want {
		t.Errorf("%v, expected %s", err, want)
	}
}

// Texts for a model of terms that no text has are a warning that names PredictTerms.
func TestPredictTextsOfTerms(t *testing.T) {
	labels := []string{"x", "y"}
	for term, want := range map[string]bool{"net/http": true, "net": false} {
		var warnings []string
		o := gram.Options{Warn: func(s string) { warnings = append(warnings, s) }}
		c := gram.Must(gram.Terms([][]string{{term}, {term + "s"}}, labels))
		m := gram.Must(gram.Train(t.Context(), c, gram.TrainOptions{Kernel: "linear", C: 1})).With(o)
		gram.Must(m.PredictTexts(t.Context(), []string{term}))
		gram.Must(m.PredictTexts(t.Context(), []string{term}))
		all := strings.Join(warnings, "\n")
		if strings.Contains(all, "PredictTerms") != want || len(warnings) > 1 {
			t.Errorf("%s: warnings %q", term, all)
		}
	}
}

// Rows without NewRows are an error, and no documents give empty results.
func TestNoRows(t *testing.T) {
	var zero gram.Rows
	err := zero.Add([]uint32{0}, []float64{1})
	if err == nil || err.Error() != "gram: zero Rows, expected those of NewRows" {
		t.Errorf("zero Rows: %v", err)
	}
	if c := new(gram.Rows).Corpus(); c.Documents.Rows() != 0 || c.Documents.Cols != 0 {
		t.Errorf("zero Rows have %+v", c)
	}
	c := gram.NewRows(3).Corpus()
	k := gram.Must(gram.Gram(t.Context(), c, "", gram.Options{}))
	near := gram.Must(gram.Neighbours(t.Context(), c, gram.NeighbourOptions{}))
	values := gram.Must(gram.Spectrum(t.Context(), c, gram.SpectrumOptions{}))
	if k.SymmetricDim() != 0 || len(near) != 0 || len(values) != 0 {
		t.Errorf("no documents: %d rows, %d lists, %d eigenvalues", k.SymmetricDim(), len(near), len(values))
	}
}
