package instrument

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/gramengine/gram/internal/report"
)

// Times have long tails, follow each other (a machine that is hot stays hot for a while), and change from run to run,
// since code and memory lie elsewhere. So a median stands for them, whose interval needs no distribution. Two runs are
// compared by the lower quartiles of batches of rounds, beside what runs differ by of themselves: what others do on a
// shared machine only adds time, and not to all rounds.
const (
	level      = 0.95  // of all intervals
	batches    = 8     // of a run's rounds, each one stretch of them
	leastBatch = 3     // rounds: two of them that something interrupts don't move the quartile, the least of them
	drift      = 0.006 // standard deviation of a run's mean by slow changes of the machine's speed
	runFreedom = 5     // degrees of freedom of Workload.RunToRun, measured on six runs
)

// Median is the median of some values, and an interval that holds the median of all that could have been measured with
// a probability of at least 95 %.
type Median struct {
	Median float64 `json:"median"`
	Low    float64 `json:"low"`
	High   float64 `json:"high"`
}

// medianOf takes the interval from order statistics: the number of n values below the true median is binomial, so that
// the k-th least and the k-th greatest enclose it but with probability 2 P(B(n, ½) < k). With fewer than 6 values no
// two are far enough apart, and the interval is that from least to greatest (David and Nagaraja, Order Statistics,
// 2003, §7.1).
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

// within says that the interval is one of n values that reach 95 %, and no further from the median than a part of it.
func (m Median) within(part float64, n int) bool {
	return n >= 6 && m.High-m.Median <= part*m.Median && m.Median-m.Low <= part*m.Median
}

// logBatches are the logarithms of the lower quartiles of batches of a run's rounds, the ⌈n/4⌉-th of n: as many batches
// as leave each at least three rounds, and at most 8.
func logBatches(seconds []float64) []float64 {
	k := min(batches, len(seconds)/leastBatch)
	out := make([]float64, k)
	for i := range out {
		batch := slices.Sorted(slices.Values(seconds[i*len(seconds)/k : (i+1)*len(seconds)/k]))
		out[i] = math.Log(batch[(len(batch)-1)/4])
	}
	return out
}

// Ratio is one of two rates, that of the second run to that of the first. The intervals of all ratios of a comparison
// hold together with a probability of 95 %.
type Ratio struct {
	Ratio float64 `json:"ratio"`
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
}

// Differs says that the interval excludes equal rates.
func (r Ratio) Differs() bool { return r.Low > 1 || r.High < 1 }

// ratioOf compares batches of two runs. Each run has k batches with variance v, an allowance σ for what runs differ by,
// from vary, and one δ for changes of speed that are slower than a batch:
//
//	log ratio ± √(t²·(v_a/k_a + v_b/k_b) + t₅²·(σ_a² + σ_b²) + z²·2δ²),  δ = 0.6 %
//
// t has Welch's degrees of freedom, t₅ those of six runs. Each of several comparisons has a level of
// 1 - 0.05/comparisons (Bonferroni). There must be two batches or more.
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
