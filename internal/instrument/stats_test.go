package instrument

import (
	"math"
	"math/rand/v2"
	"testing"
)

// simulated returns times of a run of all workloads. Rounds vary by 2%; one of oneOf takes up to
// half as long again (of 20 on a quiet machine, of 3 on a shared one). The speed drifts by 1% over
// a fifth of the run. Each workload differs by its part of vary, and all are slower.
func simulated(r *rand.Rand, rounds, oneOf int, vary []float64, slower float64) (runs [][]float64) {
	runs = make([][]float64, len(vary))
	drift, off := 0.01*r.NormFloat64(), make([]float64, len(vary))
	for w, of := range vary {
		off[w] = of * r.NormFloat64()
	}
	stays := math.Exp(-5 / float64(rounds))
	for range rounds {
		drift = stays*drift + math.Sqrt(1-stays*stays)*0.01*r.NormFloat64()
		for w := range runs {
			log := off[w] + drift + 0.02*r.NormFloat64()
			if r.IntN(oneOf) == 0 {
				log += 0.4 * r.Float64()
			}
			runs[w] = append(runs[w], 0.1*(1+slower)*math.Exp(log))
		}
	}
	return runs
}

// trueVariation returns the variation between runs, if Workload.RunToRun is an estimate from six
// runs: n s²/σ² is distributed as a sum of n squares.
func trueVariation(r *rand.Rand) (vary []float64) {
	for _, w := range Workloads {
		squares := 0.0
		for range runFreedom {
			v := r.NormFloat64()
			squares += v * v
		}
		vary = append(vary, w.RunToRun*math.Sqrt(runFreedom/squares))
	}
	return vary
}

// At most 1 of 20 pairs of runs of one program differs. A run that takes 5% longer is detected in 9
// of 10 of 400 simulated pairs, or in 8 of 10 with few rounds on a shared machine.
func TestComparisonOfSimulatedRuns(t *testing.T) {
	const pairs = 400
	for _, q := range [][3]int{{24, 20, 9}, {60, 20, 9}, {200, 20, 9}, {24, 3, 8}, {60, 3, 9}, {200, 3, 9}} {
		rounds, oneOf, power := q[0], q[1], q[2]
		r := rand.New(rand.NewPCG(1, uint64(rounds)))
		found := func(slower float64) (n int) {
			for range pairs {
				vary := trueVariation(r)
				a, b := simulated(r, rounds, oneOf, vary, 0), simulated(r, rounds, oneOf, vary, slower)
				if anyDiffers(ratiosOf(a, b)) {
					n++
				}
			}
			return n
		}
		same, slowed := found(0), found(0.05)
		t.Logf("%d rounds, one of %d disturbed: %d of %d equal pairs differ, %d of %d slowed ones", rounds, oneOf, same,
			pairs, slowed, pairs)
		if same > pairs/20 || slowed < pairs*power/10 {
			t.Errorf("%d rounds: %d of %d equal pairs differ, expected at most %d; %d slowed ones, expected at least %d",
				rounds, same, pairs, pairs/20, slowed, pairs*power/10)
		}
	}
}

// ratiosOf compares two runs like [Compare].
func ratiosOf(a, b [][]float64) (ratios []Ratio) {
	var as, bs [][]float64
	var vary [][2]float64
	for w := range a {
		as, bs = append(as, logBatches(a[w])), append(bs, logBatches(b[w]))
		vary = append(vary, [2]float64{Workloads[w].RunToRun, Workloads[w].RunToRun})
	}
	ratios, mean := compareBatches(as, bs, vary)
	return append(ratios, mean)
}

func anyDiffers(ratios []Ratio) bool {
	for _, r := range ratios {
		if r.Differs() {
			return true
		}
	}
	return false
}

// The interval contains the true median as often as stated, in samples of a skewed distribution.
func TestMedianInterval(t *testing.T) {
	const samples = 4000
	for _, n := range []int{6, 7, 24, 101} {
		r, missed := rand.New(rand.NewPCG(2, uint64(n))), 0
		for range samples {
			values := make([]float64, n)
			for i := range values {
				values[i] = math.Exp(r.NormFloat64())
			}
			m := medianOf(values)
			if !(m.Low <= m.Median && m.Median <= m.High) {
				t.Fatalf("%+v", m)
			}
			if !(m.Low <= 1 && 1 <= m.High) {
				missed++
			}
		}
		// The expected number is at most 200; 5 standard deviations of this binomial are 69.
		if missed > 269 {
			t.Errorf("n = %d: %d of %d intervals miss the median, expected at most 5 %%", n, missed, samples)
		}
	}
	if m := medianOf([]float64{3, 1, 2, 5, 4, 6}); m.Low != 1 || m.High != 6 || m.Median != 3.5 || !m.within(0.8, 6) ||
		m.within(0.5, 6) {
		t.Errorf("six values: %+v", m)
	}
	if m := medianOf([]float64{1, 1, 1}); m.within(0.1, 3) {
		t.Error("three values are enough")
	}
	if m := medianOf(nil); !math.IsNaN(m.Median) {
		t.Errorf("no values: %+v", m)
	}
}

// Equal batches give a ratio of 1.
func TestRatio(t *testing.T) {
	same := []float64{0.5, 0.5, 0.5}
	if r := ratioOf(same, same, [2]float64{0.01, 0.01}, 9); r.Ratio != 1 || r.Differs() || !(r.High < 1.08) {
		t.Errorf("of equal batches: %+v", r)
	}
	if r := ratioOf([]float64{math.Log(1), math.Log(1)}, []float64{math.Log(2), math.Log(2)}, [2]float64{},
		1); !r.Differs() ||
		r.Ratio != 0.5 {
		t.Errorf("of twice the time: %+v", r)
	}
}
