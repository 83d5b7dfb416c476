package learn_test

import (
	"cmp"
	"context"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/corpus/token"
	"github.com/gramengine/gram/engine"
	"github.com/gramengine/gram/engine/kernel"
	"github.com/gramengine/gram/internal/learn"
	"github.com/gramengine/gram/internal/learn/model"
	"github.com/gramengine/gram/internal/learn/svm"
	"github.com/gramengine/gram/internal/musttest"
	"github.com/gramengine/gram/internal/params"
	"github.com/gramengine/gram/solver"
	"github.com/gramengine/gram/sparse"
)

func ready(t *testing.T, m learn.Model) learn.Options {
	t.Helper()
	p := musttest.Get(learn.NewPredictor(t.Context(), m, learn.Options{}))(t)
	t.Cleanup(func() { p.Close() })
	return learn.Options{Predictor: p}
}

// reference computes f of documents from the definition in float64, Σ α·k(s, x) - ρ, for a pair of
// classes.
type reference struct {
	m             *model.Model
	k             kernel.Kernel
	first, second int
}

func (r reference) f(t *testing.T, columns []uint32, counts []float32) float64 {
	t.Helper()
	s := r.m.Support
	all := &sparse.CSR{
		Cols:    max(s.Cols, int(slices.Max(columns))+1),
		Offsets: append(slices.Clone(s.Offsets), int64(len(s.Terms)+len(columns))),
		Terms:   append(slices.Clone(s.Terms), columns...), Values: append(slices.Clone(s.Values), counts...),
	}
	x := musttest.Get(r.m.Embedder.Transform(all))(t)
	ref := engine.NewReference(x)
	value := func(machine int) float64 {
		q := r.m.Classifier.Functions[machine]
		v := -q.Rho
		for i, at := range q.Support {
			v += q.Coef[i] * ref.Value(r.k, at, s.Rows())
		}
		return v
	}
	if r.m.Classifier.Scheme == solver.OneVsRest {
		return value(r.first) - value(r.second)
	}
	for i, pair := range solver.ClassPairs(len(r.m.Classes)) {
		switch pair {
		case [2]int{r.first, r.second}:
			return value(i)
		case [2]int{r.second, r.first}:
			return -value(i)
		}
	}
	return math.NaN()
}

// Effects of terms equal f with and without each term, computed in float64. Effects of support
// vectors add up to f + ρ. The test covers all kinds of kernels, both schemes, and views.
func TestExplainDocument(t *testing.T) {
	words := corpus.Options{MinDF: 1}
	views := musttest.Get(token.ParseViews("words:1..2 + 0.5*chars:2..3"))(t)
	cut := words
	cut.Tokenizer = views
	text := strings.Repeat("a\tred round apple\na\tred cherry stone\nb\tlong green bean\nb\tgreen pea\n"+
		"c\tgreen apple pea red\nc\tsour sour plum\n", 2)
	for name, opt := range map[string]corpus.Options{"words": words, "views": cut} {
		c := musttest.Get(corpus.ReadFrom(t.Context(), strings.NewReader(text), "fruit.tsv", opt))(t)
		for _, spec := range []string{"diffusion:t=0.5", "ngd-exp", "arccos:n=1:embed=tf-l2", "rbf:gamma=1:embed=tfidf-l2",
			"polynomial:degree=2,gamma=1,coef0=1:embed=tf-l2", "linear"} {
			k := kernel.MustParse(strings.Replace(spec, ":embed", ",embed", 1))
			if name == "views" && !strings.Contains(k.Embedding().String(), "tf") {
				continue
			}
			for _, scheme := range []solver.Scheme{solver.OneVsOne, solver.OneVsRest} {
				explained(t, name+" "+spec, c, k, scheme)
			}
		}
	}
}

