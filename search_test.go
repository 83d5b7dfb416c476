package gram_test

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gramengine/gram"
	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/internal/musttest"
)

// A search on texts also chooses the terms. Train with the resulting options uses these terms.
func TestSearchOfTexts(t *testing.T) {
	texts, labels := ordered(120)
	ctx := t.Context()
	c := musttest.Get(gram.FromTexts(ctx, texts, labels, gram.ReadOptions{}))(t)
	found := musttest.Get(gram.Search(ctx, c, gram.SearchOptions{Folds: 3}))(t)
	if len(found.Ablations) == 0 || found.TrainOptions.Terms == nil || found.Points[found.BestIndex].Mean < 0.99 {
		t.Fatalf("found %+v, with %+v, expected pairs of words", found.TrainOptions, found.Points[found.BestIndex])
	}
	for i, p := range found.Points {
		if d := p.ToBest; (d == nil) != (i == found.BestIndex) ||
			d != nil && !(math.Abs(d.Mean-(p.Mean-found.Points[found.BestIndex].Mean)) <= 1e-12) || p.SE != p.SD/math.Sqrt(3) {
			t.Errorf("point %d: mean %v, standard error %v, difference to the best %+v", i, p.Mean, p.SE, d)
		}
	}
	for _, terms := range []*corpus.TermOptions{found.TrainOptions.Terms, nil} {
		what := "word " // only words
		if terms != nil {
			what = "word:ngrams=1..2"
		}
		o := found.TrainOptions
		o.Terms = terms
		m, err := gram.Train(ctx, c, o)
		if err != nil || !strings.Contains(m.About().Tokenizer.String()+" ", what) {
			t.Fatalf("trained with %v on %s, %v, expected %s", terms, m.About().Tokenizer, err, what)
		}
		v, err := gram.CrossValidate(ctx, c, gram.ValidateOptions{TrainOptions: o, Folds: 3})
		if err != nil || terms != nil && !(v.Mean > 0.99) || terms == nil && !(v.Mean <= 0.99) {
			t.Errorf("with %v %v, %v, expected 1 with pairs alone", terms, v.Mean, err)
		}
	}
}

// A search on documents of one class gives the same error as Train and CrossValidate.
func TestSearchOfOneClass(t *testing.T) {
	texts, _ := ordered(120)
	labels := musttest.MakeSlice(len(texts), func(i int) string { return "all" })
	c := gram.Must(gram.FromTexts(t.Context(), texts, labels, gram.ReadOptions{}))
	for _, kind := range []string{"", "nu_svc", "logistic", "linear", "landmark"} {
		for _, err := range trainings(t, c, gram.TrainOptions{Type: kind}) {
			musttest.WantError(err)(t, kind, "1 class")
		}
	}
}

// A search for a regression also chooses terms. CrossValidate with its options gives the same
// error, in the unit of the targets, and Train without options is as good.
func TestSearchOfNumbers(t *testing.T) {
	texts, _ := ordered(150)
	labels := musttest.MakeSlice(150, func(i int) string { return fmt.Sprint(1000*(i%2) + 200*(i%7)) })
	ctx := t.Context()
	c := musttest.Get(gram.FromTexts(ctx, texts, labels, gram.ReadOptions{}))(t)
	o := gram.TrainOptions{Type: "epsilon_svr"}
	found := musttest.Get(gram.Search(ctx, c, gram.SearchOptions{TrainOptions: o, Folds: 3}))(t)
	best := found.Points[found.BestIndex]
	if u := found.TrainOptions; u.Terms == nil || !(u.Epsilon >= 18) || u.Tolerance != 0.7 || !(best.Mean < 10_000) {
		t.Errorf("found %+v with an error of %v, want one below 100² and units of 700", u, best.Mean)
	}
	m := musttest.Get(gram.Train(ctx, c, found.TrainOptions))(t)
	chosen := musttest.Get(gram.Train(ctx, c, o))(t)
	for what, m := range map[string]*gram.Model{"found": m, "chosen": chosen} {
		p := musttest.Get(m.Predict(ctx, c))(t)
		if !(p.Values[1]-p.Values[0] > 1000) {
			t.Errorf("%s: %v, expected about 0 and 1200", what, p.Values[:2])
		}
	}
}

