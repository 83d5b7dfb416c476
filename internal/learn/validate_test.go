package learn

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/internal/learn/tune"
	"github.com/gramengine/gram/internal/musttest"
)

// Each point of a search has its own kernel, and the same result as in a search with only this
// point.
func TestSearchTriesEachKernel(t *testing.T) {
	c, err := corpus.Read(t.Context(), "synthetic:docs=90,terms=60,length=12,classes=3,seed=2", corpus.Options{})
	musttest.NoError(t, err)
	for _, spec := range []string{"landmark:m=20", "knn"} {
		kernels := []string{"diffusion:t=0.01", "diffusion:t=50"}
		lists := []ParameterValues{{"kernel", kernels}}
		if spec != "knn" {
			lists = append(lists, ParameterValues{"C", []string{"10", "1"}})
		}
		g := musttest.Get(gridOf(spec, lists))(t)
		g.Folds = 3
		found := musttest.Get(Search(t.Context(), c, g, Options{Seed: 1}))(t)
		all, each := found.Points, max(len(g.C), 1)
		for i := range g.Points {
			own := *g
			own.Points = g.Points[i : i+1]
			alone := musttest.Get(Search(t.Context(), c, &own, Options{Seed: 1}))(t)
			for p, want := range alone.Points {
				if got := all[i*each+p]; got.Mean != want.Mean || got.C != want.C || len(got.FoldScores) != 3 {
					t.Errorf("%s, %s, C %v: %v, expected %v as alone", spec, got.Kernel, got.C, got.Mean, want.Mean)
				}
			}
		}
		if spec != "knn" && all[0].Mean == all[each].Mean && all[0].Score.MacroF1 == all[each].Score.MacroF1 {
			t.Errorf("%s: %v by both of %v: one was trained twice", spec, all[0].Mean, kernels)
		}
	}
}

// TrainerOf returns the trainer of a specification.
func TrainerOf(t testing.TB, spec string) Trainer {
	t.Helper()
	_, trainer, err := Parse(spec)
	musttest.NoError(t, err)
	return trainer
}

// gridOf returns a grid of a learner.
func gridOf(spec string, lists []ParameterValues) (*Grid, error) {
	l, trainer, err := Parse(spec)
	if err != nil {
		return nil, err
	}
	return NewGrid(l, trainer, lists, Options{})
}

func TestSearchRefuses(t *testing.T) {
	c, err := corpus.Read(t.Context(), "synthetic:docs=20,terms=30,length=5,classes=2,seed=2", corpus.Options{})
	musttest.NoError(t, err)
	g, err := gridOf("knn", []ParameterValues{{"k", []string{"1", "3"}}})
	if err != nil || len(g.Points) != 2 || g.Points[1].Spec != "knn:k=3" {
		t.Fatalf("%+v, %v", g, err)
	}
	of := func(folds int) *Grid {
		own := *g
		own.Folds = folds
		return &own
	}
	for name, q := range map[string]struct {
		g    *Grid
		says string
	}{
		"one fold": {of(1), "between 2 and 20"}, "too many folds": {of(21), "between 2 and 20"},
		"folds below 0": {of(-1), "between 2 and 20"},
	} {
		musttest.WantError(Search(t.Context(), c, q.g, Options{}))(t, name, q.says)
	}
	for spec, lists := range map[string][]ParameterValues{
		"guess": nil, "knn": {{"C", []string{"1"}}}, "logistic": {{"C", []string{"0"}}},
		"linear": {{"embed", []string{"tf"}}}, "nu_svc": {{"C", []string{"1"}}}, "c_svc": {{"loss", []string{"hinge"}}},
		"one_class":   nil,
		"epsilon_svr": {{"kernel", []string{"ngd", "ngd"}}},
	} {
		musttest.WantError(gridOf(spec, lists))(t, fmt.Sprintf("%s, %v", spec, lists))
	}
}