func explained(t *testing.T, name string, c *corpus.Corpus, k kernel.Kernel, scheme solver.Scheme) {
	t.Helper()
	p, err := svm.NewProblem(t.Context(), c, k.Embedding(), svm.Options{})
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	m, _, err := p.Train(t.Context(), svm.Settings{Kernel: k, C: 10, Scheme: scheme})
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	const document = 4
	columns, counts := c.Documents.Row(document)
	all := len(columns)
	kernelMachine := learn.KernelMachine{Model: m}
	x, err := learn.ExplainDocument(t.Context(), kernelMachine, c.Documents, document, 1000, ready(t, kernelMachine))
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	r := reference{
		m, kernel.Resolve(k, len(m.Embedder.Terms)), slices.Index(m.Classes, x.Label), slices.Index(m.Classes, x.SecondClass),
	}
	if r.first < 0 || r.second < 0 || r.first == r.second || x.KnownTermCount != all {
		t.Fatalf("%s: %q against %q, %d terms", name, x.Label, x.SecondClass, x.KnownTermCount)
	}
	alphas := 0.0
	for _, q := range m.Classifier.Functions {
		for _, v := range q.Coef {
			alphas += math.Abs(v)
		}
	}
	tol := 4e-6 * alphas * 4 // kernel values are at most 4, with a relative error of 4·10⁻⁶
	whole := r.f(t, columns, counts)
	if !(math.Abs(x.Value-whole) <= tol) {
		t.Errorf("%s: f is %v, expected %v", name, x.Value, whole)
	}
	effects := map[string]float64{}
	for _, e := range x.Terms {
		effects[e.Term] = e.Effect
	}
	for j, column := range columns {
		without := slices.Delete(slices.Clone(columns), j, j+1)
		want := whole - r.f(t, without, slices.Delete(slices.Clone(counts), j, j+1))
		if got := effects[m.Tokenizer.FormatTerm(m.Vocabulary[column])]; !(math.Abs(got-want) <= 2*tol) {
			t.Errorf("%s: without %s f changes by %v, expected %v", name, m.Vocabulary[column], got, want)
		}
	}
	sum, rho := 0.0, 0.0
	for _, s := range x.SupportVectors {
		sum += s.Effect
		if want := slices.Index(m.SupportDocs, s.Document-1); want < 0 || m.Classes[m.SupportClasses[want]] != s.Class {
			t.Errorf("%s: document %d of class %s is no support vector", name, s.Document, s.Class)
		}
	}
	if scheme == solver.OneVsRest {
		rho = m.Classifier.Functions[r.first].Rho - m.Classifier.Functions[r.second].Rho
	} else {
		for i, pair := range solver.ClassPairs(len(m.Classes)) {
			if pair == [2]int{min(r.first, r.second), max(r.first, r.second)} {
				rho = m.Classifier.Functions[i].Rho
				if r.first > r.second {
					rho = -rho
				}
			}
		}
	}
	if !(math.Abs(sum-rho-whole) <= tol) {
		t.Errorf("%s: shares of support vectors and ρ give %v, expected %v", name, sum-rho, whole)
	}
}

// Predictions of every learner can be explained: a term's effect is the difference between
// predictions with and without the term.
func TestExplainEveryLearner(t *testing.T) {
	c, err := corpus.Read(t.Context(), "synthetic:docs=60,terms=30,length=8,classes=3,seed=3", corpus.Options{})
	musttest.NoError(t, err)
	const document = 7
	for _, spec := range []string{
		"linear", "logistic:c=1", "knn:k=3", "landmark:m=20", "c_svc", "nu_svc:nu=0.2", "one_class:nu=0.2",
	} {
		trainer := learn.TrainerOf(t, spec)
		m, err := trainer.Train(t.Context(), c, learn.Options{})
		if err != nil {
			t.Errorf("%s: %v", spec, err)
			continue
		}
		x, err := learn.ExplainDocument(t.Context(), m, c.Documents, document, 3, ready(t, m))
		if err != nil {
			t.Errorf("%s: %v", spec, err)
			continue
		}
		columns, counts := c.Documents.Row(document)
		if x.KnownTermCount != len(columns) || len(x.Terms) != min(3, x.KnownTermCount) || x.Label == "" {
			t.Errorf("%s: %+v", spec, x)
		}
		whole := valueOf(t, m, x, c.Documents.Cols, columns, counts)
		if x.Value != whole {
			t.Errorf("%s: value %v, predicted %v", spec, x.Value, whole)
		}
		tol := 1e-9 * (1 + math.Abs(whole))
		if spec == "linear" { // predictions round unit vectors to float32: for two documents and two weights
			for _, row := range musttest.Get(learn.Explain(t.Context(), m, 1, "", ready(t, m)))(t).Functions {
				tol = max(tol, 4*0x1p-24*row.Norm)
			}
		}
		effects := make([]float64, len(columns)) // effects of all terms
		for j := range columns {
			effects[j] = whole - valueOf(t, m, x, c.Documents.Cols, slices.Delete(slices.Clone(columns), j, j+1),
				slices.Delete(slices.Clone(counts), j, j+1))
		}
		for i, e := range x.Terms {
			j := slices.IndexFunc(columns, func(column uint32) bool { return e.Term == c.Vocabulary[column] })
			if j < 0 || e.Count != float64(counts[j]) || !(math.Abs(e.Effect-effects[j]) <= tol) {
				t.Errorf("%s: %+v, by predictions without each of %v %v", spec, e, columns, effects)
			}
			if i > 0 && !(math.Abs(e.Effect) <= math.Abs(x.Terms[i-1].Effect)) {
				t.Errorf("%s: effects aren't sorted: %v", spec, x.Terms)
			}
		}
		slices.SortFunc(effects, func(a, b float64) int { return cmp.Compare(math.Abs(b), math.Abs(a)) })
		for i, e := range x.Terms { // no other term has a larger effect
			if !(math.Abs(math.Abs(e.Effect)-math.Abs(effects[i])) <= tol) {
				t.Errorf("%s: effect %d is %v, the greatest are %v", spec, i, e.Effect, effects)
			}
		}
		if !(math.Abs(x.Terms[0].Effect) > 0) {
			t.Errorf("%s: no term has an effect", spec)
		}
	}
}