// On tf-idf vectors of real messages, defaults are at most two points below the linear kernel, and
// a warning names the detected kind of values.
func TestWeightsOfTerms(t *testing.T) {
	musttest.SkipRace(t)
	path := filepath.Join("..", "shared", "data", "20news-bydate", "train.tsv.gz")
	if _, err := os.Stat(path); err != nil {
		t.Skip("20 Newsgroups isn't here: ", err)
	}
	whole := musttest.Get(gram.Read(t.Context(), path, gram.ReadOptions{MinDF: 2}))(t)
	var part [2]*gram.CorpusBuilder // training and test documents
	for k := range part {
		var rows []int
		for i := range 2000 {
			rows = append(rows, i*whole.Documents.Rows()/2000+k) // evenly spaced, because the corpus is sorted by class
		}
		part[k] = weighted(t, whole, rows)
	}
	train, test := part[0].Corpus(), part[1].Corpus()
	accuracy := func(o gram.TrainOptions) float64 {
		m := musttest.Get(gram.Train(t.Context(), train, o))(t)
		return musttest.Get(m.Evaluate(t.Context(), test, gram.EvaluateOptions{}))(t).Score.Accuracy
	}
	validated := func(o gram.TrainOptions) float64 {
		return musttest.Get(gram.CrossValidate(t.Context(), train, gram.ValidateOptions{TrainOptions: o}))(t).Mean
	}
	for _, q := range []struct {
		what    string
		o       gram.TrainOptions
		measure func(gram.TrainOptions) float64

		warnings int
	}{
		{"cv", gram.TrainOptions{}, validated, 1},
		{"knn", gram.TrainOptions{Type: "knn"}, validated, 1},
		{"landmark", gram.TrainOptions{Type: "landmark:m=512"}, validated, 1},
		{"KernelSVC", gram.TrainOptions{C: 1, Scheme: "one-vs-rest", ChooseWork: -1}, accuracy, 2},
		{"train", gram.TrainOptions{}, accuracy, 2},
	} {
		var warnings []string
		q.o.Warn = func(w string) { warnings = append(warnings, w) }
		own := q.measure(q.o)
		q.o.Warn = nil
		if q.o.Kernel = "linear"; q.what == "train" {
			q.o.ChooseWork = -1
		}
		linear := q.measure(q.o)
		t.Logf("%s: %.4f, linear %.4f", q.what, own, linear)
		if !(own >= linear-0.02) {
			t.Errorf("%s: accuracy %.4f, expected at least %.4f - 0.02", q.what, own, linear)
		}
		want := []string{"term weights", "does not know their columns"}[:q.warnings]
		if !slices.EqualFunc(warnings, want, strings.Contains) {
			t.Errorf("%s: warnings %q, expected %q", q.what, warnings, want)
		}
	}
}

// weighted returns tf-idf vectors of length 1 of some documents of a corpus.
func weighted(t *testing.T, c *corpus.Corpus, documents []int) *gram.CorpusBuilder {
	t.Helper()
	terms, found := c.Documents.TermFrequencies()
	idf := make([]float64, c.Documents.Cols)
	for k, term := range terms {
		idf[term] = 1 + math.Log(float64(1+c.Documents.Rows())/float64(1+found[k]))
	}
	r := gram.NewCorpusBuilder(c.Documents.Cols)
	for _, i := range documents {
		columns, counts := c.Documents.Row(i)
		values, length := make([]float64, len(counts)), 0.0
		for k, v := range counts {
			values[k] = float64(v) * idf[columns[k]]
			length += values[k] * values[k]
		}
		for k := range values {
			values[k] /= math.Sqrt(length)
		}
		musttest.NoError(t, r.Add(columns, values, c.Classes[c.Labels.Classes(i)[0]]))
	}
	return r
}
