package learn

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/corpus/token"
	"github.com/gramengine/gram/internal/learn/model"
	"github.com/gramengine/gram/internal/learn/tune"
	"github.com/gramengine/gram/internal/musttest"
)

// inOrder returns texts of two classes that differ only in word order.
func inOrder(n int) (texts, labels []string) {
	r := rand.New(rand.NewPCG(3, 4))
	for i := range n {
		var b strings.Builder
		for range 6 {
			pair := []string{"red", "fox"}
			if i%2 == 0 {
				pair = []string{"fox", "red"}
			}
			fmt.Fprintf(&b, "w%c %s x%c ", 'a'+r.IntN(20), strings.Join(pair, " "), 'a'+r.IntN(20))
		}
		texts, labels = append(texts, b.String()), append(labels, fmt.Sprint(i%2))
	}
	return texts, labels
}

// If classes differ only in word pairs, and texts were kept, training chooses word pairs, and the
// model tokenises as in training.
func TestTrainChoosesTerms(t *testing.T) {
	texts, labels := inOrder(400)
	ctx := context.Background()
	from := minReportedDocuments
	minReportedDocuments = 200
	t.Cleanup(func() { minReportedDocuments = from })
	for _, memory := range []int64{0, 1 << 30} {
		said := ""
		say := func(format string, args ...any) { said += fmt.Sprintf(format, args...) }
		c := musttest.Get(corpus.FromTexts(ctx, texts[:200], labels[:200],
			corpus.Options{KeepTextBytes: MaxKeptTextBytes(memory)}))(t)
		trainer := TrainerOf(t, string(model.CSVC))
		m := musttest.Get(trainer.Train(ctx, c, Options{WorkBudget: 1, Seed: 1, MemoryBytes: memory, Info: say}))(t)
		a := m.About()
		own := m.(KernelMachine)
		tried := own.Training.Search
		if want := own.Kernel + ", C = "; !strings.HasPrefix(said, "selected "+want) ||
			!strings.HasSuffix(said, tried.Tokenizers[tried.Choice.Tokenizer].String()+"; training on 200 documents") {
			t.Errorf("said %q", said)
		}
		if cut := own.Training.Search.Choice.Tokenizer; cut == 0 ||
			a.Tokenizer != own.Training.Search.Tokenizers[cut].Tokenizer {
			t.Fatalf("cut %d, tokenizer %s", cut, a.Tokenizer)
		}
		test := musttest.Get(corpus.FromTexts(ctx, texts[200:], labels[200:],
			corpus.Options{Vocabulary: a.Vocabulary, Tokenizer: a.Tokenizer}))(t)
		p := musttest.Get(m.Predict(ctx, test.Documents, Options{}))(t)
		score, err := a.Score(p, test)
		if err != nil || !(score.Accuracy >= 0.99) {
			t.Errorf("accuracy %v, %v, expected all but a document or two", score, err)
		}
	}
	// Without texts, or without memory for other tokenizers, single words are used.
	for _, opt := range []corpus.Options{{}, {KeepTextBytes: 10}} {
		c := musttest.Get(corpus.FromTexts(ctx, texts[:200], labels[:200], opt))(t)
		_, trainer, _ := Parse(string(model.CSVC))
		m := musttest.Get(trainer.Train(ctx, c, Options{WorkBudget: 1, Seed: 1}))(t)
		if own := m.(KernelMachine); own.Training.Search.Tokenizers != nil || own.Tokenizer != (corpus.Tokenizer{}) {
			t.Errorf("without texts: %v, tokenizer %s", own.Training.Search.Tokenizers, own.Tokenizer)
		}
	}
}

