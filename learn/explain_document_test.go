package learn_test

import (
	"context"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/gramengine/gram/engine"
	"github.com/gramengine/gram/engine/kernel"
	"github.com/gramengine/gram/learn"
	"github.com/gramengine/gram/learn/model"
	"github.com/gramengine/gram/learn/svm"
	"github.com/gramengine/gram/solver"
	"github.com/gramengine/gram/sparse"
	"github.com/gramengine/gram/sparse/token"
)

// reference computes f of documents in float64 from its definition, Σ α·k(s, x) - ρ, for a class
// against another.
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
	x, err := r.m.Embedder.Transform(all)
	if err != nil {
		t.Fatal(err)
	}
	ref := engine.NewReference(x)
	value := func(machine int) float64 {
		q := r.m.Classifier.Machines[machine]
		v := -q.Rho
		for i, at := range q.Support {
			v += q.Coef[i] * ref.Value(r.k, at, s.Rows())
		}
		return v
	}
	if r.m.Classifier.Scheme == solver.OneVsRest {
		return value(r.first) - value(r.second)
	}
	for i, pair := range solver.Pairs(len(r.m.Classes)) {
		switch pair {
		case [2]int{r.first, r.second}:
			return value(i)
		case [2]int{r.second, r.first}:
			return -value(i)
		}
	}
	return math.NaN()
}

// Effects of terms are those of the definition in float64 with and without each term, and support
// vectors' shares add up to f + ρ, for kernels of all kinds, both schemes, and views.
func TestExplainDocument(t *testing.T) {
	words := sparse.Options{MinDF: 1}
	views, err := token.ParseViews("words:1..2 + 0.5*chars:2..3")
	if err != nil {
		t.Fatal(err)
	}
	cut := words
	cut.Tokenizer = views
	text := strings.Repeat("a\tred round apple\na\tred cherry stone\nb\tlong green bean\nb\tgreen pea\n"+
		"c\tgreen apple pea red\nc\tsour sour plum\n", 2)
	for name, opt := range map[string]sparse.Options{"words": words, "views": cut} {
		c, err := sparse.ReadFrom(t.Context(), strings.NewReader(text), "fruit.tsv", opt)
		if err != nil {
			t.Fatal(err)
		}
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

func explained(t *testing.T, name string, c *sparse.Corpus, k kernel.Kernel, scheme solver.Scheme) {
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
	x, err := learn.ExplainDocument(t.Context(), learn.Machines{Model: m}, c.Documents, document, 1000, learn.Options{})
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	r := reference{
		m, kernel.Resolve(k, len(m.Embedder.Terms)), slices.Index(m.Classes, x.Label), slices.Index(m.Classes, x.Against),
	}
	if r.first < 0 || r.second < 0 || r.first == r.second || x.Known != all {
		t.Fatalf("%s: %q against %q, %d terms", name, x.Label, x.Against, x.Known)
	}
	alphas := 0.0
	for _, q := range m.Classifier.Machines {
		for _, v := range q.Coef {
			alphas += math.Abs(v)
		}
	}
	tol := 4e-6 * alphas * 4 // kernel values of at most 4 are within 4·10⁻⁶ of theirs, relative to them
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
		if got := effects[m.Tokenizer.Term(m.Vocabulary[column])]; !(math.Abs(got-want) <= 2*tol) {
			t.Errorf("%s: without %s f changes by %v, expected %v", name, m.Vocabulary[column], got, want)
		}
	}
	sum, rho := 0.0, 0.0
	for _, s := range x.Support {
		sum += s.Effect
		if want := slices.Index(m.SupportDoc, s.Document-1); want < 0 || m.Classes[m.SupportClass[want]] != s.Class {
			t.Errorf("%s: document %d of class %s is no support vector", name, s.Document, s.Class)
		}
	}
	if scheme == solver.OneVsRest {
		rho = m.Classifier.Machines[r.first].Rho - m.Classifier.Machines[r.second].Rho
	} else {
		for i, pair := range solver.Pairs(len(m.Classes)) {
			if pair == [2]int{min(r.first, r.second), max(r.first, r.second)} {
				rho = m.Classifier.Machines[i].Rho
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

// Every learner's predictions can be explained: effects of terms are differences of its own
// predictions, without the term and with it.
func TestExplainEveryLearner(t *testing.T) {
	c, err := sparse.Read(t.Context(), "synthetic:docs=60,terms=30,length=8,classes=3,seed=3", sparse.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, spec := range []string{
		"linear", "logistic", "knn:k=3", "landmark:m=20", "mkm", "c_svc", "nu_svc", "one_class",
	} {
		_, trainer, err := learn.Parse(spec)
		if err != nil {
			t.Fatal(err)
		}
		m, err := trainer.Train(t.Context(), c, learn.Options{Kernel: "", C: 1, Nu: 0.2})
		if err != nil {
			t.Errorf("%s: %v", spec, err)
			continue
		}
		x, err := learn.ExplainDocument(t.Context(), m, c.Documents, 7, 3, learn.Options{})
		if err != nil {
			t.Errorf("%s: %v", spec, err)
			continue
		}
		if x.Known == 0 || len(x.Terms) > 3 || x.Label == "" || math.IsNaN(x.Value) {
			t.Errorf("%s: %+v", spec, x)
		}
		for i := 1; i < len(x.Terms); i++ {
			if math.Abs(x.Terms[i].Effect) > math.Abs(x.Terms[i-1].Effect) {
				t.Errorf("%s: effects aren't sorted: %v", spec, x.Terms)
			}
		}
	}
}

// A long document is explained in parts, and ends with its context.
func TestExplainEnded(t *testing.T) {
	c, err := sparse.Read(t.Context(), "synthetic:docs=40,terms=3000,length=900,classes=2", sparse.Options{})
	if err != nil {
		t.Fatal(err)
	}
	_, trainer, err := learn.Parse("linear")
	if err != nil {
		t.Fatal(err)
	}
	m, err := trainer.Train(t.Context(), c, learn.Options{C: 1})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	told := 0
	tell := func(stage string, done, total int64, _ ...string) {
		if stage == "explaining" {
			told++
			cancel()
		}
	}
	_, err = learn.ExplainDocument(ctx, m, c.Documents, 0, 3, learn.Options{Progress: tell})
	if err == nil || told != 1 {
		t.Errorf("%v after %d parts, expected the end of the context after one", err, told)
	}
}
