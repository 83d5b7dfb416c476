package solver

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gramengine/gram/internal/musttest"
)

// scattered returns decision values. The values of true labels are too small by low.
func scattered(seed uint64, n, labels int, low float64) (decisions [][]float64, sets [][]int, parts []int) {
	r := rand.New(rand.NewPCG(seed, 1))
	for i := range n {
		own, set := make([]float64, labels), []int{}
		for l := range own {
			own[l] = -1 + 0.3*r.NormFloat64()
			if r.IntN(3+4*l) == 0 {
				own[l] += 1.5 - low
				set = append(set, l)
			}
		}
		decisions, sets, parts = append(decisions, own), append(sets, set), append(parts, i%3)
	}
	return decisions, sets, parts
}

// microF1 returns the micro F1 of thresholded labels, by its definition.
func microF1(decisions [][]float64, sets [][]int, above []float64) float64 {
	right, both := 0, 0
	for i, own := range decisions {
		for l, v := range own {
			has, given := slices.Contains(sets[i], l), v > above[l]
			if has {
				both++
			}
			if given {
				both++
			}
			if has && given {
				right++
			}
		}
	}
	return 2 * float64(right) / float64(both)
}

// The thresholds are optimal: exhaustive search finds no better pair of thresholds for two labels.
func TestTuneThresholdsBest(t *testing.T) {
	for seed := range uint64(5) {
		decisions, sets, parts := scattered(seed, 40, 2, 0.8)
		k := musttest.Get(newThresholdTuner(decisions, sets, parts))(t)
		best := 0.0
		cuts := func(l int) []float64 {
			out := []float64{-1, 1}
			for _, own := range decisions {
				if own[l] > -1 && own[l] <= 1 {
					out = append(out, own[l])
				}
			}
			return out
		}
		for _, a := range cuts(0) {
			for _, b := range cuts(1) {
				best = math.Max(best, microF1(decisions, sets, []float64{a, b}))
			}
		}
		if got := microF1(decisions, sets, k.labelThresholds(-1)); !(math.Abs(got-best) <= 1e-12) {
			t.Errorf("seed %d: %v by %v, expected %v", seed, got, k.labelThresholds(-1), best)
		}
	}
}

// Values that are too small get a threshold. The reported F1 applies to each fold the thresholds of
// the other folds. For unbiased values, thresholds of 0 are chosen.
func TestTuneThresholds(t *testing.T) {
	decisions, sets, parts := scattered(1, 600, 6, 0.8)
	got, labels, err := TuneThresholds(decisions, sets, parts)
	if err != nil || !(got.F1 > got.Sign+0.1) || !(slices.Max(got.Above) < -0.2) {
		t.Fatalf("%+v, %v", got, err)
	}
	right, both := 0, 0
	for i, own := range labels {
		for _, l := range own {
			if slices.Contains(sets[i], l) {
				right++
			}
		}
		both += len(own) + len(sets[i])
	}
	if f1 := 2 * float64(right) / float64(both); f1 != got.F1 {
		t.Errorf("F1 %v, of labels %v", got.F1, f1)
	}
	if sign := microF1(decisions, sets, make([]float64, 6)); sign != got.Sign {
		t.Errorf("F1 by sign %v, expected %v", got.Sign, sign)
	}
	// Each document has one label, whose value is the largest, but negative.
	for i := range decisions {
		l := i % 6
		sets[i] = []int{l}
		for k := range decisions[i] {
			decisions[i][k] = -3 - float64(i%17)
		}
		decisions[i][l] += 0.5
	}
	if got, _, err = TuneThresholds(decisions, sets, parts); err != nil || !got.AtLeastOneLabel || got.F1 != 1 {
		t.Errorf("%+v, %v", got, err)
	}
}

// After Apply, prediction by sign gives the labels that the thresholds gave before. Probabilities
// don't change.
func TestThresholdsApply(t *testing.T) {
	c := &Classifier{Scheme: MultiLabel, Classes: 2, Functions: []*DecisionFunction{
		{Rho: 0.25, Sigmoid: &Sigmoid{-2, 0.5}}, {Rho: -1},
	}}
	before := c.Functions[0].Sigmoid.Probability(0.75)
	musttest.NoError(t, (&Thresholds{Above: []float64{-0.5, 0.25}, AtLeastOneLabel: true}).Apply(c))
	if c.Functions[0].Rho != -0.25 || c.Functions[1].Rho != -0.75 || !c.AtLeastOneLabel {
		t.Errorf("%+v", c)
	}
	if after := c.Functions[0].Sigmoid.Probability(0.75 + 0.5); !(math.Abs(after-before) <= 1e-15) {
		t.Errorf("probability %v, expected %v", after, before)
	}
	for want, values := range map[int][]float64{0: {-1, -2}, 1: {-3, -2}} {
		if got := c.PredictLabels(nil, values); !slices.Equal(got, []int{want}) {
			t.Errorf("%v: labels %v, expected %d", values, got, want)
		}
	}
	if (&Thresholds{Above: []float64{1}}).Apply(c) == nil {
		t.Error("no error for one threshold of two machines")
	}
}