// valueOf predicts a document, and returns f as DocumentExplanation defines it: a decision value,
// or the difference of two decision values.
func valueOf(t *testing.T, m learn.Model, x *learn.DocumentExplanation, cols int, columns []uint32,
	counts []float32) float64 {
	t.Helper()
	docs := &sparse.CSR{Cols: cols, Offsets: []int64{0, int64(len(columns))}, Terms: columns, Values: counts}
	p := musttest.Get(m.Predict(t.Context(), docs, learn.Options{}))(t)
	a := m.About()
	if a.OneClass && x.Label == "-1" {
		return -p.Values[0]
	}
	if a.OneClass {
		return p.Values[0]
	}
	label, against := slices.Index(a.Classes, x.Label), slices.Index(a.Classes, x.SecondClass)
	if _, is := m.(learn.KernelMachine); !is || a.Scheme != solver.OneVsOne {
		return p.DecisionValues[0][label] - p.DecisionValues[0][against]
	}
	for k, pair := range solver.ClassPairs(len(a.Classes)) {
		switch pair {
		case [2]int{label, against}:
			return p.DecisionValues[0][k]
		case [2]int{against, label}:
			return -p.DecisionValues[0][k]
		}
	}
	t.Fatalf("no machine for %q against %q", x.Label, x.SecondClass)
	return 0
}

// A long document is explained in batches, and stops when the context is done.
func TestExplainEnded(t *testing.T) {
	c := musttest.Get(corpus.Read(t.Context(), "synthetic:docs=40,terms=3000,length=900,classes=2", corpus.Options{}))(t)
	trainer := learn.TrainerOf(t, "logistic:c=1")
	m := musttest.Get(trainer.Train(t.Context(), c, learn.Options{}))(t)
	ctx, cancel := context.WithCancel(t.Context())
	told := 0
	tell := func(stage string, done, total int64, _ ...string) {
		if stage == "explaining" {
			told++
			cancel()
		}
	}
	o := ready(t, m)
	o.Progress = tell
	_, err := learn.ExplainDocument(ctx, m, c.Documents, 0, 3, o)
	if err == nil || told != 1 {
		t.Errorf("%v after %d parts, expected the end of the context after one", err, told)
	}
}

// For kernel machines, a term's weight is the mean of f(x) - f(x without the term) over support
// vectors.
func TestMeanEffects(t *testing.T) {
	const source = "synthetic:docs=60,terms=40,length=12,classes=3,seed=8"
	c := musttest.Get(corpus.Read(t.Context(), source, corpus.Options{}))(t)
	trainer := learn.TrainerOf(t, "c_svc:kernel=diffusion:t=1")
	for _, scheme := range []solver.Scheme{solver.OneVsRest, solver.OneVsOne} {
		trainer = musttest.Get(params.With(trainer, map[string]any{"scheme": scheme}))(t)
		m := musttest.Get(trainer.Train(t.Context(), c, learn.Options{}))(t)
		x := musttest.Get(learn.Explain(t.Context(), m, 40, "", ready(t, m)))(t)
		held := m.(learn.KernelMachine).Support
		if x.DocumentCount != held.Rows() || x.StoredDocumentCount != held.Rows() || len(x.Functions) != 3 {
			t.Fatalf("%s: %d of %d documents, %d rows, expected %d documents and 3 rows", scheme, x.DocumentCount,
				x.StoredDocumentCount,
				len(x.Functions), held.Rows())
		}
		want := map[string]float64{} // weights of the second class
		value := func(docs *sparse.CSR) float64 {
			d := musttest.Get(m.Predict(t.Context(), docs, learn.Options{}))(t).DecisionValues[0]
			if scheme == solver.OneVsOne { // binary classifiers 0/1, 0/2, 1/2
				return (d[2] - d[0]) / 2
			}
			return d[1]
		}
		for i := range held.Rows() {
			columns, counts := held.Row(i)
			whole := value(held.SelectRows([]int{i}))
			for j, term := range columns {
				without := &sparse.CSR{Cols: held.Cols, Offsets: []int64{0, int64(len(columns) - 1)},
					Terms:  slices.Delete(slices.Clone(columns), j, j+1),
					Values: slices.Delete(slices.Clone(counts), j, j+1)}
				want[c.Vocabulary[term]] += (whole - value(without)) / float64(held.Rows())
			}
		}
		for _, e := range append(x.Functions[1].Positive, x.Functions[1].Negative...) {
			if !(math.Abs(e.Weight-want[e.Term]) <= 1e-6) {
				t.Errorf("%s: %s has the mean effect %v, expected %v", scheme, e.Term, e.Weight, want[e.Term])
			}
		}
	}
}
