package score

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/internal/musttest"
)

// numbers returns a corpus whose labels are the targets.
func numbers(targets []float64) *corpus.Corpus {
	c := &corpus.Corpus{Source: "truth"}
	for i, y := range targets {
		c.Classes = append(c.Classes, fmt.Sprint(y))
		c.Labels.Add(int32(i))
	}
	return c
}

// In 2,000 samples of y = x + e with normal x and e, the intervals contain the expected metrics in
// 95% of the samples, up to 3 standard errors of this fraction and 1% for the normal approximation.
func TestIntervals(t *testing.T) {
	const samples, n, sd = 2000, 80, 0.5
	random := rand.New(rand.NewPCG(3, 4))
	want := []float64{1 - sd*sd/(1+sd*sd), sd * math.Sqrt(2/math.Pi), sd}
	inside := make([]float64, len(want))
	for range samples {
		var targets, values []float64
		for range n {
			x := random.NormFloat64()
			targets, values = append(targets, x+sd*random.NormFloat64()), append(values, x)
		}
		r := musttest.Get(ComputeRegression(values, nil, numbers(targets)))(t).Regression
		for k, f := range []Metric{r.R2, r.MAE, r.RMSE} {
			if f.Low <= want[k] && want[k] <= f.High {
				inside[k] += 1.0 / samples
			}
		}
	}
	for k, share := range inside {
		within(t, fmt.Sprintf("share of intervals of figure %d with the expected value", k), share, 0.95,
			0.01+3*math.Sqrt(0.95*0.05/samples))
	}
}

// The metrics of the baseline, the largest errors and the sample match their definitions.
func TestRegression(t *testing.T) {
	var targets, values, means []float64
	for i := range 2500 {
		targets, values, means = append(targets, float64(i)), append(values, float64(i+i%50)), append(means, 1300)
	}
	r := musttest.Get(ComputeRegression(values, means, numbers(targets)))(t).Regression
	variance := float64(2500*2500-1) / 12 // of 0, 1, …, 2499
	mse := variance + (1300-1249.5)*(1300-1249.5)
	within(t, "R² of the mean", r.Baseline.R2, 1-mse/variance, 1e-12)
	within(t, "root mean squared error of the mean", r.Baseline.RMSE, math.Sqrt(mse), 1e-9)
	within(t, "mean absolute error of the mean", r.Baseline.MAE, (1300*1301+1199*1200)/2.0/2500, 1e-9)
	if len(r.WorstEstimates) != maxWorst || r.WorstEstimates[1] != (Estimate{99, 99, 148}) {
		t.Errorf("the largest errors are %v", r.WorstEstimates)
	}
	if len(r.SampledEstimates) != 834 || r.SampledEstimates[1] != (Estimate{3, 3, 6}) ||
		r.SampledEstimates[833].Document != 2499 {
		t.Errorf("%d sampled estimates, from %v", len(r.SampledEstimates), r.SampledEstimates[:2])
	}
	exact := musttest.Get(ComputeRegression([]float64{1}, nil, numbers([]float64{1})))(t).Regression
	if exact.Baseline != nil || exact.RMSE.Value != 0 || !math.IsNaN(exact.RMSE.High) {
		t.Errorf("one exact estimate: %+v", exact)
	}
}