// Train finds the same thresholds as a cross-validation with the same folds, up to the tolerance.
func TestTrainThresholds(t *testing.T) {
	const n, labels = 240, 3
	m, x := gaussian(t, 9, n, 6, 0.5)
	sets, parts := make([][]int, n), make([]int, n)
	r := rand.New(rand.NewPCG(4, 4))
	for i := range n {
		sets[i] = []int{}
		for l := range labels {
			if x[i][l]+0.3*r.NormFloat64() > 0.8 {
				sets[i] = append(sets[i], l)
			}
		}
		parts[i] = i % 3
	}
	opt := Options{Tolerance: 1e-6}
	c := musttest.Get(Train(t.Context(), m, Training{LabelSets: sets, Classes: labels, Folds: parts}, opt))(t)
	trial := &CrossValidation{LabelSets: sets, Classes: labels, Folds: parts, TuneThresholds: true}
	v := musttest.Get(trial.Run(t.Context(), m, []Parameters{{}}, nil, opt))(t)
	got, want := c.Thresholds, v[0].Thresholds
	if got == nil || want == nil || v[0].Decisions != nil {
		t.Fatalf("%+v, %+v", got, want)
	}
	if !(math.Abs(got.F1-want.F1) <= 0.01) || !(math.Abs(got.Sign-want.Sign) <= 0.01) ||
		got.AtLeastOneLabel != want.AtLeastOneLabel {
		t.Errorf("%+v, expected %+v", got, want)
	}
	musttest.WantError(Train(t.Context(), m, Training{Labels: make([]int, n), Classes: 2, Folds: parts}, opt))(t,
		"parts without sets")
}

// The chosen rule has the largest macro F1 among the rules whose micro F1 is within a standard
// error of the difference from the best. The test computes macro F1 and standard error by their
// definitions.
func TestTuneThresholdsChoice(t *testing.T) {
	f1 := func(labels, sets [][]int, take func(i, l int) bool) float64 {
		right, both := 0, 0
		count := func(of [][]int, i int) (n int) {
			for _, l := range of[i] {
				if take(i, l) {
					n++
				}
			}
			return n
		}
		for i := range labels {
			for _, l := range labels[i] {
				if take(i, l) && slices.Contains(sets[i], l) {
					right++
				}
			}
			both += count(labels, i) + count(sets, i)
		}
		return 2 * float64(right) / float64(max(both, 1))
	}
	macros := 0 // number of choices that don't have the best micro F1
	for seed := range uint64(20) {
		const n, all = 300, 10
		decisions, sets, parts := scattered(seed, n, all, 0.7)
		k := musttest.Get(newThresholdTuner(decisions, sets, parts))(t)
		var micro, macro []float64
		var without [][]float64 // per rule and document: micro F1 without the document
		for _, fit := range []func(int) []float64{k.zeroThresholds, k.commonThreshold, k.labelThresholds} {
			above := [][]float64{fit(0), fit(1), fit(2)}
			for _, atLeastOne := range []bool{false, true} {
				labels := k.predictLabels(above, atLeastOne)
				micro = append(micro, f1(labels, sets, func(int, int) bool { return true }))
				sum, of := 0.0, make([]float64, n)
				for label := range all {
					sum += f1(labels, sets, func(_, l int) bool { return l == label })
				}
				for document := range of {
					of[document] = f1(labels, sets, func(i, _ int) bool { return i != document })
				}
				macro, without = append(macro, sum/all), append(without, of)
			}
		}
		best := slices.Index(micro, slices.Max(micro))
		want := best
		for r := range micro {
			var mean, squares float64 // jackknife estimate of the standard error
			for i := range without[r] {
				mean += (without[best][i] - without[r][i]) / n
			}
			for i := range without[r] {
				d := without[best][i] - without[r][i] - mean
				squares += d * d
			}
			if micro[best]-micro[r] <= math.Sqrt(squares*(n-1)/n) && macro[r] > macro[want] {
				want = r
			}
		}
		if want != best {
			macros++
		}
		got, _, err := TuneThresholds(decisions, sets, parts)
		if err != nil || got.F1 != micro[want] {
			t.Errorf("seed %d: micro F1 %v (%v), expected %v of %v", seed, got.F1, err, micro[want], micro)
		}
	}
	if macros == 0 || macros == 20 {
		t.Errorf("macro F1 decides %d of 20 choices, want some", macros)
	}
	worse, better := tuningRule{microF1: 0.5}, tuningRule{microF1: 1}
	for range 8 {
		worse.byDocument, better.byDocument = append(worse.byDocument, labelCounts{1, 4}),
			append(better.byDocument, labelCounts{2, 4})
	}
	if !worse.isClearlyWorse(better) || better.isClearlyWorse(worse) {
		t.Error("a rule that is worse by the same on all documents isn't clearly worse, or the other is")
	}
}
