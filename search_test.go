package gram_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gramengine/gram"
	"github.com/gramengine/gram/internal/musttest"
	"github.com/gramengine/gram/learn"
)

// A search of texts finds the terms, too, and its options train with them.
func TestSearchOfTexts(t *testing.T) {
	var texts, labels []string
	for i := range 120 {
		pair := [2]string{"red fox", "fox red"}[i%2]
		texts, labels = append(texts, fmt.Sprintf("w%c %s x%c", 'a'+i%7, pair, 'a'+i%11)), append(labels, fmt.Sprint(i%2))
	}
	ctx := t.Context()
	c := musttest.Get(gram.Texts(ctx, texts, labels, gram.ReadOptions{}))(t)
	found := musttest.Get(gram.Search(ctx, c, gram.SearchOptions{Folds: 3}))(t)
	if len(found.Worths) == 0 || found.Train.Terms == nil || found.Points[found.Best].Mean < 0.99 {
		t.Fatalf("found %+v, with %+v, expected pairs of words", found.Train, found.Points[found.Best])
	}
	for _, terms := range []*learn.Terms{found.Train.Terms, nil} {
		what := "word " // and no more
		if terms != nil {
			what = "word:ngrams=1..2"
		}
		o := found.Train
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

// A search of documents of one class is the error that training and validation are.
func TestSearchOfOneClass(t *testing.T) {
	texts, _ := ordered(120)
	labels := make([]string, len(texts))
	for i := range labels {
		labels[i] = "all"
	}
	c := gram.Must(gram.Texts(t.Context(), texts, labels, gram.ReadOptions{}))
	for _, kind := range []string{"", "nu_svc", "logistic", "linear", "landmark"} {
		o := gram.TrainOptions{Type: kind}
		_, searched := gram.Search(t.Context(), c, gram.SearchOptions{TrainOptions: o})
		_, validated := gram.CrossValidate(t.Context(), c, gram.ValidateOptions{TrainOptions: o})
		_, trained := gram.Train(t.Context(), c, o)
		for _, err := range []error{searched, validated, trained} {
			if err == nil || !strings.Contains(err.Error(), "1 class") {
				t.Errorf("%q: %v, expected an error that says there is one class", kind, err)
			}
		}
	}
}

// A regression of texts chooses their terms, too; CrossValidate with what Search found has its figure, in the unit of
// the targets, and a training without options is as good.
func TestSearchOfNumbers(t *testing.T) {
	var texts, labels []string
	for i := range 150 {
		pair := [2]string{"red fox", "fox red"}[i%2]
		texts = append(texts, fmt.Sprintf("w%c %s x%c", 'a'+i%7, pair, 'a'+i%11))
		labels = append(labels, fmt.Sprint(1000*(i%2)+200*(i%7)))
	}
	ctx := t.Context()
	c := musttest.Get(gram.Texts(ctx, texts, labels, gram.ReadOptions{}))(t)
	o := gram.TrainOptions{Type: "epsilon_svr"}
	found := musttest.Get(gram.Search(ctx, c, gram.SearchOptions{TrainOptions: o, Folds: 3}))(t)
	best := found.Points[found.Best]
	if u := found.Train; u.Terms == nil || !(u.Epsilon >= 18) || u.Tolerance != 0.7 || !(best.Mean < 10_000) {
		t.Errorf("found %+v with an error of %v, expected one below 100² and units of 700", u, best.Mean)
	}
	m := musttest.Get(gram.Train(ctx, c, found.Train))(t)
	chosen := musttest.Get(gram.Train(ctx, c, o))(t)
	for what, m := range map[string]*gram.Model{"found": m, "chosen": chosen} {
		p := musttest.Get(m.Predict(ctx, c))(t)
		if !(p.Values[1]-p.Values[0] > 1000) {
			t.Errorf("%s: %v, expected about 0 and 1200", what, p.Values[:2])
		}
	}
}
