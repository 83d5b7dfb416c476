package svm

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/gramengine/gram/internal/learn/model"
	"github.com/gramengine/gram/internal/learn/tune"
	"github.com/gramengine/gram/internal/run"
	"github.com/gramengine/gram/solver"
)

// FoldOutcome holds the predictions for a fold's documents by binary classifiers trained on the
// other folds.
type FoldOutcome struct {
	Class     []int       `json:",omitempty"`
	Labels    [][]int     `json:",omitempty"`
	Values    []float64   `json:",omitempty"`
	Decisions [][]float64 `json:",omitempty"` // decision values for probabilities and thresholds
	Missing   []int       `json:",omitempty"` // indices of binary classifiers without training documents

	Support    int // number of distinct support vectors
	Iterations int64
	Unfinished int // number of binary classifiers that didn't reach the tolerance
}

// outcome is the result of validating one kernel and one cell.
type outcome struct {
	folds      []*FoldOutcome // nil for folds that weren't validated
	workerTime time.Duration  // solver time, summed over workers
}

func (f *foldedProblem) documentsOf(fold int) (docs []int) {
	for i, part := range f.foldOf {
		if part == fold {
			docs = append(docs, i)
		}
	}
	return docs
}

func (f *foldedProblem) outcome(v *solver.Validation) *outcome {
	o := &outcome{folds: make([]*FoldOutcome, f.folds), workerTime: v.SolverTime}
	for fold := range o.folds {
		if f.selectedFolds != nil && !slices.Contains(f.selectedFolds, fold) {
			continue
		}
		docs, fit := f.documentsOf(fold), v.Classifiers[fold]
		out := &FoldOutcome{Class: run.Select(v.PredictedClasses, docs), Labels: run.Select(v.LabelSets, docs),
			Values: run.Select(v.Estimates, docs), Decisions: run.Select(v.Decisions, docs), Support: len(fit.Support())}
		for m, machine := range fit.Functions {
			if machine == nil {
				out.Missing = append(out.Missing, m)
				continue
			}
			out.Iterations += int64(machine.Iterations)
			if !machine.Converged {
				out.Unfinished++
			}
		}
		o.folds[fold] = out
	}
	return o
}

// mergedFolds holds the predictions of all folds, in the order of the foldedProblem.
type mergedFolds struct {
	model.Prediction
	thresholds  *solver.Thresholds
	classifiers []*solver.Classifier // one per fold; functions without training documents are nil, others are empty
}

// mergeFolds merges the folds of an outcome, and tunes thresholds if f.s.TuneThresholds is set.
func (f *foldedProblem) mergeFolds(o *outcome) (t *mergedFolds, err error) {
	t = &mergedFolds{}
	_, machines := f.s.classifierCounts(f.p.sizes.classes)
	for fold, own := range o.folds {
		docs := f.documentsOf(fold)
		scatter(&t.ClassIndices, len(f.foldOf), docs, own.Class)
		scatter(&t.Labels, len(f.foldOf), docs, own.Labels)
		scatter(&t.Values, len(f.foldOf), docs, own.Values)
		scatter(&t.DecisionValues, len(f.foldOf), docs, own.Decisions)
		fit := &solver.Classifier{Scheme: f.s.Scheme, Classes: len(f.p.corpus.Classes),
			Functions: make([]*solver.DecisionFunction, machines)}
		for m := range fit.Functions {
			if !slices.Contains(own.Missing, m) {
				fit.Functions[m] = &solver.DecisionFunction{}
			}
		}
		t.classifiers = append(t.classifiers, fit)
	}
	for i, part := range f.foldOf {
		if part < 0 && t.ClassIndices != nil {
			t.ClassIndices[i] = -1
		}
	}
	if f.s.TuneThresholds {
		t.thresholds, t.Labels, err = solver.TuneThresholds(t.DecisionValues, f.sets, f.foldOf)
	}
	return t, err
}

func scatter[T any](all *[]T, n int, docs []int, found []T) {
	if found != nil && *all == nil {
		*all = make([]T, n)
	}
	for i := range found {
		(*all)[docs[i]] = found[i]
	}
}

func (f *foldedProblem) result(ctx context.Context, o *outcome) (*tune.Result, error) {
	t, err := f.mergeFolds(o)
	if err != nil {
		return nil, err
	}
	p := &model.Prediction{ClassIndices: inCorpusOrder(f.corpusIndex, t.ClassIndices),
		Labels: inCorpusOrder(f.corpusIndex, t.Labels),
		Values: inCorpusOrder(f.corpusIndex, t.Values)}
	r, err := tune.NewResult(f.p.truth(), p, inCorpusOrder(f.corpusIndex, f.foldOf), f.folds)
	if err != nil {
		return nil, err
	}
	r.Elapsed = o.workerTime
	for _, fit := range o.folds {
		r.FoldSupportVectorCounts = append(r.FoldSupportVectorCounts, fit.Support)
		r.MeanSupportVectorCount += float64(fit.Support) / float64(f.folds)
		r.Iterations += fit.Iterations
		r.UnfinishedCount += fit.Unfinished
	}
	if f.s.Probabilities {
		_, r.Score.Calibration, _, err = f.calibration(ctx, t)
	}
	return r, err
}

// separateDotProducts returns the number of dot products that a separate computation of each fold
// of outcome o would take: all pairs of training documents, and all pairs of a held-out document
// and a support vector.
func (f *foldedProblem) separateDotProducts(o *outcome) (n int64) {
	for fold, own := range o.folds {
		var held, others int64
		for _, part := range f.foldOf {
			switch {
			case part == fold:
				held++
			case part >= 0:
				others++
			}
		}
		n += others*(others+1)/2 + held*int64(own.Support)
	}
	return n
}

// check returns an error if own doesn't match the fold's size, or if a value is out of range.
func (f *foldedProblem) check(own *FoldOutcome, fold int) error {
	n, classes := len(f.documentsOf(fold)), len(f.p.corpus.Classes)
	_, most := f.s.classifierCounts(f.p.sizes.classes)
	machines := int(most)
	number := func(is bool) int {
		if is {
			return n
		}
		return 0
	}
	want := []int{number(f.labels != nil), number(f.sets != nil), number(f.targets != nil),
		number((f.s.Probabilities || f.s.TuneThresholds) && f.targets == nil)}
	bad := func(most int) func(int) bool { return func(c int) bool { return c < 0 || c >= most } }
	set := func(own []int) bool {
		increasing := slices.IsSorted(own) && len(slices.Compact(slices.Clone(own))) == len(own)
		return own == nil || !increasing || slices.ContainsFunc(own, bad(classes))
	}
	if !slices.Equal([]int{len(own.Class), len(own.Labels), len(own.Values), len(own.Decisions)}, want) ||
		slices.ContainsFunc(own.Class, bad(classes)) || slices.ContainsFunc(own.Missing, bad(machines)) ||
		slices.ContainsFunc(own.Values, func(v float64) bool { return math.IsNaN(v - v) }) ||
		slices.ContainsFunc(own.Decisions, func(d []float64) bool { return len(d) != machines }) ||
		slices.ContainsFunc(own.Labels, set) || min(own.Support, own.Unfinished) < 0 || own.Iterations < 0 {
		return fmt.Errorf("predictions do not match the fold of %d documents, %d classes and %d binary classifiers", n,
			classes, machines)
	}
	return nil
}
