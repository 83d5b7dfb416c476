package svm

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/internal/learn/model"
	"github.com/gramengine/gram/solver"
)

// Measure is the figure by which a validation is judged.
type Measure string

// The measures: of one class per document, of labels each for itself, and of regression.
const (
	Accuracy         Measure = "accuracy"
	MicroF1          Measure = "micro_f1"
	MeanSquaredError Measure = "mean_squared_error"
)

// Better says whether figure a is better than b; NaN is worse than any number.
func (m Measure) Better(a, b float64) bool {
	switch {
	case math.IsNaN(a) || math.IsNaN(b):
		return !math.IsNaN(a)
	case m == MeanSquaredError:
		return a < b
	}
	return a > b
}

// ranks says whether point a is better than b: by macro F1 where their means are the same.
func (m Measure) ranks(a, b *Point) bool {
	if m.Better(a.Mean, b.Mean) || m.Better(b.Mean, a.Mean) || a.Score == nil || b.Score == nil {
		return m.Better(a.Mean, b.Mean)
	}
	return a.Score.MacroF1 > b.Score.MacroF1
}

// String names the figure in a sentence.
func (m Measure) String() string {
	switch m {
	case MicroF1:
		return "micro F1"
	case MeanSquaredError:
		return "mean squared error"
	}
	return string(m)
}

// Format writes a figure as people read it: shares in percent.
func (m Measure) Format(v float64) string {
	if m == MeanSquaredError {
		return fmt.Sprintf("%.6g", v)
	}
	return fmt.Sprintf("%.2f%%", 100*v)
}

// of reads the measure from a score.
func (m Measure) of(s *Score) float64 {
	switch m {
	case MicroF1:
		return s.MicroF1
	case MeanSquaredError:
		return s.MeanSquaredError
	}
	return s.Accuracy
}

// Measure returns the figure by which settings are judged in a validation.
func (s *Settings) Measure() Measure {
	switch {
	case s.Type == model.EpsilonSVR || s.Type == model.NuSVR:
		return MeanSquaredError
	case s.Scheme == solver.Labels:
		return MicroF1
	}
	return Accuracy
}

// Validation is the result of a cross-validation. What it has by document is in the order of the
// corpus.
type Validation struct {
	// Fold is, by document, the fold that it was held out in, from 0; -1 for one without a label,
	// which is left out.
	Fold []int

	// What was predicted: Class is an index into Problem.Classes, -1 where left out; Labels are
	// such indices, increasing; Value is the estimate of the target. The others are nil.
	Class  []int
	Labels [][]int
	Value  []float64

	Thresholds *solver.Thresholds // of labels, where Settings ask for them: Labels are by those of the other folds

	// Score is of all documents together, with Calibration where Settings.Probabilities asks for it: probabilities are
	// fitted on the other folds. ByFold are of the documents of each fold.
	Score  *Score
	ByFold []*Score

	Measure  Measure
	Figures  []float64 // the measure by fold
	Mean, SD float64   // of the figures: their mean, and their standard deviation with n-1 in the denominator

	Iterations int64
	Unfinished int   // machines that didn't reach the tolerance
	Support    []int // by fold: how many different support vectors its machines have

	DotProducts int64         // that were computed for it; 0 where earlier work on the problem had them all
	Gram        time.Duration // computing tiles before
	Solve       time.Duration // training and predicting
}

// CrossValidate trains on all folds but one and predicts that one, for each fold. The seed divides
// the documents of each class, or all of regression, into folds of nearly equal size; documents of
// several labels by their first. idf weights are those of all documents, held out or not: only so can
// folds share dot products. Where columns are scaled ([sparse.Embedding.Scales]), or weights come from labels
// ([sparse.Embedding.Supervised]), that is learnt from the other folds alone, and each fold has dot products of
// its own.
//
// It computes each dot product once, where the whole matrix fits into memory. The result is the same
// from any number of workers.
//
// Errors: those of [Problem.Train], fewer than two folds or more than documents, and type one_class.
func (p *Problem) CrossValidate(ctx context.Context, s Settings, folds int, seed uint64) (*Validation, error) {
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	s, err := p.resolve(s)
	if err != nil {
		return nil, err
	}
	w := &work{s: s, cells: []cell{{s.C, s.Nu, s.Epsilon}}, folds: folds, seed: seed, stage: "validating", left: 1}
	before := p.Cache().Computed
	var v *Validation
	keep := func(ctx context.Context, f *folded, _ kernelAt, out []outcome) (err error) {
		v, err = f.result(ctx, out[0])
		return err
	}
	err = w.run(ctx, p, []kernelAt{{0, s.Kernel}}, keep)
	if err != nil {
		return nil, err
	}
	v.DotProducts = p.Cache().Computed - before + w.computed
	v.Gram, v.Solve = w.gram, w.solve
	return v, nil
}

// result scores an outcome.
func (f *folded) result(ctx context.Context, o outcome) (*Validation, error) {
	v := &Validation{Fold: inCorpus(f.corpus, f.parts), Measure: f.s.Measure()}
	switch {
	case f.targets != nil:
		v.Value = inCorpus(f.corpus, o.Values)
	case f.sets != nil:
		v.Labels, v.Thresholds = inCorpus(f.corpus, o.Sets), o.Thresholds
	default:
		v.Class = inCorpus(f.corpus, o.Predicted)
	}
	truth := f.p.truth()
	var err error
	if v.Score, err = v.score(truth, -1); err != nil {
		return nil, err
	}
	for part := range f.folds {
		own, err := v.score(truth, part)
		if err != nil {
			return nil, err
		}
		v.ByFold = append(v.ByFold, own)
		v.Figures = append(v.Figures, v.Measure.of(own))
		fit := o.fit(part)
		v.Support = append(v.Support, fit.support)
		v.Iterations += fit.iterations
		v.Unfinished += fit.unfinished
	}
	v.Mean, v.SD = meanAndDeviation(v.Figures)
	_, v.Score.Calibration, _, err = f.calibration(ctx, o)
	return v, err
}

// inCorpus brings values into the order of the corpus: corpus[i] is the document of value i.
func inCorpus[T any](corpus []int, values []T) []T {
	out := make([]T, len(values))
	for i, v := range values {
		out[corpus[i]] = v
	}
	return out
}

// score scores a fold, or all for -1.
func (v *Validation) score(truth *corpus.Corpus, part int) (*Score, error) {
	out := func(i int) bool { return part >= 0 && v.Fold[i] != part }
	switch {
	case v.Value != nil:
		var values []float64
		var labels [][]int32
		for i, value := range v.Value {
			if !out(i) {
				values, labels = append(values, value), append(labels, truth.Labels.Of(i))
			}
		}
		return ScoreValues(values, corpusOf(truth.Source, truth.Classes, labels))
	case v.Labels != nil:
		labels := slices.Clone(v.Labels)
		for i := range labels {
			if out(i) {
				labels[i] = nil
			}
		}
		return ScoreLabels(truth.Classes, labels, truth)
	}
	class := slices.Clone(v.Class)
	for i := range class {
		if out(i) {
			class[i] = -1
		}
	}
	return ScoreClasses(truth.Classes, class, truth)
}

// meanAndDeviation returns the mean and the standard deviation, with n-1 in the denominator, of two
// or more values.
func meanAndDeviation(values []float64) (mean, deviation float64) {
	for _, v := range values {
		mean += v
	}
	mean /= float64(len(values))
	var sum float64
	for _, v := range values {
		sum += float64((v - mean) * (v - mean))
	}
	return mean, math.Sqrt(sum / float64(len(values)-1))
}
