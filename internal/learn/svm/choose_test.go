package svm

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/engine/kernel"
	"github.com/gramengine/gram/internal/learn/model"
	"github.com/gramengine/gram/internal/learn/tune"
	"github.com/gramengine/gram/internal/musttest"
	"github.com/gramengine/gram/internal/run"
	"github.com/gramengine/gram/solver"
	"github.com/gramengine/gram/sparse"
)

// choice is a choice of support vector machines.
type choice struct {
	*tune.Choice
	Settings    Settings
	DotProducts int64
}

// choose chooses from candidates. An empty list means the value in settings.
func choose(
	ctx context.Context, c *corpus.Corpus, s Settings, from tune.Candidates, opt Options,
) (*choice, error) {
	s, err := s.Resolve()
	if err != nil {
		return nil, err
	}
	if from.Kernels == nil {
		from.Kernels = []kernel.Kernel{s.Kernel}
	}
	if from.Schemes == nil {
		from.Schemes = []solver.Scheme{s.Scheme}
	}
	if from.C == nil {
		from.C = []float64{s.C}
	}
	if from.Epsilons == nil || s.Type != model.EpsilonSVR {
		from.Epsilons = []float64{s.Epsilon}
	}
	from.Measure, from.Nu, from.LowMemory = s.Measure(), s.Nu, opt.MemoryBytes > 0
	from.ParameterUnit, from.WorkBudget, from.FinalFolds = cmp.Or(from.ParameterUnit, 1), cmp.Or(from.WorkBudget, 1),
		cmp.Or(from.FinalFolds, 5)
	on := &SampleEvaluator{Corpus: c, Settings: s, Candidates: &from, Options: opt}
	got, err := tune.Choose(ctx, c, from, on)
	if got == nil {
		return nil, err
	}
	s.Kernel, s.Scheme, s.C, s.Epsilon = got.Kernel, got.Scheme, got.C, got.Epsilon
	return &choice{got, s, on.DotProducts}, err
}

var choices = tune.Candidates{
	Kernels: kernelsFor("diffusion:t=2,embed=tfidf-l1-sqrt", "diffusion:t=0.01", "linear:embed=tfidf-l2"),
	C:       []float64{10, 0.001, 100}, Schemes: []solver.Scheme{solver.OneVsOne, solver.OneVsRest}, Seed: 3,
}

// untimed returns a choice without the time of workers.
func untimed(c *choice) *choice {
	for _, r := range c.Rounds {
		for i := range r.Points {
			comparable(&r.Points[i])
		}
	}
	return c
}

// A choice compares kernels, then schemes, then C, selects the best of each, and is the same for
// any number of workers. Its scores equal the scores of a validation.
func TestChoose(t *testing.T) {
	c := noisy(t)
	var first *choice
	for _, workers := range []int{1, 3} {
		got, err := choose(t.Context(), c, Settings{Tolerance: 1e-4}, choices, Options{Workers: workers})
		if err != nil || got.Reason != "" {
			t.Fatalf("%v, %q", err, got.Reason)
		}
		if first = untimed(got); workers == 1 {
			continue
		}
		again, err := choose(t.Context(), c, Settings{Tolerance: 1e-4}, choices, Options{})
		if err != nil || !reflect.DeepEqual(first, untimed(again)) {
			t.Errorf("%+v, then %+v, %v", first, again, err)
		}
	}
	n := c.Documents.Rows()
	if len(first.Rounds) != 3 || first.Settings.Measure() != tune.Accuracy {
		t.Fatalf("%+v", first)
	}
	for i, want := range []struct {
		what   string
		points int
	}{{"kernel", 3}, {"scheme", 6}, {"C", 6}} {
		r := first.Rounds[i]
		if r.Parameter != want.what || len(r.Points) != want.points || r.DocumentCount != n {
			t.Errorf("round %d compares %d points by %s on %d documents", i, len(r.Points), r.Parameter, r.DocumentCount)
		}
	}
	last := first.Rounds[2]
	best := last.Points[last.BestIndex]
	s := first.Settings
	if s.C == 0.001 || s.Kernel != best.Kernel || s.C != best.C || s.Scheme != best.Scheme || s.Tolerance != 1e-4 {
		t.Errorf("%+v, the best is %+v", s, best)
	}
	if first.FitCount != (3+6+6)*tune.ChoiceFolds || first.DotProducts == 0 {
		t.Errorf("%d fits, %d dot products", first.FitCount, first.DotProducts)
	}
	s.Tolerance = 1e-4
	p := problem(t, c.Select(run.Range(0, n)), s.Kernel, Options{})
	v := crossValidate(t, p, s, tune.ChoiceFolds, choices.Seed)
	within(t, "accuracy", best.Mean, v.Mean, 0.01)
}

