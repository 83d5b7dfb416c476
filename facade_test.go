package gram_test

import (
	"errors"
	"fmt"
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
	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/internal/musttest"
)

// A model may be used concurrently: predictions are the same as in sequential use.
func TestModelPredictsConcurrently(t *testing.T) {
	for _, o := range []gram.TrainOptions{{Kernel: "diffusion:t=1", C: 1}, {Type: "logistic"}, {Type: "knn:k=1"}} {
		m := gram.Must(gram.Train(t.Context(), few(t), o))
		want := gram.Must(m.PredictTexts(t.Context(), fewTexts))
		m = m.WithOptions(gram.Options{Workers: 1}) // a copy without prepared state
		var all sync.WaitGroup
		for range 8 {
			all.Go(func() {
				if got, err := m.PredictTexts(t.Context(), fewTexts); err != nil || !reflect.DeepEqual(got, want) {
					t.Errorf("%s: %+v, %v, expected %+v", o.Type, got, err, want)
				}
			})
		}
		all.Wait()
		musttest.NoError(t, m.Close())
	}
}

// Texts are kept if no option sets the terms, or if number views have no width.
func TestReadKeepsTexts(t *testing.T) {
	table := "title,price,class\n" + strings.Repeat("red,1,x\nblue,2,y\n", 3)
	for views, kept := range map[string][2]bool{"": {true, false}, "title=words": {false, false},
		"title=words + price=numbers": {true, true}, "title=words + price=numbers:width=1": {false, false}} {
		for least, kept := range kept {
			o := gram.ReadOptions{TextColumn: "title", MinDF: least}
			if views != "" {
				o = gram.ReadOptions{Tokenizer: gram.Must(corpus.ParseTokenizer(views)), MinDF: least}
			}
			c := gram.Must(gram.ReadFrom(t.Context(), strings.NewReader(table), "a.csv", o))
			if c.HasRawDocuments() != kept {
				t.Errorf("views %q, MinDF %d: texts %v", views, least, c.Texts)
			}
		}
	}
}

// WarmUp prepares the state that the first predictions would prepare, also for a model of vectors.
func TestModelWarm(t *testing.T) {
	musttest.SkipRace(t) // pools drop items at random
	var texts, labels []string
	for i := range 600 {
		texts = append(texts, fmt.Sprintf("w%c%c w%c%c w%c", 'a'+i%26, 'a'+i%17, 'a'+i%5, 'a'+i%3, 'a'+i%7))
		labels = append(labels, fmt.Sprint(i%3))
	}
	c := gram.Must(gram.FromTexts(t.Context(), texts, labels, gram.ReadOptions{}))
	allocated := func(m *gram.Model) uint64 {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		gram.Must(m.PredictTexts(t.Context(), texts[:1]))
		runtime.ReadMemStats(&after)
		return after.TotalAlloc - before.TotalAlloc
	}
	trained := gram.Must(gram.Train(t.Context(), c, gram.TrainOptions{Kernel: "diffusion:t=1", C: 1}))
	m := trained.WithOptions(gram.Options{Workers: 1})
	cold := allocated(m)
	m = trained.WithOptions(gram.Options{Workers: 1})
	musttest.NoError(t, m.WarmUp(t.Context()))
	if first, second := allocated(m), allocated(m); first > 2*second || cold < 4*second {
		t.Errorf("the first predictions allocate %d and %d bytes after Warm, %d without", first, second, cold)
	}
	numbers := gram.Must(gram.FromMatrix(mat.NewDense(2, 2, []float64{1, 2, 3, 4}), []string{"x", "y"}))
	m = gram.Must(gram.Train(t.Context(), numbers, gram.TrainOptions{Kernel: "linear", C: 1}))
	musttest.NoError(t, m.WarmUp(t.Context()))
	musttest.WantError(new(gram.Model).WarmUp(t.Context()))(t, "an empty model")
}

