package svm

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/gramengine/gram/internal/learn/model"
	"github.com/gramengine/gram/internal/learn/tune"
	"github.com/gramengine/gram/internal/musttest"
	"github.com/gramengine/gram/solver"
	"github.com/gramengine/gram/sparse"
)

// tasksOf divides the search of a grid into tasks.
func tasksOf(t *testing.T, s Settings, g Grid, terms func(cut int, e sparse.Embedding) int) *Tasks {
	t.Helper()
	v, all, err := g.evaluator(s)
	musttest.NoError(t, err)
	return NewTasks(v, all, terms)
}

// assembled merges the outcomes of tasks.
func assembled(
	t *testing.T, s Settings, g Grid, problem func(int, sparse.Embedding) (*Problem, error),
	outcomes func(int) (*TaskOutcome, error),
) (*tune.SearchResult, error) {
	v, all, err := g.evaluator(s)
	musttest.NoError(t, err)
	v.Outcome = outcomes
	v.Problem = func(_ context.Context, cut int, e sparse.Embedding) (*Problem, error) { return problem(cut, e) }
	return tune.Search(t.Context(), v, all, false, nil)
}

// A search divided into tasks, run in any order on separate problems and serialised as JSON, gives
// the points of the whole search bit for bit.
func TestSearchTasks(t *testing.T) {
	paths := kernelsFor("diffusion:t=0.5", "ngd-exp:t=1", "diffusion:t=2", "rbf", "diffusion:t=1", "rbf:gamma=2")
	for name, c := range map[string]struct {
		Settings
		Grid
		tasks int
	}{
		"kernels": {Settings{}, Grid{Kernels: paths, C: []float64{10, 1}, Folds: 3, Seed: 2}, 9},
		"schemes, probabilities": {
			Settings{Probabilities: true},
			Grid{Schemes: []solver.Scheme{solver.OneVsOne, solver.OneVsRest}, Kernels: paths[:3], Folds: 2}, 8,
		},
		"thresholds": {Settings{Scheme: solver.MultiLabel, TuneThresholds: true},
			Grid{Kernels: paths[:1], C: []float64{1, 3}}, 5},
		"regression": {Settings{Type: model.EpsilonSVR}, Grid{Kernels: paths[:3], Epsilon: []float64{0.1, 1}}, 10},
		"nu":         {Settings{Type: model.NuSVC}, Grid{Kernels: paths[:1], Nu: []float64{0.05, 0.1}}, 5},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			corpus := noisy(t)
			for i := range corpus.Classes {
				corpus.Classes[i] = fmt.Sprint(i * i)
			}
			if name == "schemes, probabilities" { // two folds, and a class with one document
				id := int32(len(corpus.Classes))
				corpus.Classes = append(corpus.Classes, "rare")
				corpus.Labels.IDs[5] = id
			}
			whole := musttest.Get(searchCorpus(t.Context(), corpus, c.Settings, c.Grid, Options{}, nil))(t)
			problems := map[sparse.Embedding]*Problem{}
			problemOf := func(_ int, e sparse.Embedding) (*Problem, error) {
				if problems[e] == nil {
					p, err := NewProblem(t.Context(), corpus, e, Options{})
					if err != nil {
						return nil, err
					}
					problems[e] = p
				}
				return problems[e], nil
			}
			tasks := tasksOf(t, c.Settings, c.Grid, func(_ int, e sparse.Embedding) int {
				return len(e.Fit(corpus.Documents).Terms)
			})
			if tasks.Len() != c.tasks {
				t.Fatalf("%d tasks, expected %d", tasks.Len(), c.tasks)
			}
			texts := make([][]byte, tasks.Len())
			for _, task := range rand.New(rand.NewPCG(1, 1)).Perm(tasks.Len()) {
				p := musttest.Get(problemOf(tasks.ProblemOf(task)))(t)
				out := musttest.Get(tasks.Run(t.Context(), p, task))(t)
				texts[task] = musttest.Get(json.Marshal(out))(t)
			}
			r := musttest.Get(assembled(t, c.Settings, c.Grid, problemOf, func(task int) (*TaskOutcome, error) {
				out := &TaskOutcome{}
				return out, json.Unmarshal(texts[task], out)
			}))(t)
			if len(r.Points) != len(whole.Points) || r.BestIndex != whole.BestIndex {
				t.Fatalf("%+v, expected %+v", r, whole)
			}
			for i, want := range whole.Points {
				got := r.Points[i]
				if !reflect.DeepEqual(got.Score.Calibration, want.Score.Calibration) {
					t.Errorf("point %d: %+v, expected %+v", i, got.Score.Calibration, want.Score.Calibration)
				}
				if c.Probabilities && (want.Score.Calibration == nil || !(want.Score.Calibration.LogLoss > 0)) {
					t.Errorf("point %d has no log loss to compare", i)
				}
				if !reflect.DeepEqual(comparable(&got), comparable(&want)) {
					t.Errorf("point %d: %+v, expected %+v", i, got, want)
				}
			}
		})
	}
}