// If number columns have no width, training chooses a width: the larger width for a smooth target.
// Scales are computed from all documents.
func TestTrainChoosesWidth(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	var labels []string
	var rows [][]string
	for range 300 {
		x := [4]float64{r.Float64(), r.Float64(), r.Float64(), r.Float64()}
		rows = append(rows, strings.Fields(fmt.Sprint(x[0], x[1], x[2], x[3])))
		labels = append(labels, fmt.Sprint(math.Sin(3*x[0]*x[1])+x[2]*x[3]))
	}
	ctx := t.Context()
	// A row in which b, c and d are missing gives terms of one document.
	rows, labels = append(rows, []string{"7", "", "", ""}), append(labels, "2")
	for views, widths := range map[string]int{"a,b,c,d=numbers": 2, "a,b,c,d=numbers:width=1": 0} {
		c := musttest.Get(corpus.FromRows(ctx, []string{"a", "b", "c", "d"}, rows, labels, corpus.Options{
			KeepTextBytes: MaxKeptTextBytes(0), MinDF: 1, Tokenizer: musttest.Get(token.ParseViews(views))(t)}))(t)
		trainer := TrainerOf(t, string(model.EpsilonSVR))
		own := musttest.Get(trainer.Train(ctx, c, Options{WorkBudget: 1, Seed: 1}))(t).(KernelMachine)
		if len(own.Training.Search.Tokenizers) != widths {
			t.Errorf("%s: compared %v", views, own.Training.Search.Tokenizers)
		}
		if want := c.Tokenizer.WithWidth(2); widths > 0 && (own.Tokenizer != want ||
			own.Training.Search.Tokenizers[1].String() != "a,b,c,d=numbers:width=2") {
			t.Errorf("chose %s of %v, expected %s", own.Tokenizer, own.Training.Search.Tokenizers, want)
		}
		if !slices.Contains(own.Vocabulary, "\x01b\x00-1") {
			t.Errorf("the documents of the width that was chosen have the terms %q, expected those of one document, too",
				own.Vocabulary)
		}
		tried := [2]int{}
		first := own.Training.Search.Choice.Rounds[0]
		for _, p := range first.Points {
			tried[p.Tokenizer]++
		}
		if widths > 0 && (first.Parameter != "kernel" || tried[0] < 5 || tried[1] != tried[0] || first.DocumentCount < 200) {
			t.Errorf("the first round compares %d and %d candidates by %s on %d documents, expected all kernels of both widths",
				tried[0], tried[1], first.Parameter, first.DocumentCount)
		}
		cs := map[int]map[float64]bool{0: {}, 1: {}} // values of C that the round of C tries with each width
		for _, r := range own.Training.Search.Choice.Rounds {
			for _, p := range r.Points {
				if r.Parameter == "C" {
					cs[p.Tokenizer][p.C] = true
				}
			}
		}
		if widths > 0 && !(len(cs[0]) >= len(candidateRegressionCs) && len(cs[1]) >= len(candidateRegressionCs)) {
			t.Errorf("%s: the round of C tried %v", views, cs)
		}
		if got := searchTerms(c); len(got) != max(widths+widths/2, 1) { // widths 1, 2 and 3, or the given width
			t.Errorf("%s: a search compares %v", views, got)
		}
	}
}

// In classification, only the two best candidates are tried with each C, regardless of their
// widths.
func TestWidthOfClasses(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 3))
	var labels []string
	var rows [][]string
	for range 300 {
		a, b := r.Float64(), r.Float64()
		rows = append(rows, []string{fmt.Sprint(a), fmt.Sprint(b)})
		labels = append(labels, fmt.Sprint(a*b+0.1*r.NormFloat64() > 0.25))
	}
	c := musttest.Get(corpus.FromRows(t.Context(), []string{"a", "b"}, rows, labels, corpus.Options{
		KeepRowBytes: 1 << 20, Tokenizer: musttest.Get(token.ParseViews("a,b=numbers"))(t)}))(t)
	_, trainer, _ := Parse(string(model.CSVC))
	own := musttest.Get(trainer.Train(t.Context(), c, Options{WorkBudget: 1, Seed: 1}))(t).(KernelMachine)
	points := 0
	for _, r := range own.Training.Search.Choice.Rounds {
		if r.Parameter == "C" {
			points = len(r.Points)
		}
	}
	most := 2*len(candidateCs) + 2 // and half and twice t
	if len(own.Training.Search.Tokenizers) != 2 || points == 0 || points > most {
		t.Errorf("%v: %d points in the round of C, expected at most %d", own.Training.Search.Tokenizers, points, most)
	}
}

