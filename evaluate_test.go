package gram_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/gramengine/gram"
	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/corpus/token"
	"github.com/gramengine/gram/internal/musttest"
)

// mixed returns documents of three classes with shared words, so that some predictions are wrong.
func mixed(t *testing.T, from, n int) *corpus.Corpus {
	t.Helper()
	var texts, labels []string
	for i := from; i < from+n; i++ {
		class := i % 3
		var words []string
		for k := range 5 {
			words = append(words, fmt.Sprintf("Wort%c%c", 'a'+(class*2+(i*(k+3)+k*k)%13)%26, 'a'+(i*k)%2))
		}
		texts, labels = append(texts, strings.Join(words, ", ")+"."), append(labels, fmt.Sprintf("class%d", (class+i%7/6)%3))
	}
	return gram.Must(gram.FromTexts(t.Context(), texts, labels, gram.ReadOptions{}))
}

func labelsOf(c *corpus.Corpus) (labels []string) {
	for i := range c.Documents.Rows() {
		labels = append(labels, c.Classes[c.Labels.Classes(i)[0]])
	}
	return labels
}

// The scores of an evaluation agree with their definitions. The effect of a word is the change in
// the decision value if the word is removed.
func TestEvaluate(t *testing.T) {
	train, test := mixed(t, 0, 90), mixed(t, 1000, 60)
	for _, o := range []gram.TrainOptions{
		{Type: "logistic", C: 1}, {Kernel: "diffusion:t=1", C: 1, Scheme: "one-vs-rest"},
		{Kernel: "linear:embed=tfidf-l2", C: 1, Scheme: "one-vs-one"}, {Type: "knn:k=3"},
		{Kernel: "diffusion:t=2", C: 10, Scheme: "one-vs-rest", Embedding: "tfidf-l1-sqrt"},
	} {
		m := gram.Must(gram.Train(t.Context(), train, o))
		if o.Embedding != "" { // a model that also has character n-grams
			views := gram.ReadOptions{Tokenizer: gram.Must(token.ParseViews("words + chars:2..3"))}
			m = gram.Must(gram.Train(t.Context(), gram.Must(gram.FromTexts(t.Context(), train.Texts, labelsOf(train), views)),
				o))
		}
		v := gram.Must(m.Evaluate(t.Context(), test, gram.EvaluateOptions{Mistakes: 5, Terms: 4}))
		p := gram.Must(m.PredictTexts(t.Context(), test.Texts))
		right := 0
		for i := range test.Texts {
			if is := p.Label(i) == test.Classes[test.Labels.Classes(i)[0]]; is != v.Outcomes[i].Correct {
				t.Errorf("%+v: document %d right: %v", o, i, v.Outcomes[i].Correct)
			} else if is {
				right++
			}
		}
		if v.Score.Correct != right || right == len(test.Texts) || len(v.Mistakes) != min(5, len(test.Texts)-right) {
			t.Fatalf("%+v: %d right, expected %d, not all; %d mistakes", o, v.Score.Correct, right, len(v.Mistakes))
		}
		last := v.CoverageCurve[len(v.CoverageCurve)-1]
		if last.Fraction != 1 || !(math.Abs(last.ErrorRate-1+v.Score.Accuracy) <= 1e-12) {
			t.Errorf("%+v: coverage ends at %+v, accuracy %v", o, last, v.Score.Accuracy)
		}
		for _, at := range v.CoverageCurve {
			surer, wrong := 0.0, 0.0
			for _, x := range v.Outcomes {
				if x.Confidence >= at.Confidence {
					if surer++; !x.Correct {
						wrong++
					}
				}
			}
			if !(math.Abs(at.Fraction-surer/60) <= 1e-12) || !(math.Abs(at.ErrorRate-wrong/surer) <= 1e-12) {
				t.Fatalf("%+v: %+v, expected part %v and error %v", o, at, surer/60, wrong/surer)
			}
		}
		for k, x := range v.Mistakes {
			text, margin := test.Texts[x.Document], v.Outcomes[x.Document].Margin
			if k > 0 && v.Outcomes[x.Document].Confidence > v.Outcomes[v.Mistakes[k-1].Document].Confidence {
				t.Errorf("%+v: mistake %d is worse than the one before", o, k)
			}
			if o.Type == "logistic" {
				checkWords(t, m, text, x.Explanation.Terms[0].Term, x.Explanation.Label, x.Explanation.SecondClass,
					x.Explanation.Terms[0].Effect)
			}
			if !(math.Abs(x.Explanation.Value-margin) <= 1e-6*(1+math.Abs(margin))) {
				t.Errorf("%+v: decision value %v, explained as %v", o, margin, x.Explanation.Value)
			}
			if len(x.Explanation.Terms) > 0 && len(x.Occurrences) == 0 {
				t.Errorf("%+v: no word of mistake %d is marked", o, k)
			}
			for _, at := range x.Occurrences {
				if word := strings.ToLower(text[at.Start:at.End]); at.Effect == 0 || !slices.ContainsFunc(x.Explanation.Terms,
					func(e gram.TermEffect) bool { return e.Term == word && e.Effect == at.Effect }) {
					t.Errorf("%+v: mark %+v of %q", o, at, word)
				}
			}
		}
		if (p.Probabilities == nil) != math.IsNaN(v.Score.ECE) {
			t.Errorf("%+v: calibration error %v", o, v.Score.ECE)
		}
	}
}

