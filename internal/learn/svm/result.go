package svm

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"gonum.org/v1/gonum/stat"

	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/internal/learn/model"
	"github.com/gramengine/gram/internal/run"
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

// Of returns the figure of a score.
func (m Measure) Of(s *Score) float64 {
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

// Result holds the figures of a cross-validation: of one candidate, on folds that all candidates of a search share.
type Result struct {
	Measure  Measure
	Figures  []float64 // the measure by fold
	Mean, SD float64   // of the figures; the deviation has n-1 in the denominator
	SE       float64   // standard error of the mean: SD / √folds
	ToBest   *Difference

	// Score is of all documents together; its Calibration is of probabilities that are fitted on the other folds.
	Score  *Score
	ByFold []*Score // of the documents of each fold; nil in a search of several candidates

	Took time.Duration // of all folds; in a search on shared tiles the time of workers that solved its problems

	// Of support vector machines.
	Iterations    int64
	Support       float64 // mean number of different support vectors of a fold
	SupportByFold []int
}

// Difference is the mean of the differences of two candidates' figures, fold by fold.
type Difference struct {
	Mean float64
	SE   float64 // standard error of the mean
}

// Complete fills in what follows from the figures.
func (r *Result) Complete() {
	r.Mean, r.SD = stat.MeanStdDev(r.Figures, nil)
	r.SE = r.SD / math.Sqrt(float64(len(r.Figures)))
}

// Ranks reports whether r is better than o: by the mean, by macro F1 of means that are equal up to rounding, by log
// loss of equal F1.
func (r *Result) Ranks(o *Result) bool {
	if !(math.Abs(r.Mean-o.Mean) <= 1e-12*math.Abs(o.Mean)) || r.Score == nil || o.Score == nil {
		return r.Measure.Better(r.Mean, o.Mean)
	}
	a, b := r.Score, o.Score
	if a.MacroF1 != b.MacroF1 || a.Calibration == nil || b.Calibration == nil {
		return a.MacroF1 > b.MacroF1
	}
	return a.Calibration.LogLoss < b.Calibration.LogLoss
}

// CompareTo sets the difference to the best candidate, on the same folds.
func (r *Result) CompareTo(best *Result) {
	if r.ToBest = nil; r != best && len(r.Figures) == len(best.Figures) {
		d := Paired(r.Figures, best.Figures)
		r.ToBest = &d
	}
}

// Paired returns the mean of the differences a[i] - b[i] and its standard error. It panics if b is longer than a.
func Paired(a, b []float64) Difference {
	differences := slices.Clone(a)
	for i, v := range b {
		differences[i] -= v
	}
	mean, sd := stat.MeanStdDev(differences, nil)
	return Difference{mean, sd / math.Sqrt(float64(len(a)))}
}

// result scores an outcome.
func (f *folded) result(ctx context.Context, o outcome) (*Result, error) {
	r, truth := &Result{Measure: f.s.Measure(), Took: o.Busy}, f.p.truth()
	var err error
	if r.Score, err = f.score(o, truth, -1); err != nil {
		return nil, err
	}
	for part := range f.folds {
		own, err := f.score(o, truth, part)
		if err != nil {
			return nil, err
		}
		fit := o.fit(part)
		r.ByFold, r.Figures = append(r.ByFold, own), append(r.Figures, r.Measure.Of(own))
		r.SupportByFold = append(r.SupportByFold, fit.Support)
		r.Support += float64(fit.Support) / float64(f.folds)
		r.Iterations += fit.Iterations
	}
	r.Complete()
	_, r.Score.Calibration, _, err = f.calibration(ctx, o)
	return r, err
}

// inCorpus brings values into the order of the corpus: corpus[i] is the document of value i.
func inCorpus[T any](corpus []int, values []T) []T {
	out := make([]T, len(values))
	for i, v := range values {
		out[corpus[i]] = v
	}
	return out
}

// score scores the documents of a fold, or all for -1.
func (f *folded) score(o outcome, truth *corpus.Corpus, part int) (*Score, error) {
	out := func(i int) bool { return part >= 0 && f.parts[i] != part }
	switch {
	case f.targets != nil:
		var values []float64
		var labels [][]int32
		for i, v := range inCorpus(f.corpus, run.Numbers(0, len(f.parts))) {
			if !out(v) {
				values, labels = append(values, o.Values[v]), append(labels, truth.Labels.Of(i))
			}
		}
		return ScoreValues(values, corpusOf(truth.Source, truth.Classes, labels))
	case f.sets != nil:
		sets := slices.Clone(o.Sets)
		for i := range sets {
			if out(i) {
				sets[i] = nil
			}
		}
		return ScoreLabels(truth.Classes, inCorpus(f.corpus, sets), truth), nil
	}
	class := slices.Clone(o.Predicted)
	for i := range class {
		if out(i) {
			class[i] = -1
		}
	}
	return ScoreClasses(truth.Classes, inCorpus(f.corpus, class), truth), nil
}