// A search compares all tokenizers with all kernels, reports each component's gain, and trains the
// best.
func TestSearchTerms(t *testing.T) {
	texts, labels := inOrder(400)
	ctx := t.Context()
	c := musttest.Get(corpus.FromTexts(ctx, texts[:200], labels[:200],
		corpus.Options{KeepTextBytes: MaxKeptTextBytes(0)}))(t)
	o := Options{WorkBudget: SearchWorkBudget, Seed: 1}
	l, trainer, err := Parse("")
	musttest.NoError(t, err)
	g := musttest.Get(NewGrid(l, trainer, nil, o))(t)
	g.Folds = 4
	found := musttest.Get(Search(ctx, c, g, o))(t)
	if want := searchTerms(c); len(found.Tokenizers) != 8 || !slices.Equal(found.Tokenizers, want) {
		t.Errorf("compared %v, expected %v", found.Tokenizers, want)
	}
	tried := map[string]int{}
	for _, p := range found.Choice.Rounds[0].Points {
		tried[found.Tokenizers[p.Tokenizer].String()]++
	}
	if len(tried) != 8 || tried["word"] < 12 || tried["word:ngrams=1..2, min-df 1"] < 12 {
		t.Errorf("the first round tried %v, expected all kernels on all terms", tried)
	}
	worths := map[string]Ablation{}
	for _, w := range found.Ablations() {
		worths[w.Component] = w
	}
	pairs := worths["word:ngrams=1..2"]
	if len(worths) != 4 || !(pairs.BestWith.Mean > 0.95 && pairs.Mean > 0.2) ||
		!(math.Abs(pairs.Mean-(pairs.BestWith.Mean-pairs.BestWithout.Mean)) < 1e-12) || !(pairs.SE > 0 && pairs.SE < 0.1) {
		t.Errorf("pairs of words are worth %+v, of %v", pairs, worths)
	}
	m := musttest.Get(found.Train(ctx, c, g, o))(t)
	if a := m.About(); a.Tokenizer != found.Tokenizers[found.Points[found.BestIndex].Tokenizer].Tokenizer {
		t.Errorf("the best was trained on %s, expected its terms", a.Tokenizer)
	}
	musttest.WantError((&SearchResult{BestIndex: -1}).Train(ctx, c, g, o))(t, "training the best of no points")
}

// If memory doesn't suffice for other tokenizers, a search warns and compares only the corpus's
// tokenizer.
func TestSearchWithoutOtherTerms(t *testing.T) {
	texts, labels := inOrder(200)
	c := musttest.Get(corpus.FromTexts(t.Context(), texts[:100], labels[:100], corpus.Options{}))(t)
	warned := ""
	o := Options{WorkBudget: 1, Seed: 1, Warn: func(format string, args ...any) { warned = fmt.Sprintf(format, args...) }}
	l, trainer, err := Parse("")
	musttest.NoError(t, err)
	g := musttest.Get(NewGrid(l, trainer, nil, o))(t)
	g.TokenizerCount = 2
	g.Corpus = func(context.Context, int) (*corpus.Corpus, error) { return nil, &corpus.MemoryError{Source: "x"} }
	found := musttest.Get(Search(t.Context(), c, g, o))(t)
	if found.BestIndex < 0 || found.Choice.Tokenizer != 0 || !strings.Contains(warned, "only one tokenizer was tried: ") {
		t.Errorf("%+v, warning %q", found, warned)
	}
}

// If memory doesn't suffice for the chosen SVM, training falls back to linear models, with a
// warning. If settings require an SVM, training fails.
func TestTrainFallsToLinear(t *testing.T) {
	texts, labels := inOrder(3000)
	c := musttest.Get(corpus.FromTexts(t.Context(), texts, labels, corpus.Options{}))(t)
	trainer := TrainerOf(t, string(model.CSVC))
	warned := ""
	o := Options{WorkBudget: 1, Seed: 1, MemoryBytes: 1 << 20, Workers: 1, Warn: func(format string, args ...any) {
		warned = fmt.Sprintf(format, args...)
	}}
	m, err := trainer.Train(t.Context(), c, o)
	if err != nil || m.About().Type != "linear" || !strings.Contains(warned, "training linear SVMs instead") {
		t.Errorf("%v, warned %q, expected linear SVMs", err, warned)
	}
	none, little := o, o
	none.WorkBudget, little.MemoryBytes = 0, 1<<10
	for i, given := range []struct {
		spec string
		o    Options
	}{{"c_svc:kernel=linear", o}, {"c_svc:c=1", o}, {"c_svc", none}, {"c_svc", little}, {"c_svc:probabilities=1", o}} {
		trainer := TrainerOf(t, given.spec)
		if _, err := trainer.Train(t.Context(), c, given.o); !isMemoryError(err) {
			t.Errorf("case %d: %v, expected a refusal for memory", i, err)
		}
	}
}

