package score

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/gramengine/gram/corpus"
)

// Regression compares estimates v with targets y over n documents.
type Regression struct {
	R2   Metric `json:"r2"`   // coefficient of determination, 1 - Σ(v-y)² / Σ(y-ȳ)²
	MAE  Metric `json:"mae"`  // mean absolute error, Σ|v-y| / n
	RMSE Metric `json:"rmse"` // root mean squared error, √(Σ(v-y)² / n)

	// Baseline holds the metrics of a baseline that always estimates the mean of the training
	// targets; nil if this mean is unknown.
	Baseline *MeanBaseline `json:"training_mean,omitempty"`

	WorstEstimates   []Estimate `json:"-"` // up to 20 estimates with the largest errors, in descending order
	SampledEstimates []Estimate `json:"-"` // up to 1,000 evenly spaced estimates, for charts
}

// Metric is a value with its 95% confidence interval. The interval follows from Student's t
// distribution for the mean of the metric's influence function over documents (delta method). For
// RMSE, the interval is computed for the mean squared error.
type Metric struct {
	Value float64 `json:"value"`
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
}

// MeanBaseline holds the metrics of a constant estimate, without confidence intervals.
type MeanBaseline struct {
	R2   float64 `json:"r2"`
	MAE  float64 `json:"mae"`
	RMSE float64 `json:"rmse"`
}

// Estimate compares the estimate Value for a document with its Target.
type Estimate struct {
	Document      int // index of the document
	Target, Value float64
}

const maxWorst, maxSampled = 20, 1000

// Targets returns the labels of n documents as numbers, or NaN for a document without exactly one
// label. It fails if the only label of a document isn't a finite number.
func Targets(truth *corpus.Corpus, n int) ([]float64, error) {
	out := make([]float64, n)
	for i := range out {
		out[i] = math.NaN()
		if own := truth.Labels.Classes(i); len(own) == 1 {
			name, err := truth.Classes[own[0]], error(nil)
			if out[i], err = strconv.ParseFloat(name, 64); err != nil || math.IsNaN(out[i]-out[i]) {
				return nil, fmt.Errorf("score: label %q of document %d of %s is not a finite number, as regression requires",
					name, truth.DocumentNumber(i), truth.Source)
			}
		}
	}
	return out, nil
}

// ComputeRegression scores the estimates of a regression against labels, which must be numbers. It
// skips documents without exactly one label. means, if not nil, holds the mean of the training
// targets for each document. The mean differs between folds.
func ComputeRegression(values, means []float64, truth *corpus.Corpus) (*Score, error) {
	all, err := Targets(truth, len(values))
	if err != nil {
		return nil, err
	}
	none := math.NaN()
	s := &Score{Accuracy: none, MicroF1: none, MacroF1: none, Hamming: none, Regression: &Regression{}}
	var x, z, xx, zz, xz float64
	var estimates []Estimate
	var targets, errors, ofMeans []float64
	for i, target := range all {
		if math.IsNaN(target) {
			continue
		}
		v := values[i]
		estimates, targets = append(estimates, Estimate{i, target, v}), append(targets, target)
		errors = append(errors, v-target)
		if means != nil {
			ofMeans = append(ofMeans, means[i]-target)
		}
		x += v
		z += target
		xx += float64(v * v)
		zz += float64(target * target)
		xz += float64(v * target)
		if v == target {
			s.Correct++
		}
	}
	s.Documents = len(targets)
	n := float64(s.Documents)
	num := n*xz - x*z
	s.Correlation = num * num / ((n*xx - x*x) * (n*zz - z*z))
	variance := meanOf(targets, func(y float64) float64 { return float64((y - z/n) * (y - z/n)) })
	square := func(e float64) float64 { return float64(e * e) }
	s.MeanSquaredError = meanOf(errors, square)
	r := s.Regression
	r.R2 = interval(1-s.MeanSquaredError/variance, len(errors), func(i int) float64 {
		d := targets[i] - z/n
		return (s.MeanSquaredError*(d*d)/variance - square(errors[i])) / variance
	})
	r.MAE = interval(meanOf(errors, math.Abs), len(errors), func(i int) float64 { return math.Abs(errors[i]) })
	mse := interval(s.MeanSquaredError, len(errors), func(i int) float64 { return square(errors[i]) })
	r.MAE.Low = max(r.MAE.Low, 0)
	r.RMSE = Metric{math.Sqrt(mse.Value), math.Sqrt(max(mse.Low, 0)), math.Sqrt(mse.High)}
	if means != nil {
		mse := meanOf(ofMeans, square)
		r.Baseline = &MeanBaseline{1 - mse/variance, meanOf(ofMeans, math.Abs), math.Sqrt(mse)}
	}
	for k := 0; k < len(estimates); k += (len(estimates)-1)/maxSampled + 1 {
		r.SampledEstimates = append(r.SampledEstimates, estimates[k])
	}
	slices.SortStableFunc(estimates, func(a, b Estimate) int {
		return cmp.Compare(math.Abs(b.Value-b.Target), math.Abs(a.Value-a.Target))
	})
	r.WorstEstimates = slices.Clone(estimates[:min(len(estimates), maxWorst)])
	return s, nil
}

func meanOf(values []float64, f func(v float64) float64) float64 {
	sum := 0.0
	for _, v := range values {
		sum += f(v)
	}
	return sum / float64(len(values))
}

// interval returns a metric with its confidence interval. influence(i) is the metric's influence
// function at document i, up to an additive constant.
func interval(value float64, n int, influence func(i int) float64) Metric {
	all := make([]float64, n)
	for i := range all {
		all[i] = influence(i)
	}
	t := math.NaN()
	if n > 1 {
		t = distuv.StudentsT{Sigma: 1, Nu: float64(n - 1)}.Quantile(0.975)
	}
	by := t * stat.StdDev(all, nil) / math.Sqrt(float64(n))
	return Metric{value, value - by, value + by}
}
