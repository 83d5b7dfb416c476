package instrument

import (
	"math"
	"math/rand/v2"
	"testing"
)

// simulated are the times of a run of 8 workloads, as a machine might give them: rounds scatter by 2 %, one of so many
// takes up to half as long again (of twenty on a quiet machine, of three on one that is shared), the machine's speed
// drifts by 1 % over a fifth of the run, and the whole run is off by 0.7 %. slower is what a worker that is slowed down
// takes more.
func simulated(r *rand.Rand, rounds, oneOf int, slower float64) (runs [][]float64) {
	const workloads = 8
	runs = make([][]float64, workloads)
	run, drift := 0.007*r.NormFloat64(), 0.01*r.NormFloat64()
	stays := math.Exp(-5 / float64(rounds))
	for range rounds {
		drift = stays*drift + math.Sqrt(1-stays*stays)*0.01*r.NormFloat64()
		for w := range runs {
			log := run + drift + 0.02*r.NormFloat64()
			if r.IntN(oneOf) == 0 {
				log += 0.4 * r.Float64()
			}
			runs[w] = append(runs[w], 0.1*(1+slower)*math.Exp(log))
		}
	}
	return runs
}

// Runs on one machine don't differ in 19 of 20 tries, and a worker that takes 5 % longer is found in 9 of 10: of 2,000
// simulated pairs each.
func TestComparisonOfSimulatedRuns(t *testing.T) {
	const pairs = 1000
	for _, q := range [][2]int{{24, 20}, {60, 20}, {200, 20}, {24, 3}, {60, 3}, {200, 3}} {
		rounds, oneOf := q[0], q[1]
		r := rand.New(rand.NewPCG(1, uint64(rounds)))
		found := func(slower float64) (n int) {
			for range pairs {
				if ratios := ratiosOf(simulated(r, rounds, oneOf, 0), simulated(r, rounds, oneOf, slower)); anyDiffers(ratios) {
					n++
				}
			}
			return n
		}
		same, slowed := found(0), found(0.05)
		t.Logf("%d rounds, one of %d disturbed: %d of %d equal pairs differ, %d of %d slowed ones", rounds, oneOf, same,
			pairs, slowed, pairs)
		if same > pairs/20 || slowed < pairs*9/10 {
			t.Errorf("%d rounds: %d of %d equal pairs differ, expected at most %d; %d slowed ones, expected at least %d",
				rounds, same, pairs, pairs/20, slowed, pairs*9/10)
		}
	}
}

// ratiosOf compares two runs as [Compare] does.
func ratiosOf(a, b [][]float64) (ratios []Ratio) {
	var as, bs [][]float64
	for w := range a {
		as, bs = append(as, logBatches(a[w])), append(bs, logBatches(b[w]))
	}
	ratios, mean := compareBatches(as, bs)
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

// The interval of a median holds the true one as often as it says: of 4,000 samples of a skewed distribution.
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
		// 200 expected at most; of a binomial with that mean, 5 standard deviations above are 69.
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
	if r := ratioOf(same, same, 9); r.Ratio != 1 || r.Differs() || !(r.High < 1.04) {
		t.Errorf("of equal batches: %+v", r)
	}
	if r := ratioOf([]float64{math.Log(1), math.Log(1)}, []float64{math.Log(2), math.Log(2)}, 1); !r.Differs() ||
		r.Ratio != 0.5 {
		t.Errorf("of twice the time: %+v", r)
	}
}