// With many documents, linear models are reported if they are as good as the chosen SVM.
func TestLineAlternative(t *testing.T) {
	before := minLinearDocuments
	defer func() { minLinearDocuments = before }()
	ctx := t.Context()
	var apart, crossed, labels []string // one word identifies the class, or only two words together
	for i := range 400 {
		a, b := i%2, i/2%2
		labels = append(labels, fmt.Sprint(a^b))
		apart = append(apart, []string{"odd", "even"}[a^b]+[]string{" red", " blue"}[b])
		crossed = append(crossed, []string{"odd", "even"}[a]+[]string{" red", " blue"}[b])
	}
	for i, q := range []struct {
		texts []string
		many  int
		named bool
	}{{apart, 400, true}, {apart, 401, false}, {crossed, 400, false}} {
		minLinearDocuments = q.many
		c := musttest.Get(corpus.FromTexts(ctx, q.texts, labels, corpus.Options{}))(t)
		said := ""
		say := func(format string, args ...any) { said = fmt.Sprintf(format, args...) }
		m := musttest.Get(newSVMTrainer(model.CSVC).Train(ctx, c, Options{WorkBudget: 1, Seed: 1, Info: say}))(t)
		own := m.(KernelMachine).Training
		if q.named != strings.HasPrefix(said, "-type linear has accuracy 100") {
			t.Errorf("case %d: said %q", i, said)
		}
		last := own.Search.Choice.Rounds[len(own.Search.Choice.Rounds)-1]
		if q.named != (own.LinearAlternative != nil) || q.named && own.LinearAlternative.Mean != 1 ||
			len(own.Search.Choice.Sample) != last.DocumentCount || last.Points[last.BestIndex].Mean != 1 {
			t.Errorf("case %d: linear models %+v, %d documents, the best %+v", i, own.LinearAlternative,
				len(own.Search.Choice.Sample),
				last.Points[last.BestIndex])
		}
	}
	minLinearDocuments = 400 // regressions report no linear models
	c := musttest.Get(corpus.FromTexts(ctx, apart, labels, corpus.Options{}))(t)
	m := musttest.Get(newSVMTrainer(model.EpsilonSVR).Train(ctx, c, Options{WorkBudget: 1, Seed: 1}))(t)
	if own := m.(KernelMachine).Training; own.LinearAlternative != nil || own.Search.Measure != tune.MeanSquaredError {
		t.Errorf("linear models %+v for a regression by %s", own.LinearAlternative, own.Search.Measure)
	}
}

// If the views of a table were inferred, its text columns are also tried with other tokenizers,
// which keep the weights of columns. Explicit views stay.
func TestTermsOfColumns(t *testing.T) {
	columns, rows := []string{"title", "price"}, [][]string{{"a b", "1"}, {"c", "2"}}
	for views, want := range map[string][]string{
		"": {"title=word + price=numbers:1|2", "title=word + price=numbers:width=2,1|2",
			"title=word:ngrams=1..2 + price=numbers:1|2",
			"0.5*title=word:ngrams=1..2 + 0.5*title=char_wb:ngrams=2..5 + price=numbers:1|2"},
		"title=words + price=numbers": {"title=word + price=numbers:1|2", "title=word + price=numbers:width=2,1|2"},
	} {
		opt := corpus.Options{MinDF: 1}
		if views != "" {
			opt.Tokenizer = musttest.Get(token.ParseViews(views))(t)
		}
		c := musttest.Get(corpus.FromRows(t.Context(), columns, rows, nil, opt))(t)
		var got []string
		for _, terms := range DefaultTerms(c) {
			got = append(got, terms.Tokenizer.String())
		}
		if !slices.Equal(got, want) {
			t.Errorf("views %q: %q, expected %q", views, got, want)
		}
	}
	c := musttest.Get(corpus.FromRows(t.Context(), []string{"title", "e"}, [][]string{{"a b", "[1,2]"}, {"c", "[2,1]"}},
		nil, corpus.Options{MinDF: 1}))(t)
	all := DefaultTerms(c)
	if got := all[len(all)-1].Tokenizer.String(); got != "title=word + 4*e=vector:2" {
		t.Errorf("the last terms of a table with vectors are %s", got)
	}
}