// Outcomes of another search cause errors.
func TestSearchTasksRefuse(t *testing.T) {
	corpus := noisy(t)
	g := Grid{Kernels: kernelsFor("diffusion:t=0.5", "diffusion:t=1"), Folds: 2}
	p := problem(t, corpus, g.Kernels[0], Options{})
	terms := func(int, sparse.Embedding) int { return p.TermCount() }
	tasks := tasksOf(t, Settings{}, g, terms)
	var good []*TaskOutcome
	for task := range tasks.Len() {
		out := musttest.Get(tasks.Run(t.Context(), p, task))(t)
		good = append(good, out)
	}
	for name, spoil := range map[string]func(o *TaskOutcome){
		"order":            func(o *TaskOutcome) { o.Sorted = !o.Sorted },
		"kernels":          func(o *TaskOutcome) { o.Fits = o.Fits[:1] },
		"cells":            func(o *TaskOutcome) { o.Fits[1] = nil },
		"documents":        func(o *TaskOutcome) { o.Fits[0][0].Class = o.Fits[0][0].Class[1:] },
		"class":            func(o *TaskOutcome) { o.Fits[0][0].Class[3] = len(corpus.Classes) },
		"class below 0":    func(o *TaskOutcome) { o.Fits[0][0].Class[3] = -1 },
		"values":           func(o *TaskOutcome) { o.Fits[0][0].Values = []float64{1} },
		"decisions":        func(o *TaskOutcome) { o.Fits[0][0].Decisions = [][]float64{{1}} },
		"missing machines": func(o *TaskOutcome) { o.Fits[0][0].Missing = []int{99} },
		"support":          func(o *TaskOutcome) { o.Fits[0][0].Support = -1 },
		"iterations":       func(o *TaskOutcome) { o.Fits[0][0].Iterations = -1 },
		"unfinished":       func(o *TaskOutcome) { o.Fits[0][0].Unfinished = -1 },
	} {
		text := musttest.Get(json.Marshal(good[1]))(t)
		var bad TaskOutcome
		musttest.NoError(t, json.Unmarshal(text, &bad))
		spoil(&bad)
		musttest.WantError(assembled(t, Settings{}, g, func(int, sparse.Embedding) (*Problem, error) { return p, nil },
			func(task int) (*TaskOutcome, error) { return []*TaskOutcome{good[0], &bad}[task], nil }))(t, name)
	}
	musttest.NoError(t, tasks.Validate(p))
	few := corpus.Select([]int{0, 1, 2, 3}) // two documents of a class, or one: a fold leaves one class
	few.Labels.IDs = []int32{0, 0, 0, 1}
	many := Grid{Kernels: g.Kernels, Folds: 5}
	for name, c := range map[string]struct {
		Settings
		Grid
	}{
		"one class": {Settings{}, g}, "more folds than documents": {Settings{}, many},
		"one_class": {Settings{Type: model.OneClass}, g},
	} {
		p := problem(t, few, g.Kernels[0], Options{})
		tasks := tasksOf(t, c.Settings, c.Grid, func(int, sparse.Embedding) int { return p.TermCount() })
		if err := tasks.Validate(p); err == nil {
			t.Errorf("%s: no error", name)
		} else {
			t.Log(err)
		}
	}
}

// Outcomes with labels and numbers are checked, too.
func TestSearchTasksRefuseOthers(t *testing.T) {
	corpus := noisy(t)
	for i := range corpus.Classes {
		corpus.Classes[i] = fmt.Sprint(i * i)
	}
	for name, c := range map[string]struct {
		Settings
		spoil func(o *FoldOutcome)
	}{
		"infinity":    {Settings{Type: model.EpsilonSVR}, func(o *FoldOutcome) { o.Values[2] = math.Inf(-1) }},
		"label twice": {Settings{Scheme: solver.MultiLabel}, func(o *FoldOutcome) { o.Labels[2] = []int{1, 1} }},
		"thresholds": {Settings{Scheme: solver.MultiLabel, TuneThresholds: true},
			func(o *FoldOutcome) { o.Decisions[2] = nil }},
	} {
		t.Run(name, func(t *testing.T) {
			g := Grid{Kernels: kernelsFor("diffusion"), Folds: 2}
			p := problem(t, corpus, g.Kernels[0], Options{})
			tasks := tasksOf(t, c.Settings, g, func(int, sparse.Embedding) int { return p.TermCount() })
			musttest.NoError(t, tasks.Validate(p))
			musttest.WantError(assembled(t, c.Settings, g, func(int, sparse.Embedding) (*Problem, error) { return p, nil },
				func(task int) (*TaskOutcome, error) {
					out, err := tasks.Run(t.Context(), p, task)
					if err != nil {
						return nil, err
					}
					c.spoil(out.Fits[0][0])
					return out, nil
				}))(t, name)
		})
	}
}