// checkWords compares the effect of a word with the prediction for the text without the word.
func checkWords(t *testing.T, m *gram.Model, text, word, label, against string, effect float64) {
	t.Helper()
	var rest []string
	for w := range strings.SplitSeq(strings.TrimSuffix(text, "."), ", ") {
		if !strings.EqualFold(w, word) {
			rest = append(rest, w)
		}
	}
	p := gram.Must(m.PredictTexts(t.Context(), []string{text, strings.Join(rest, " ")}))
	a, b := slices.Index(p.DecisionFunctions, label), slices.Index(p.DecisionFunctions, against)
	f := func(i int) float64 { return p.Scores[i][a] - p.Scores[i][b] }
	if want := f(0) - f(1); !(math.Abs(effect-want) <= 1e-9) {
		t.Errorf("effect of %q %v, expected %v", word, effect, want)
	}
}

// For label sets, a mistake is the most confidently wrong label, and its explanation is for this
// label.
func TestEvaluateLabels(t *testing.T) {
	train, test := mixed(t, 0, 90), mixed(t, 1000, 60)
	several := func(c *corpus.Corpus) *corpus.Corpus {
		own := labelsOf(c)
		for i := range own {
			if more := fmt.Sprint("class", (i+1)%3); i%4 == 0 && more != own[i] {
				own[i] += "," + more
			}
		}
		return gram.Must(gram.FromTexts(t.Context(), c.Texts, own, gram.ReadOptions{}))
	}
	train, test = several(train), several(test)
	m := gram.Must(gram.Train(t.Context(), train, gram.TrainOptions{Kernel: "diffusion:t=1", C: 1, Scheme: "labels"}))
	v := gram.Must(m.Evaluate(t.Context(), test, gram.EvaluateOptions{Mistakes: 20}))
	p := gram.Must(m.PredictTexts(t.Context(), test.Texts))
	missed := 0
	for _, x := range v.Mistakes {
		worst, sure := "", 0.0
		for k, name := range p.DecisionFunctions {
			given := p.Scores[x.Document][k] > 0
			truth := false
			for _, id := range test.Labels.Classes(x.Document) {
				truth = truth || test.Classes[id] == name
			}
			if f := math.Abs(p.Scores[x.Document][k]); given != truth && f > sure {
				if worst, sure = name, f; !given {
					worst = "not " + name
				}
			}
		}
		if x.WrongLabel != worst || x.Explanation.Label != worst || !(math.Abs(x.Explanation.Value-sure) <= 1e-6*sure) ||
			v.Outcomes[x.Document].Confidence != sure {
			t.Errorf("document %d: wrong %q, explained %q %v, confidence %v, expected %q %v", x.Document, x.WrongLabel,
				x.Explanation.Label,
				x.Explanation.Value, v.Outcomes[x.Document].Confidence, worst, sure)
		}
		if strings.HasPrefix(worst, "not ") {
			missed++
		}
	}
	own := gram.Must(m.Evaluate(t.Context(), train, gram.EvaluateOptions{Mistakes: -1}))
	i := slices.IndexFunc(own.Outcomes, func(x gram.Outcome) bool { return x.Correct && x.PredictedLabel != "" })
	stranger := gram.Must(gram.FromTexts(t.Context(), train.Texts[i:i+1], []string{own.Outcomes[i].TrueLabel + ",unknown"},
		gram.ReadOptions{}))
	other := gram.Must(m.Evaluate(t.Context(), stranger, gram.EvaluateOptions{}))
	if len(other.Mistakes) != 1 || other.Mistakes[0].WrongLabel != "" || other.Outcomes[0].Confidence != 0 {
		t.Errorf("of a label that the model doesn't know: %+v, confidence %v", other.Mistakes, other.Outcomes[0].Confidence)
	}
	if missed == 0 || missed == len(v.Mistakes) {
		t.Errorf("%d of %d mistakes are labels that are missed, want some", missed, len(v.Mistakes))
	}
}

// Near copies of training documents are reported.
func TestEvaluateCopies(t *testing.T) {
	train, test := mixed(t, 0, 90), mixed(t, 1000, 60)
	texts := append(slices.Clone(test.Texts), strings.ToUpper(train.Texts[7]), "nothing known",
		train.Texts[8], train.Texts[9]+" and words that the model lacks")
	labels := musttest.MakeSlice(len(texts), func(i int) string { return fmt.Sprintf("class%d", i%3) })
	more := gram.Must(gram.FromTexts(t.Context(), texts, labels, gram.ReadOptions{}))
	m := gram.Must(gram.Train(t.Context(), train, gram.TrainOptions{Kernel: "linear", C: 1}))
	// A training text without known words isn't near any other text.
	all := gram.Must(gram.FromTexts(t.Context(), append(slices.Clone(train.Texts), "unheard of"),
		append(labelsOf(train), "class0"), gram.ReadOptions{}))
	v := gram.Must(m.Evaluate(t.Context(), more, gram.EvaluateOptions{Mistakes: -1, Training: all}))
	near := map[int]int{61: -1, 63: -1}
	for _, c := range v.NearDuplicates {
		near[c.Document] = c.TrainingDocument
	}
	if near[60] != 7 || near[62] != 8 || near[61] != -1 || near[63] != -1 || len(v.Mistakes) != 0 {
		t.Errorf("copies %+v, expected 60 of 7 and 62 of 8", v.NearDuplicates)
	}
	unlabelled := gram.Must(gram.FromTexts(t.Context(), texts, nil, gram.ReadOptions{}))
	musttest.WantError(m.Evaluate(t.Context(), unlabelled, gram.EvaluateOptions{}))(t,
		"no labels", "has no labels, but none of the model's labels")
}