// The margin of a prediction equals Value of its explanation, for all schemes and for nearest
// neighbours.
func TestMarginsAreExplained(t *testing.T) {
	c := gram.Must(gram.FromTexts(t.Context(), fewTexts, []string{"a", "a", "b", "b", "c", "c"},
		gram.ReadOptions{MinDF: 1}))
	for _, o := range []gram.TrainOptions{
		{Kernel: "linear", C: 1, Scheme: "one-vs-one"}, {Kernel: "linear", C: 1, Scheme: "one-vs-rest"},
		{Kernel: "linear", C: 1, Scheme: "labels"}, {Type: "logistic"}, {Type: "knn:k=1"},
	} {
		m := gram.Must(gram.Train(t.Context(), c, o))
		p := gram.Must(m.PredictTexts(t.Context(), fewTexts))
		for i, text := range fewTexts {
			why := gram.Must(m.ExplainText(t.Context(), text, 1))
			if p.Margins[i] != why.Value || p.SecondClasses[i] != why.SecondClass {
				t.Errorf("%+v: margin %v to %q, explained %v to %q", o, p.Margins[i], p.SecondClasses[i], why.Value,
					why.SecondClass)
			}
		}
	}
}

// Predictions count the known words of a text, for any tokenizer.
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
		{"words:1..2 + chars:2..5", []int{0, 0, 7, 3}, []int{0, 10, 7, 10}},
	} {
		cut, err := corpus.ParseTokenizer(q.cut)
		if strings.Contains(q.cut, "+") {
			cut, err = corpus.Tokenizer{Views: q.cut}, nil
		}
		musttest.NoError(t, err)
		o := gram.ReadOptions{Tokenizer: cut, MinDF: 1}
		c := gram.Must(gram.FromTexts(t.Context(), fewTexts, labels, o))
		m := gram.Must(gram.Train(t.Context(), c, gram.TrainOptions{Kernel: "linear", C: 1}))
		p := gram.Must(m.PredictTexts(t.Context(), texts))
		if !slices.Equal(p.KnownWordCounts, q.known) || !slices.Equal(p.WordCounts, q.words) {
			t.Errorf("%s: known %v of %v, expected %v of %v", q.cut, p.KnownWordCounts, p.WordCounts, q.known, q.words)
		}
		d := gram.Must(gram.FromTexts(t.Context(), texts, nil, m.ReadOptions()))
		if p := gram.Must(m.Predict(t.Context(), d)); !slices.Equal(p.KnownWordCounts, q.known) || p.WordCounts != nil {
			t.Errorf("%s: known of a corpus %v of %v, expected %v", q.cut, p.KnownWordCounts, p.WordCounts, q.known)
		}
	}
	m := gram.Must(gram.Train(t.Context(), few(t), gram.TrainOptions{Kernel: "linear", C: 1}))
	p := gram.Must(m.PredictTerms(t.Context(), [][]string{{"red", "red", "x"}, nil}))
	if !slices.Equal(p.KnownWordCounts, []int{1, 0}) {
		t.Errorf("known terms %v, expected 1 and 0", p.KnownWordCounts)
	}
}

// If MinDF 2 removes all terms of a few texts, there is a warning, unless MinDF is set.
func TestTextsWarn(t *testing.T) {
	for minDF, want := range map[int]bool{0: true, 1: false, 2: false} {
		var warnings []string
		o := gram.ReadOptions{MinDF: minDF, Options: gram.Options{Warn: func(s string) { warnings = append(warnings, s) }}}
		gram.Must(gram.FromTexts(t.Context(), []string{"one two", "three four", "five six"}, nil, o))
		if all := strings.Join(warnings, "\n"); strings.Contains(all, "MinDF 1") != want || minDF == 1 && all != "" {
			t.Errorf("MinDF %d: warnings %q", minDF, all)
		}
	}
}

// Model files of LIBSVM's svm-train are loaded.
func TestLoadLIBSVM(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.model")
	const text = "svm_type c_svc\nkernel_type linear\nnr_class 2\ntotal_sv 2\nrho 0.5\nlabel 1 -1\nnr_sv 1 1\nSV\n" +
		"1 1:1\n-1 2:1\n"
	musttest.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	r := gram.NewCorpusBuilder(2) // column i-1 is LIBSVM's index i
	musttest.NoError(t, errors.Join(r.Add([]uint32{0}, []float64{3}), r.Add([]uint32{1}, []float64{3})))
	p := gram.Must(gram.Must(gram.Load(path)).Predict(t.Context(), r.Corpus()))
	if p.Label(0) != "1" || p.Label(1) != "-1" || !(math.Abs(p.Scores[0][0]-2.5) <= 1e-6) {
		t.Errorf("%+v", p)
	}
}