// Folds have the same document frequencies, whether they are trained one by one or on one matrix.
func TestFoldsKnowTheSame(t *testing.T) {
	c := musttest.Get(corpus.Read(t.Context(), "synthetic:docs=200,terms=1500,length=30,classes=4,seed=3",
		corpus.Options{}))(t)
	const kernel = "kernel=(linear:embed=logtfidf-l2)"
	for _, spec := range []string{"c_svc:c=3,tolerance=1e-6," + kernel, "knn:" + kernel} {
		trainer := TrainerOf(t, spec)
		o := Options{Seed: 7}
		want := musttest.Get(CrossValidate(t.Context(), c, trainer, o, 4))(t)
		v := &foldEvaluator{c: c, o: o, folds: 4, measure: tune.Accuracy, trainers: []Point{{Trainer: trainer}},
			jointCount: 1}
		got := musttest.Get(tune.Search(t.Context(), v, make([]tune.Candidate, 1), false, nil))(t).Points[0]
		if got.Mean != want.Mean || !slices.Equal(got.FoldValues, want.FoldValues) {
			t.Errorf("%s: %v by folds one by one, %v by the cross-validation", spec, got.FoldValues, want.FoldValues)
		}
	}
}

// Logistic regression chooses the C that is best on folds. Without groups, copies of a document are
// in several folds, so that even their random labels are predicted.
func TestLogisticChoosesC(t *testing.T) {
	one := musttest.Get(corpus.Read(t.Context(), "synthetic:docs=60,terms=200,length=30,classes=2,seed=9",
		corpus.Options{}))(t)
	random, rows := rand.New(rand.NewPCG(9, 9)), []int(nil)
	for i := range one.Labels.IDs {
		one.Labels.IDs[i] = int32(random.IntN(2))
		rows = append(rows, i, i, i)
	}
	c := one.Select(rows)
	parsed := TrainerOf(t, "logistic")
	trainer := parsed.(*logisticTrainer)
	best := func() float64 {
		found := musttest.Get(trainer.choose(t.Context(), c, Options{Seed: 5}))(t)
		p := found.Points[found.BestIndex]
		if len(found.Points) != len(logisticCs) || len(p.FoldValues) != logisticFolds || p.DifferenceToBest != nil {
			t.Fatalf("%d points, the best %+v", len(found.Points), p.Result)
		}
		for _, o := range found.Points {
			if o.Mean > p.Mean+1e-12 || o != p && o.DifferenceToBest.Mean > 1e-12 {
				t.Errorf("C %v is best, but %v is better by %v", p.C, o.C, o.DifferenceToBest.Mean)
			}
		}
		m := musttest.Get(trainer.Train(t.Context(), c, Options{Seed: 5, WorkBudget: 1}))(t)
		if a := m.About(); a.C != p.C {
			t.Errorf("C %v is trained with, expected %v", a.C, p.C)
		}
		return p.Mean
	}
	copies := best()
	for _, i := range rows {
		c.Groups = append(c.Groups, int64(i))
	}
	if groups := best(); !(copies > 0.85 && groups < 0.7) {
		t.Errorf("accuracy %v, by groups %v", copies, groups)
	}
}

// The last point of a learning curve is the cross-validation. Each subset has the class frequencies
// of the corpus.
func TestLearningCurve(t *testing.T) {
	c, err := corpus.Read(t.Context(), "synthetic:docs=120,terms=60,length=12,classes=3,seed=3", corpus.Options{})
	musttest.NoError(t, err)
	for _, spec := range []string{"logistic:c=1", "linear"} {
		trainer := TrainerOf(t, spec)
		o := Options{Seed: 7}
		all := musttest.Get(CrossValidate(t.Context(), c, trainer, o, 4))(t)
		curve := musttest.Get(LearningCurve(t.Context(), c, trainer, o, 4, all))(t)
		if last := curve[3]; last.Fraction != 1 || last.DocumentCount != 90 || last.Mean != all.Mean || last.SD != all.SD {
			t.Errorf("%s: the last point is %+v, expected that of the cross-validation, %v ± %v",
				spec, last, all.Mean, all.SD)
		}
		// Subsets are stratified by class, so each of the classes may add a document.
		for k, want := range []int{11, 22, 45} {
			if n := curve[k].DocumentCount; n < want || n > want+3 {
				t.Errorf("%s: part %v has %d documents, expected about %d", spec, curve[k].Fraction, n, want)
			}
		}
	}
}
