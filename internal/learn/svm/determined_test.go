package svm

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/engine/kernel"
	"github.com/gramengine/gram/internal/learn/model"
	"github.com/gramengine/gram/internal/musttest"
	"github.com/gramengine/gram/solver"
	"github.com/gramengine/gram/sparse"
)

// A model is bit-identical for any number of workers, in every run, and from cached kernel values
// instead of c. With less memory, the objective is the same.
func TestModelIsDetermined(t *testing.T) {
	docs := 1500
	if testing.Short() {
		docs = 1300 // with fewer, scratch space is more than half of the matrix
	}
	c := read(t, fmt.Sprintf("synthetic:docs=%d,terms=2000,length=30,classes=4,seed=11", docs), corpus.Options{})
	settings := []Settings{
		{C: 3, Calibrated: true, Scheme: solver.OneVsRest}, {C: 10},
		{C: 10, Scheme: solver.OneVsRest}, {C: 3, Probabilities: true}, {Type: model.OneClass, Nu: 0.3},
	}
	if testing.Short() {
		settings = settings[:2]
	}
	for _, s := range settings {
		t.Run(fmt.Sprintf("%s/%s", s.Type, s.Scheme), func(t *testing.T) {
			first, report := train(t, c, s, Options{Workers: 1})
			want := musttest.Output(t, first.Write)
			for what, opt := range map[string]Options{
				"again": {Workers: 1}, "two workers": {Workers: 2}, "five workers": {Workers: 5},
				"once": {Workers: 2, SingleUse: true},
			} {
				if m, _ := train(t, c, s, opt); musttest.Output(t, m.Write) != want {
					t.Errorf("%s: another model", what)
				}
			}
			n := int64(c.Documents.Rows())
			for _, part := range []int64{2, 1} { // the whole matrix, and half of it in tiles and rows
				opt := Options{CacheBytes: 2 * n * n * part, Workers: 2} // each worker takes scratch space from it
				p := problem(t, c, kernel.MustParse(DefaultKernel), opt)
				_, small, err := p.Train(t.Context(), s)
				musttest.NoError(t, err)
				if p.cached.FitsInMemory() {
					t.Fatal("the matrix is kept whole: the test doesn't reach what it should")
				}
				within(t, "the objective in less memory", small.Objective, report.Objective,
					1e-6*math.Abs(report.Objective))
			}
		})
	}
}

// If a problem is trained only once and its matrix is large or doesn't fit, rows get all memory
// except scratch space. The objective is the same as with the whole matrix.
func TestRowsOfOneProblem(t *testing.T) {
	c := read(t, "synthetic:docs=1500,terms=2000,length=30,classes=2,seed=11", corpus.Options{})
	for i := range c.Labels.IDs {
		if i%20 < 2 { // a tenth of each class
			c.Labels.IDs[i] = 1 - c.Labels.IDs[i]
		}
	}
	n := int64(c.Documents.Rows())
	s := Settings{C: 10, Tolerance: 1e-6}
	_, report := train(t, c, s, Options{SingleUse: true})
	opt := Options{CacheBytes: 2 * n * n, SingleUse: true, PlannedRuns: []PlannedRun{{Settings: s}}}
	p := problem(t, c, kernel.MustParse(DefaultKernel), opt)
	_, small, err := p.Train(t.Context(), s)
	musttest.NoError(t, err)
	if p.cached.FitsInMemory() || p.budget.tiles != p.sizes.scratch() || p.budget.rows != opt.CacheBytes-p.budget.tiles {
		t.Errorf("whole %v, budget %+v", p.cached.FitsInMemory(), p.budget)
	}
	within(t, "the objective in less memory", small.Objective, report.Objective, 1e-9*math.Abs(report.Objective))
	opt.PlannedRuns[0].Settings.Probabilities = true
	if p := problem(t, c, kernel.MustParse(DefaultKernel), opt); p.budget.tiles != opt.CacheBytes/2 {
		t.Errorf("%d bytes of tiles for a training with folds", p.budget.tiles)
	}
	large := read(t, "synthetic:docs=33000,terms=50,length=2,classes=2,seed=11", corpus.Options{})
	for once, whole := range map[bool]bool{true: false, false: true} {
		opt := Options{MemoryBytes: 8 << 30, SingleUse: once, PlannedRuns: []PlannedRun{{Settings: s}}}
		if p := problem(t, large, kernel.MustParse(DefaultKernel), opt); p.cached.FitsInMemory() != whole {
			t.Errorf("33,000 documents, once %v: matrix whole %v, expected %v", once, p.cached.FitsInMemory(), whole)
		}
	}
}

