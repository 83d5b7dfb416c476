package serve

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/gramengine/gram"
	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/corpus/token"
	"github.com/gramengine/gram/internal/learn"
	"github.com/gramengine/gram/internal/musttest"
)

// A rejected prediction names the most probable class and its probability.
func TestRefused(t *testing.T) {
	s, _, _ := serving(t, 3, 40, 20, gram.TrainOptions{Kernel: "linear", C: 1, Reject: "coverage=50%"})
	l := s.current.Load()
	p := gram.Must(l.model.PredictTexts(t.Context(), []string{"never seen before"}))
	got := l.prediction(p, 0)
	_, is := l.classes[got.SecondClass]
	if !slices.Equal(got.Labels, []string{"?"}) || !is || !strings.HasPrefix(got.Note, learn.NoKnownTerm+"; ") {
		t.Fatalf("%+v, expected a refusal with the class that it would be", got)
	}
	says := regexp.MustCompile(`^No answer: the most probable class is (\w+) ` +
		`\((0\.\d\d), below the threshold (0\.\d{1,3})\)$`)
	refusal := got.rejectionReason()
	m := says.FindStringSubmatch(refusal)
	if m == nil || m[1] != got.SecondClass || m[2] >= m[3] || got.Threshold != l.model.About().MinProbability ||
		!(*got.Probability < got.Threshold) {
		t.Errorf("it says %q, expected %s, its probability and the threshold %v", refusal, got.SecondClass, got.Threshold)
	}
	page := bodyOf(t, ask(s, "POST", "/", formType, "text=never+seen+before"))
	if !strings.Contains(page, "<h2>"+refusal+"</h2>") || !strings.Contains(page, "<td>closest</td>") {
		t.Errorf("the page lacks %q:\n%s", refusal, page)
	}
	if got.Probability == nil || *got.Probability != slices.Max(p.Probabilities[0]) {
		t.Errorf("%+v, expected the greatest probability of %v", got, p.Probabilities[0])
	}
}

// Words are counted over all views, in any order of the views: all known, none, or half of them.
func TestWordsOfAllViews(t *testing.T) {
	const half = "less than half of the words"
	for _, form := range []string{
		"", "words", "words + chars:3", "chars:3 + words", "words:1..2 + words", "chars:2..3 + words:2..2",
		"2*words + chars:4",
	} {
		var read gram.ReadOptions
		if read.MinDF = 1; form != "" {
			read.Tokenizer = gram.Must(token.ParseViews(form))
		}
		c := gram.Must(gram.FromTexts(t.Context(), texts, labels, read))
		file := filepath.Join(t.TempDir(), "a.model")
		musttest.NoError(t, gram.Must(gram.Train(t.Context(), c, gram.TrainOptions{Kernel: "linear", C: 1})).Save(file))
		l := musttest.Get((&serveFlags{model: file}).load(t.Context()))(t)
		for text, want := range map[string]func(known, words int) bool{
			"red green blue":           func(known, words int) bool { return known == words && known >= 3 },
			"zzzz vvvv":                func(known, words int) bool { return known == 0 && words >= 1 },
			"red green zzzz vvvv wwww": func(known, words int) bool { return known >= 1 && 2*known < words },
		} {
			p := gram.Must(l.model.PredictTexts(t.Context(), []string{text}))
			got := l.prediction(p, 0)
			shown := gram.Must(l.sections(t.Context(), corpus.Raw{Texts: []string{text}}))
			if !want(got.NumKnownWords, got.NumWords) || strings.Contains(shown[0].Note, half) != (got.NumKnownWords > 0 &&
				got.NumKnownWords < got.NumWords) {
				t.Errorf("views %q, %q: %d of %d words known; %q", form, text, got.NumKnownWords, got.NumWords, shown[0].Note)
			}
		}
		// swapped views give the same counts
		if one, other, ok := strings.Cut(form, " + "); ok {
			count := func(form string) (known, words int) {
				read.Tokenizer = gram.Must(token.ParseViews(form))
				c := gram.Must(gram.FromTexts(t.Context(), texts, labels, read))
				m := gram.Must(gram.Train(t.Context(), c, gram.TrainOptions{Kernel: "linear", C: 1}))
				p := gram.Must(m.PredictTexts(t.Context(), []string{"red salt zzzz"}))
				return p.KnownWordCounts[0], p.WordCounts[0]
			}
			k, w := count(form)
			if known, words := count(other + " + " + one); known != k || words != w {
				t.Errorf("views %q: %d of %d, swapped %d of %d", form, k, w, known, words)
			}
		}
	}
}