// Package gram builds for WebAssembly, and doesn't import commands, plots or GPU code.
func TestImportsOfTheFacade(t *testing.T) {
	musttest.SkipRace(t)
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip(err)
	}
	build := exec.Command("go", "build", ".")
	build.Env = append(os.Environ(), "GOOS=js", "GOARCH=wasm")
	if out, err := build.CombinedOutput(); err != nil {
		t.Errorf("go build for wasm: %v\n%s", err, out)
	}
	out := musttest.Get(exec.Command("go", "list", "-deps", ".").Output())(t)
	for path := range strings.Lines(string(out)) {
		switch name, _, _ := strings.Cut(strings.TrimPrefix(strings.TrimSpace(path), "github.com/gramengine/gram/internal/"),
			"/"); name {
		case "run", "flagtext", "params", "learn", "space", "synthetic":
			continue
		}
		for _, other := range []string{"gonum.org/v1/plot", "gram/internal/", "gram/cuda", "gram/cmd", "gram/cluster",
			"gorgonia", "progressbar"} {
			if strings.Contains(path, other) {
				t.Errorf("the facade takes %s along", strings.TrimSpace(path))
			}
		}
	}
}

// ordered returns texts whose classes differ only in word order.
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

// A model with chosen terms predicts a corpus that keeps its texts, or was read with ReadOptions,
// like its texts. Another corpus of texts gives an error.
func TestPredictCutsAsTraining(t *testing.T) {
	texts, labels := ordered(200)
	read := func(o gram.ReadOptions) *corpus.Corpus {
		return gram.Must(gram.FromTexts(t.Context(), texts, labels, o))
	}
	c := read(gram.ReadOptions{})
	m := gram.Must(gram.Train(t.Context(), c, gram.TrainOptions{}))
	if m.About().Tokenizer == c.Tokenizer {
		t.Fatal("the choice kept words, expected pairs of them")
	}
	want := gram.Must(m.PredictTexts(t.Context(), texts))
	if !slices.Equal(slices.Concat(want.Labels...), labels) {
		t.Fatalf("predicts %v", want.Labels)
	}
	for _, d := range []*corpus.Corpus{c, read(m.ReadOptions())} {
		if p := gram.Must(m.Predict(t.Context(), d)); !reflect.DeepEqual(p.Scores, want.Scores) {
			t.Errorf("texts kept: %t: %+v, expected %+v", d.Texts != nil, p, want)
		}
	}
	d := read(gram.ReadOptions{Vocabulary: c.Vocabulary})
	_, predicted := m.Predict(t.Context(), d)
	_, explained := m.ExplainDocument(t.Context(), d, 0, 1)
	_, crossed := gram.CrossGram(t.Context(), d, read(m.ReadOptions()), "", gram.Options{})
	for _, err := range []error{predicted, explained, crossed} {
		if err == nil || !strings.Contains(err.Error(), " was tokenised by word") ||
			!strings.Contains(err.Error(), m.About().Tokenizer.String()) {
			t.Errorf("error %v, want one that names both tokenizers", err)
		}
	}
}

// A kernel that may not be positive definite gives a warning, unless its parameter is chosen.
func TestWarnsOfNamedKernels(t *testing.T) {
	texts, labels := ordered(200)
	c := gram.Must(gram.FromTexts(t.Context(), texts, labels, gram.ReadOptions{Tokenizer: corpus.Tokenizer{MinN: 2}}))
	for spec, want := range map[string]bool{"": false, "diffusion:t=2": false, "sigmoid:gamma=1,r=-1": true,
		"polynomial:r=-1,degree=2": true} {
		var warnings []string
		o := gram.TrainOptions{Kernel: spec, Options: gram.Options{Warn: func(s string) { warnings = append(warnings, s) }}}
		m := gram.Must(gram.Train(t.Context(), c, o))
		if got := strings.Contains(strings.Join(warnings, "\n"), "positive definite"); got != want {
			t.Errorf("%q, which became %s: warnings %q", spec, m.About().Kernel, warnings)
		}
	}
}

