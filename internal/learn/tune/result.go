// Package tune selects settings by cross-validation. It defines candidates and folds, decides what
// to try next, and reports the comparison. An [Evaluator] trains and predicts.
package tune

import (
	"fmt"
	"math"
	"slices"
	"time"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/internal/learn/model"
	"github.com/gramengine/gram/internal/learn/score"
	"github.com/gramengine/gram/internal/run"
)

// Measure is the metric by which candidates are compared.
type Measure string

// The measures are for one class per document, for independent labels, and for regression.
const (
	Accuracy         Measure = "accuracy"
	MicroF1          Measure = "micro_f1"
	MeanSquaredError Measure = "mean_squared_error"
)

// Better reports whether value a of the measure is better than b; NaN is worse than any number.
func (m Measure) Better(a, b float64) bool {
	switch {
	case math.IsNaN(a) || math.IsNaN(b):
		return !math.IsNaN(a)
	case m == MeanSquaredError:
		return a < b
	}
	return a > b
}

// String returns the measure's name for use in a sentence.
func (m Measure) String() string {
	switch m {
	case MicroF1:
		return "micro F1"
	case MeanSquaredError:
		return "mean squared error"
	}
	return string(m)
}

// Format formats a value of the measure. Fractions are formatted as percentages.
func (m Measure) Format(v float64) string {
	if m == MeanSquaredError {
		return fmt.Sprintf("%.6g", v)
	}
	return fmt.Sprintf("%.2f%%", 100*v)
}

// Value returns measure m of score s.
func (m Measure) Value(s *score.Score) float64 {
	switch m {
	case MicroF1:
		return s.MicroF1
	case MeanSquaredError:
		return s.MeanSquaredError
	}
	return s.Accuracy
}

// Result holds the scores of a candidate. All candidates of a comparison use the same folds.
type Result struct {
	Measure          Measure
	FoldValues       []float64 // values of the measure, one per fold
	Mean, SD         float64   // mean and standard deviation of FoldValues (n-1 in the denominator)
	SE               float64   // standard error of the mean: SD / √folds
	DifferenceToBest *Difference

	// Score covers all documents. Score.Calibration is computed from probabilities fitted to the
	// other folds.
	Score      *score.Score
	FoldScores []*score.Score // one score per fold; an evaluator may omit FoldScores

	Elapsed time.Duration // time for all folds; if tiles are shared, worker time for the candidate's problems

	UnfinishedCount int // number of binary classifiers whose training stopped before it converged

	// The following fields are for support vector machines.
	Iterations              int64
	MeanSupportVectorCount  float64 // mean number of distinct support vectors per fold
	FoldSupportVectorCounts []int
}

// NewResult scores predictions from cross-validation: each document is predicted by a model trained
// without the document's fold. c has the documents' labels. fold[i] is the fold of document i, or
// -1 if the document is excluded.
func NewResult(c *corpus.Corpus, p *model.Prediction, fold []int, folds int) (_ *Result, err error) {
	r := &Result{Measure: Accuracy}
	switch {
	case p.Values != nil:
		r.Measure = MeanSquaredError
	case p.Labels != nil:
		r.Measure = MicroF1
	}
	if p.Values != nil {
		r.Score, err = scoreRegression(c, p.Values, fold, folds)
	} else {
		r.Score, err = score.Compute(c.Classes, p, c)
	}
	if err != nil {
		return nil, err
	}
	for part := range folds {
		var rows []int
		truth := &corpus.Corpus{Source: c.Source, Classes: c.Classes}
		for i, f := range fold {
			if f == part {
				rows = append(rows, i)
				truth.Labels.Add(c.Labels.Classes(i)...)
			}
		}
		own := &model.Prediction{ClassIndices: run.Select(p.ClassIndices, rows), Labels: run.Select(p.Labels, rows),
			Values: run.Select(p.Values, rows)}
		s, err := score.Compute(c.Classes, own, truth)
		if err != nil {
			return nil, err
		}
		r.FoldScores, r.FoldValues = append(r.FoldScores, s), append(r.FoldValues, r.Measure.Value(s))
	}
	r.computeStatistics()
	return r, nil
}

// scoreRegression scores the estimates of a regression. For comparison, it also scores the mean
// target of the other folds.
func scoreRegression(c *corpus.Corpus, values []float64, fold []int, folds int) (*score.Score, error) {
	targets, err := score.Targets(c, len(values))
	if err != nil {
		return nil, err
	}
	sum, n := make([]float64, folds), make([]float64, folds)
	for i, f := range fold {
		if f >= 0 && !math.IsNaN(targets[i]) {
			sum[f], n[f] = sum[f]+targets[i], n[f]+1
		}
	}
	means := make([]float64, len(values))
	for i, f := range fold {
		if f >= 0 {
			means[i] = (floats.Sum(sum) - sum[f]) / (floats.Sum(n) - n[f])
		}
	}
	return score.ComputeRegression(values, means, c)
}

func (r *Result) computeStatistics() {
	r.Mean, r.SD = stat.MeanStdDev(r.FoldValues, nil)
	r.SE = r.SD / math.Sqrt(float64(len(r.FoldValues)))
}

// IsBetter reports whether r is better than o. It compares the means. If the means are equal up to
// rounding, it compares macro F1, and then log loss.
func (r *Result) IsBetter(o *Result) bool {
	if !(math.Abs(r.Mean-o.Mean) <= 1e-12*math.Abs(o.Mean)) || r.Score == nil || o.Score == nil {
		return r.Measure.Better(r.Mean, o.Mean)
	}
	a, b := r.Score, o.Score
	if a.MacroF1 != b.MacroF1 || a.Calibration == nil || b.Calibration == nil {
		return a.MacroF1 > b.MacroF1
	}
	return a.Calibration.LogLoss < b.Calibration.LogLoss
}

// Difference is the mean difference between the scores of two candidates, paired by fold.
type Difference struct {
	Mean float64
	SE   float64 // standard error of the mean
}

// PairedDifference returns the mean of the differences a[i] - b[i] and its standard error.
func PairedDifference(a, b []float64) Difference {
	differences := slices.Clone(a)
	for i, v := range b {
		differences[i] -= v
	}
	mean, sd := stat.MeanStdDev(differences, nil)
	return Difference{mean, sd / math.Sqrt(float64(len(a)))}
}
