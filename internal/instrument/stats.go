package instrument

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/gramengine/gram/internal/report"
)

// Times have long tails, are correlated (a hot machine stays hot), and vary between runs, because
// memory addresses change. So the intervals of medians are distribution-free. Two runs are compared
// by the lower quartiles of batches of rounds, with an allowance for the variation between runs: on
// a shared machine, other programs only add time, and not to all rounds.
const (
	level      = 0.95  // probability of all intervals
	batches    = 8     // maximum number of batches of consecutive rounds
	minBatch   = 3     // minimum number of rounds; the lower quartile of three ignores two slow rounds
	drift      = 0.006 // standard deviation of a run's mean due to slow changes of the machine's speed
	runFreedom = 5     // degrees of freedom of Workload.RunToRun, measured on six runs
)

// Median is the median of some values, with an interval that contains the true median with
// probability 95% or more.
type Median struct {
	Median float64 `json:"median"`
	Low    float64 `json:"low"`
	High   float64 `json:"high"`
}

// medianOf returns the interval from order statistics: the number of n values below the true median
// is binomial, so the k-th smallest and the k-th largest value enclose it, except with probability
// 2 P(B(n, ½) < k). With fewer than 6 values, the interval is from minimum to maximum and has a
// smaller probability (David and Nagaraja, Order Statistics, 2003, §7.1).
func medianOf(values []float64) Median {
	sorted := slices.Sorted(slices.Values(values))
	n := len(sorted)
	if n == 0 {
		return Median{math.NaN(), math.NaN(), math.NaN()}
	}
	rank, below := 0, distuv.Binomial{N: float64(n), P: 0.5}
	for rank+1 < (n+1)/2 && 2*below.CDF(float64(rank+1)) <= 1-level {
		rank++
	}
	return Median{report.Median(values), sorted[rank], sorted[n-1-rank]}
}

// within reports whether the interval of n values reaches 95% and is within part of the median.
func (m Median) within(part float64, n int) bool {
	return n >= 6 && m.High-m.Median <= part*m.Median && m.Median-m.Low <= part*m.Median
}

// logBatches returns the logarithms of the lower quartiles (the ⌈n/4⌉-th of n) of up to 8 batches
// of rounds, with at least three rounds each.
func logBatches(seconds []float64) []float64 {
	k := min(batches, len(seconds)/minBatch)
	out := make([]float64, k)
	for i := range out {
		batch := slices.Sorted(slices.Values(seconds[i*len(seconds)/k : (i+1)*len(seconds)/k]))
		out[i] = math.Log(batch[(len(batch)-1)/4])
	}
	return out
}

// Ratio is the rate of the second run divided by the rate of the first. The intervals of all ratios
// of a comparison hold simultaneously with probability 95%.
type Ratio struct {
	Ratio float64 `json:"ratio"`
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
}

// Differs reports whether the interval excludes 1.
func (r Ratio) Differs() bool { return r.Low > 1 || r.High < 1 }

// ratioOf compares batches of two runs. Each run has k batches with variance v, and allowances σ
// (from vary) between runs and δ for slow changes of speed:
//
//	log ratio ± √(t²·(v_a/k_a + v_b/k_b) + t₅²·(σ_a² + σ_b²) + z²·2δ²),  δ = 0.6 %
//
// t has Welch's degrees of freedom, t₅ has five, because σ comes from six runs. The level of each
// comparison is 1 - 0.05/comparisons (Bonferroni). a and b must have at least two batches.
func ratioOf(a, b []float64, vary [2]float64, comparisons int) Ratio {
	meanA, varA := stat.MeanVariance(a, nil)
	meanB, varB := stat.MeanVariance(b, nil)
	ofA, ofB := varA/float64(len(a)), varB/float64(len(b))
	between := vary[0]*vary[0] + vary[1]*vary[1]
	freedom := (ofA + ofB) * (ofA + ofB) / max(ofA*ofA/float64(len(a)-1)+ofB*ofB/float64(len(b)-1), 1e-300)
	p := 1 - (1-level)/2/float64(comparisons)
	t := distuv.StudentsT{Sigma: 1, Nu: min(max(freedom, 1), 1e6)}.Quantile(p)
	tRuns, z := distuv.StudentsT{Sigma: 1, Nu: runFreedom}.Quantile(p), distuv.UnitNormal.Quantile(p)
	log, half := meanA-meanB, math.Sqrt(t*t*(ofA+ofB)+tRuns*tRuns*between+2*z*z*drift*drift)
	return Ratio{math.Exp(log), math.Exp(log - half), math.Exp(log + half)}
}
