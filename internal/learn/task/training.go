package task

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/internal/run"
	"github.com/gramengine/gram/solver"
	"github.com/gramengine/gram/sparse"
)

// Training trains a binary classifier for each class of a corpus. With two classes and one label
// per document, only the first classifier is trained, because the second is its negation.
type Training struct {
	Options
	Name     string // package name, for errors
	StepUnit string // plural noun for steps in progress reports, such as passes
	Corpus   *corpus.Corpus
	Scheme   solver.Scheme
	CValues  []float64

	Rows            []int     // indices of the training documents
	DocumentWeights []float64 // one weight per row; nil if all weights are 1
	ClassWeights    []float64 // factors of C, see [ClassWeights]
}

// Prepare sets the training documents and weights, see [TrainingRows] and [ClassWeights]. If
// CValues is nil, c is the only value of C.
func (t *Training) Prepare(
	ctx context.Context, e sparse.Embedding, c float64, weights map[string]float64, balanced bool,
) (err error) {
	t.Workers = run.NumWorkers(t.Workers)
	if t.CValues == nil {
		t.CValues = []float64{c}
	}
	if err = CheckCValues(t.CValues); err == nil {
		t.Rows, err = TrainingRows(ctx, t.Corpus, e, t.Scheme)
	}
	if err == nil {
		t.ClassWeights, err = ClassWeights(t.Corpus, t.Rows, weights, balanced, t.Scheme)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", t.Name, err)
	}
	t.DocumentWeights = run.Select(t.Corpus.Weights, t.Rows)
	return nil
}

// IsBinary reports whether the second of two classifiers is the negation of the first.
func (t *Training) IsBinary() bool {
	return len(t.Corpus.Classes) == 2 && t.Scheme == solver.OneVsRest
}

// BinaryProblem is the training problem of one class against all others.
type BinaryProblem struct {
	Index    int
	Positive []bool     // Positive[i] is true if the document of row i has the class
	Weights  [2]float64 // factors of C for negative and for positive documents
	Workers  int        // number of goroutines for this class
	OnStep   func()     // counts a step for progress reports
}

// ForEachClass calls train once per class, concurrently for several classes. It calls train only
// once if IsBinary returns true.
func (t *Training) ForEachClass(
	ctx context.Context, train func(ctx context.Context, k BinaryProblem) error,
) (err error) {
	n := len(t.Corpus.Classes)
	if t.IsBinary() {
		n = 1
	}
	atOnce := min(t.Workers, n)
	var steps atomic.Int64
	var report func(int64)
	if t.Progress != nil {
		report = func(done int64) {
			p := run.Progress{Stage: "training", Done: done, Total: int64(n)}
			if count := steps.Load(); count > 0 {
				p.Details = []string{fmt.Sprintf("%d %s", count, t.StepUnit)}
			}
			t.Progress(p)
		}
	}
	ctx, r := run.StartReporter(ctx, t.Name+": Options.Progress", report)
	defer r.Finish(&err)
	return run.Tasks(ctx, atOnce, n, func(ctx context.Context, _, k int) error {
		own := BinaryProblem{Index: k, Positive: make([]bool, len(t.Rows)), Weights: [2]float64{1, t.ClassWeights[k]},
			Workers: max(t.Workers/atOnce, 1), OnStep: func() { steps.Add(1) }}
		if t.IsBinary() {
			own.Weights[0] = t.ClassWeights[1]
		}
		for at, i := range t.Rows {
			own.Positive[at] = slices.Contains(t.Corpus.Labels.Classes(i), int32(k))
		}
		err := train(ctx, own)
		r.Add(1)
		return err
	})
}