// KnownWordCounts also counts the known columns of vectors, for models of every type.
func TestPredictKnownColumns(t *testing.T) {
	train := gram.Must(gram.FromMatrix(mat.NewDense(6, 5, []float64{
		9, 1, 0, 0, 2, 8, 2, 0, 0, 1, 7, 1, 0, 0, 1,
		1, 9, 0, 0, 1, 2, 8, 0, 0, 2, 1, 7, 0, 0, 1,
	}), []string{"a", "a", "a", "b", "b", "b"}))
	r := gram.NewCorpusBuilder(9)
	for _, columns := range [][]uint32{{0, 1, 4}, {0, 2, 3}, {2, 3, 7, 8}, nil} {
		musttest.NoError(t, r.Add(columns, make([]float64, len(columns))))
	}
	test := r.Corpus()
	for i := range test.Documents.Values {
		test.Documents.Values[i] = 1
	}
	for _, kind := range []string{"", "linear", "logistic", "landmark", "knn:k=1"} {
		m := gram.Must(gram.Train(t.Context(), train, gram.TrainOptions{Type: kind}))
		if p := gram.Must(m.Predict(t.Context(), test)); !slices.Equal(p.KnownWordCounts, []int{3, 1, 0, 0}) {
			t.Errorf("%q: known %v, expected 3, 1, 0 and 0 columns", kind, p.KnownWordCounts)
		}
	}
}

// Values in columns without values in training contribute to distances, for all kernel learners and
// for novelty, and give a warning.
func TestPredictUnseenColumns(t *testing.T) {
	points := mat.NewDense(4, 2, []float64{1, 0, 1.1, 0, 0, 1, 0, 1.2})
	train := gram.Must(gram.FromMatrix(points, []string{"a", "a", "b", "b"}))
	r := gram.NewCorpusBuilder(3)
	musttest.NoError(t, r.Add([]uint32{0}, []float64{1}))
	musttest.NoError(t, r.Add([]uint32{0, 2}, []float64{1, 9}))
	test := r.Corpus()
	for _, kind := range []string{"", "one_class", "landmark:m=4", "knn:k=4"} {
		var warned string
		m := gram.Must(gram.Train(t.Context(), train, gram.TrainOptions{Type: kind, Kernel: "rbf:gamma=1,embed=tf"}))
		m = m.WithOptions(gram.Options{Warn: func(text string) { warned += text }}).WithNovelty(nil)
		p := gram.Must(m.Predict(t.Context(), test))
		const want = "1 of 3 values are ignored, because the model does not know their columns (first: document 1)"
		if warned != want {
			t.Errorf("%q: warning %q, expected %q", kind, warned, want)
		}
		if one := p.Scores[1][0]; kind == "landmark:m=4" && math.Abs(one) > 0.1 {
			t.Errorf("%q: %v, as for the document without it", kind, p.Scores)
		}
		if p.NearestValues != nil && (!(p.NearestValues[0] > 0.9) || !(p.NearestValues[1] < 1e-30) ||
			p.NearestRanks[1] > p.NearestRanks[0]) {
			t.Errorf("%q: nearest %v, ranks %v", kind, p.NearestValues, p.NearestRanks)
		}
		if kind == "one_class" && p.Label(1) != "-1" {
			t.Errorf("one class: %v", p.Labels)
		}
	}
}

// Terms of text with other column numbers and unknown words are matched by name. Text that was read
// with the model's options is predicted unchanged.
func TestPredictColumnsByName(t *testing.T) {
	var texts, labels []string
	for i := range 24 {
		texts = append(texts, fmt.Sprintf("zebra yak%c common%c end", 'a'+i%2, 'a'+i%5))
		labels = append(labels, string(rune('x'+i%2)))
	}
	train := gram.Must(gram.FromTexts(t.Context(), texts, labels, gram.ReadOptions{MinDF: 2}))
	m := gram.Must(gram.Train(t.Context(), train, gram.TrainOptions{Kernel: "linear:embed=tfidf-l2"}))
	test := []string{"aardvark yaka commonb", "commona zebra zulu yakb yakb", "unknown", "yaka end zebra"}
	want := gram.Must(m.PredictTexts(t.Context(), test))
	for _, o := range []gram.ReadOptions{{MinDF: 1}, m.ReadOptions()} {
		c := gram.Must(gram.FromTexts(t.Context(), test, nil, o))
		c.Texts = nil // which would be tokenised again
		got := gram.Must(m.Predict(t.Context(), c))
		if !slices.Equal(got.Margins, want.Margins) || !slices.Equal(got.KnownWordCounts, want.KnownWordCounts) {
			t.Errorf("%d columns: margins %v, known %v, expected %v and %v", c.Documents.Cols, got.Margins, got.KnownWordCounts,
				want.Margins, want.KnownWordCounts)
		}
	}
}