// Each stage of a training run reports progress, and the last report has the final counts.
func TestTrainProgress(t *testing.T) {
	c := read(t, "synthetic:docs=1000,terms=2000,length=40,classes=6,seed=13", corpus.Options{})
	stages := map[string]int{}
	var end Progress
	opt := Options{Workers: 2, Progress: func(p Progress) {
		stages[p.Stage]++
		end = p
	}}
	p := musttest.Get(NewProblem(t.Context(), c, sparse.SphereEmbedding, opt))(t)
	_, report, err := p.Train(t.Context(), Settings{C: 10})
	musttest.NoError(t, err)
	if stages["embedding"] == 0 || stages["preparing the engine"] == 0 || stages["training"] == 0 {
		t.Errorf("stages %v", stages)
	}
	if end.Stage != "training" || end.Done != 15 || end.Total != 15 || end.Solver.Iterations != report.Iterations ||
		!(end.HitRate >= 0 && end.HitRate <= 1) {
		t.Errorf("at the end: %+v, expected 15 problems and %d steps", end, report.Iterations)
	}
}

// A stage that counts nothing, such as embedding, also reports, for the last time at its end.
func TestTickerReports(t *testing.T) {
	var reports []Progress
	two := make(chan struct{}) // closed at the second report
	_, tick := startReporter(t.Context(), func(p Progress) {
		if reports = append(reports, p); len(reports) == 2 {
			close(two)
		}
	}, "embedding", 7)
	<-two
	tick.Add(7)
	var err error
	if tick.Finish(&err); err != nil {
		t.Error(err)
	}
	if n := len(reports); n < 3 || reports[0].Done != 0 || reports[n-1].Done != 7 || reports[n-1].Total != 7 ||
		reports[n-1].Stage != "embedding" {
		t.Errorf("%+v, expected reports on the way and one at the end", reports)
	}
}

// Each warning is reported once, and only if it applies.
func TestWarnings(t *testing.T) {
	docs := read(t, "synthetic:docs=60,terms=100,length=10,classes=2,seed=14", corpus.Options{})
	bare := *docs
	bare.Labels = sparse.Labels{}
	for i := range docs.Documents.Rows() {
		if i < 3 {
			bare.Labels.Add()
		} else {
			bare.Labels.Add(docs.Labels.Classes(i)...)
		}
	}
	empty := *docs
	empty.Documents = &sparse.CSR{
		Cols: docs.Documents.Cols, Offsets: append([]int64(nil), docs.Documents.Offsets...),
		Terms: docs.Documents.Terms, Values: append([]float32(nil), docs.Documents.Values...),
	}
	for k := range empty.Documents.Offsets[1] {
		empty.Documents.Values[k] = 0
	}
	for name, test := range map[string]struct {
		c    *corpus.Corpus
		s    Settings
		want []string
	}{
		"nothing":   {docs, Settings{Kernel: kernel.MustParse("rbf:gamma=1")}, nil},
		"labels":    {&bare, Settings{}, []string{"3 documents without labels are ignored"}},
		"no labels": {&bare, Settings{Scheme: solver.MultiLabel}, nil},
		"empty":     {&empty, Settings{}, []string{"1 documents are empty after embedding"}},
		"indefinite": {
			docs, Settings{Kernel: kernel.MustParse("sigmoid:gamma=1,r=-1")},
			[]string{"may not be positive definite"},
		},
		"conditional": {
			docs, Settings{Kernel: kernel.MustParse("ngd")},
			[]string{"only conditionally positive definite, which suffices"},
		},
		"unfinished": {
			docs, Settings{Tolerance: 1e-18}, []string{"1 of 1 decision functions did not converge"},
		},
		"one class": {
			docs, Settings{Type: model.OneClass, Kernel: kernel.MustParse("ngd")}, []string{"one-class training may not reach"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			_, report := train(t, test.c, test.s, Options{})
			if len(report.Warnings) != len(test.want) {
				t.Fatalf("warnings %q, expected %d", report.Warnings, len(test.want))
			}
			for i, want := range test.want {
				if !strings.Contains(report.Warnings[i], want) {
					t.Errorf("warning %q, expected %q", report.Warnings[i], want)
				}
			}
		})
	}
}