// If comparing even two candidates exceeds the work limit, nothing is compared, and the choice has
// a reason.
func TestChooseNothing(t *testing.T) {
	c := read(t, "synthetic:docs=600,terms=300,length=10,classes=200,seed=3", corpus.Options{})
	got, err := choose(t.Context(), c, Settings{}, tune.Candidates{
		Kernels: choices.Kernels, C: choices.C, Schemes: []solver.Scheme{solver.OneVsRest}}, Options{})
	if err != nil || len(got.Rounds) > 0 || !strings.Contains(got.Reason, "200 classes") || got.Settings.C != 10 {
		t.Errorf("%+v, %v", got, err)
	}
}

// With too few documents, a choice returns the first candidates, unless it has a last round. Labels
// are compared by micro F1.
func TestChooseOthers(t *testing.T) {
	got, err := choose(t.Context(), sixty(t), Settings{}, choices, Options{})
	if err != nil || got.Reason == "" || got.Settings.Kernel != choices.Kernels[0] || got.Settings.C != 10 {
		t.Errorf("%+v, %v", got, err)
	}
	search := choices
	search.FinalistCount = 2
	got, err = choose(t.Context(), sixty(t), Settings{}, search, Options{})
	if err != nil || got.Reason != "" || len(got.Rounds) != 4 {
		t.Errorf("%+v, %v", got, err)
	}
	labels := choices
	labels.Schemes = nil
	got, err = choose(t.Context(), noisy(t), Settings{Scheme: solver.MultiLabel}, labels, Options{})
	if err != nil || got.Settings.Measure() != tune.MicroF1 || len(got.Rounds) != 2 || got.Scheme != solver.MultiLabel {
		t.Errorf("%+v, %v", got, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	opt := Options{Progress: func(Progress) { cancel() }}
	begin := time.Now()
	if _, err = choose(ctx, noisy(t), Settings{}, choices, opt); !errors.Is(err, context.Canceled) ||
		time.Since(begin) > 30*time.Second {
		t.Errorf("%v at the end of the context", err)
	}
}

// Many small classes suffice for a choice, but one large class with a few other documents doesn't.
func TestChooseSmallClasses(t *testing.T) {
	musttest.SkipRace(t)
	for _, q := range []struct {
		great, classes, each int
		ok                   bool
	}{{0, 60, 3, true}, {5, 100, 1, true}, {3, 30, 3, false}, {300, 120, 1, false}, {300, 2, 6, true}} {
		var texts, labels []string
		for class := range q.classes + 1 {
			n := q.each
			if class == q.classes {
				n = q.great
			}
			for doc := range n {
				word := string(rune('a'+class/26)) + string(rune('a'+class%26))
				texts = append(texts, fmt.Sprintf("%s common %c", word, 'a'+doc%26))
				labels = append(labels, word)
			}
		}
		c := musttest.Get(corpus.FromTexts(t.Context(), texts, labels, corpus.Options{}))(t)
		got, err := choose(t.Context(), c, Settings{}, choices, Options{})
		if err != nil || (got.Reason == "") != q.ok || (len(got.Rounds) == 3) != q.ok {
			t.Errorf("%+v: %d rounds, %q, %v", q, len(got.Rounds), got.Reason, err)
		}
	}
}

// In regression, candidates are compared by mean squared error. If targets, lists and unit are a
// thousand times as large, the choice is the same, with C, epsilon and errors in the other unit.
func TestChooseRegression(t *testing.T) {
	const n, columns, greatest = 120, 8, 8
	r := rand.New(rand.NewPCG(5, 6))
	counts, targets := make([]float32, n*columns), make([]float64, n)
	for i := range counts {
		counts[i] = float32(r.IntN(greatest))
	}
	for i := range targets {
		targets[i] = float64(counts[i*columns]-counts[i*columns+1]) + r.NormFloat64()
	}
	docs := musttest.Get(sparse.FromDense(n, columns, counts))(t)
	chosen := func(kind model.Type, by float64) *choice {
		c := &corpus.Corpus{Source: "sums", Documents: docs, Labels: sparse.Labels{Offsets: []int64{0}}}
		for i, v := range targets {
			c.Classes = append(c.Classes, strconv.FormatFloat(by*v, 'g', -1, 64))
			c.Labels.IDs, c.Labels.Offsets = append(c.Labels.IDs, int32(i)), append(c.Labels.Offsets, int64(i+1))
		}
		from := tune.Candidates{PreferSmallC: true, ParameterUnit: 4 * by, Neighbours: nearC,
			Kernels: kernelsFor("diffusion:t=0.001", "diffusion:t=2", "linear:embed=tf-l2"),
			C:       []float64{0.04 * by, 0.4 * by}, Epsilons: []float64{0.4 * by, 40 * by}}
		out := musttest.Get(choose(t.Context(), c, Settings{Type: kind, Tolerance: 1e-3 * by}, from, Options{}))(t)
		if out.Settings.Measure() != tune.MeanSquaredError || out.Reason != "" {
			t.Fatalf("%s: by %s, %q", kind, out.Settings.Measure(), out.Reason)
		}
		return untimed(out)
	}
	for kind, want := range map[model.Type][]string{
		model.EpsilonSVR: {"kernel", "epsilon", "C"}, model.NuSVR: {"kernel", "C"},
	} {
		one, thousand := chosen(kind, 1), chosen(kind, 1024)
		for i, round := range one.Rounds {
			other := thousand.Rounds[i]
			if round.Parameter != want[i] || round.BestIndex != other.BestIndex || len(round.Points) != len(other.Points) {
				t.Errorf("%s: round %d compares %s, %d is the best, of targets farther apart %d", kind, i, round.Parameter,
					round.BestIndex, other.BestIndex)
			}
			if round.Parameter == "epsilon" && len(round.Points) != 4 {
				t.Errorf("%d candidates by epsilon, expected two kernels with two each", len(round.Points))
			}
			best := round.Points[round.BestIndex]
			within(t, "an error", other.Points[other.BestIndex].Mean/(1<<20), best.Mean, 0.01*best.Mean)
			within(t, "chance", round.StandardError(), best.Mean*math.Sqrt(2.0/n), 1e-12)
			for _, p := range round.Points {
				if best.Mean-p.Mean > round.StandardError() {
					t.Errorf("%s: the best errs by %v, another point by %v", kind, best.Mean, p.Mean)
				}
			}
		}
		s := one.Settings
		if len(one.Rounds) != len(want) || s.C <= 0.4 || math.Abs(thousand.Settings.C/1024-s.C) > 1e-9 {
			t.Errorf("%s: %d rounds, C = %v and %v, expected a C beyond the list", kind, len(one.Rounds), s.C,
				thousand.Settings.C)
		}
		if kind == model.EpsilonSVR && (s.Epsilon != 0.4 || thousand.Settings.Epsilon != 0.4*1024) {
			t.Errorf("epsilon %v and %v", s.Epsilon, thousand.Settings.Epsilon)
		}
	}
}

// If the largest C is so large that training doesn't converge within the steps of a choice, a
// smaller C that converges is chosen for a regression.
func TestChooseStuck(t *testing.T) {
	const n = 120
	r := rand.New(rand.NewPCG(1, 2))
	c := &corpus.Corpus{Source: "noise", Labels: sparse.Labels{Offsets: []int64{0}}}
	counts := make([]float32, 3*n)
	for i := range n {
		for k := range 3 {
			counts[3*i+k] = float32(100 + r.IntN(50))
		}
		c.Classes = append(c.Classes, strconv.FormatFloat(r.NormFloat64(), 'g', -1, 64))
		c.Labels.IDs, c.Labels.Offsets = append(c.Labels.IDs, int32(i)), append(c.Labels.Offsets, int64(i+1))
	}
	c.Documents = musttest.Get(sparse.FromDense(n, 3, counts))(t)
	got := musttest.Get(choose(t.Context(), c, Settings{Type: model.EpsilonSVR, Kernel: kernel.MustParse("linear")},
		tune.Candidates{C: []float64{100, 1000}}, Options{}))(t)
	last := got.Rounds[len(got.Rounds)-1]
	if last.Parameter != "C" || last.Points[0].UnfinishedCount == 0 || last.Points[last.BestIndex].UnfinishedCount > 0 ||
		!(got.Settings.C < 10) {
		t.Errorf("C = %v by %+v", got.Settings.C, last)
	}
}

// nearC returns no kernels, so that only values of C may lie beyond the list.
func nearC(kernel.Kernel) []kernel.Kernel { return nil }

// If most targets are equal, a regression is still chosen. With few documents, nothing is compared.
func TestChooseSameTargets(t *testing.T) {
	for _, n := range []int{150, 90} {
		c := &corpus.Corpus{Source: "mostly 0", Classes: []string{"0"}, Labels: sparse.Labels{Offsets: []int64{0}}}
		counts := make([]float32, 2*n)
		for i := range n {
			id := 0
			if counts[2*i], counts[2*i+1] = 1, float32(i%7); i%3 == 0 {
				id, c.Classes = len(c.Classes), append(c.Classes, strconv.Itoa(1000+i))
			}
			c.Labels.IDs, c.Labels.Offsets = append(c.Labels.IDs, int32(id)), append(c.Labels.Offsets, int64(i+1))
		}
		c.Documents = musttest.Get(sparse.FromDense(n, 2, counts))(t)
		from := tune.Candidates{C: []float64{1, 10}}
		got, err := choose(t.Context(), c, Settings{Type: model.EpsilonSVR, Tolerance: 1}, from, Options{})
		few := n < 100
		if err != nil || !few && len(got.Rounds) != 1 || few && got.Reason != "90 documents are too few" {
			t.Errorf("%d documents: %+v, %v", n, got, err)
		}
	}
}