// Predictions, explanations and evaluations use the most probable class, not votes.
func TestMostProbable(t *testing.T) {
	const source = "synthetic:docs=600,terms=400,length=12,classes=4,seed="
	train := musttest.Get(gram.Read(t.Context(), source+"8", gram.ReadOptions{}))(t)
	test := musttest.Get(gram.Read(t.Context(), source+"9", gram.ReadOptions{}))(t)
	m := musttest.Get(gram.Train(t.Context(), train, gram.TrainOptions{Kernel: "diffusion:t=0.5", C: 10,
		Scheme: "one-vs-one", Probabilities: true}))(t)
	p := musttest.Get(m.Predict(t.Context(), test))(t)
	classes, right, byVotes := m.About().Classes, 0, 0
	for i, own := range p.Probabilities {
		best, votes := slices.Index(own, slices.Max(own)), make([]int, len(classes))
		for k, pair := range [][2]int{{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 3}} {
			if p.Scores[i][k] > 0 {
				votes[pair[0]]++
			} else {
				votes[pair[1]]++
			}
		}
		if p.Label(i) != classes[best] {
			t.Fatalf("document %d is of class %s, probabilities %v of %v", i, p.Label(i), own, classes)
		}
		if p.Label(i) == test.Classes[test.Labels.Classes(i)[0]] {
			right++
		}
		if votes[best] == slices.Max(votes) {
			continue
		}
		if byVotes++; byVotes > 3 {
			continue
		}
		if x, err := m.ExplainDocument(t.Context(), test, i, 1); err != nil || x.Label != p.Label(i) {
			t.Errorf("document %d is of class %s, the explanation is of %+v, %v", i, p.Label(i), x, err)
		}
	}
	e := musttest.Get(m.Evaluate(t.Context(), test, gram.EvaluateOptions{}))(t)
	if byVotes == 0 || e.Score.Correct != right {
		t.Errorf("%d documents with other votes, want some; %d are right, in the evaluation %d", byVotes, right,
			e.Score.Correct)
	}
}

// If the terms of a model can't be words of a text, PredictTexts gives a warning that names
// PredictTerms. If no text has a known term, each call gives a warning.
func TestPredictTextsOfTerms(t *testing.T) {
	labels := []string{"x", "y"}
	for term, want := range map[string]bool{"net/http": true, "net": false} {
		var warnings []string
		o := gram.Options{Warn: func(s string) { warnings = append(warnings, s) }}
		c := gram.Must(gram.FromTerms([][]string{{term}, {term + "s"}}, labels))
		m := gram.Must(gram.Train(t.Context(), c, gram.TrainOptions{Kernel: "linear", C: 1})).WithOptions(o)
		gram.Must(m.PredictTexts(t.Context(), []string{"net"}))
		gram.Must(m.PredictTexts(t.Context(), []string{"of", "net"}))
		gram.Must(m.PredictTexts(t.Context(), []string{"of", "others"}))
		gram.Must(m.Predict(t.Context(), gram.Must(gram.FromTexts(t.Context(), []string{"of"}, nil,
			gram.ReadOptions{MinDF: 1}))))
		gram.Must(m.PredictTerms(t.Context(), [][]string{{"of"}}))
		all := strings.Join(warnings, "\n")
		empty := 3 // number of calls
		if want {
			empty = 5
		}
		if strings.Count(all, "PredictTerms") != len(warnings)-empty || strings.Contains(all, "PredictTerms") != want ||
			strings.Count(all, "no known word in any of the") != empty {
			t.Errorf("%s: warnings %q", term, all)
		}
	}
}

// A text isn't empty if only its second view has known terms.
func TestEmptyByAllViews(t *testing.T) {
	cut := corpus.Tokenizer{Views: "word + char_wb:ngrams=2..3"}
	texts := []string{"rivers and capitals", "poets and painters", "rivers and lakes", "poets and authors"}
	o := gram.ReadOptions{Tokenizer: cut, MinDF: 1}
	c := gram.Must(gram.FromTexts(t.Context(), texts, []string{"a", "b", "a", "b"}, o))
	m := gram.Must(gram.Train(t.Context(), c, gram.TrainOptions{Kernel: "linear", C: 1}))
	p := gram.Must(m.PredictTexts(t.Context(), []string{"riversx", "rivers", "qqq"}))
	if want := []bool{false, false, true}; !slices.Equal(p.Empty, want) || p.KnownWordCounts[0] == 0 ||
		p.KnownWordCounts[2] != 0 {
		t.Errorf("empty %v, known %v, expected %v and known terms of the first alone", p.Empty, p.KnownWordCounts, want)
	}
}
