package svm

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gramengine/gram/internal/musttest"
)

// answersOf returns 100 answers per fold. Of the 50 least probable answers of fold k, wrong[k] in
// ten are wrong.
func answersOf(wrong ...int) (answers []answer) {
	for part, w := range wrong {
		for i := range 100 {
			right := i < 50 || i%10 >= w
			answers = append(answers, answer{Probability: 1 - float64(i)/100, Correct: right, Fold: 3 * part})
		}
	}
	return answers
}

func TestTuneRejection(t *testing.T) {
	// The folds' error rates are equal. 20 of the first 450 answers are wrong, and 25 of all 500.
	got, others, err := tuneRejection(answersOf(1, 1, 1, 1, 1), RejectionTarget{ErrorRate: 0.1})
	musttest.NoError(t, err)
	want := []ErrorTarget{{0.08, 0.6}, {0.12, 1}}
	if got.Coverage != 0.9 || got.ErrorRate != 20./450 || others.UnthresholdedErrorRate != 0.05 ||
		!slices.Equal(others.ErrorTargets, want) {
		t.Errorf("%+v, %+v, expected 90 %%, and %v", got, others, want)
	}
	// If one fold has all the errors, χ²/(k-1) is 26.3, and no target of a few percent is met.
	musttest.WantError(tuneRejection(answersOf(0, 0, 0, 0, 5), RejectionTarget{ErrorRate: 0.1}))(t, "parts that differ")
	// The probability is hypergeometric: at most 1 of 3 wrong answers in 120 is among 100 of them.
	if p := excessProbability(0.05, 20, 1, 100); !(math.Abs(p-0.07171343) <= 1e-8) {
		t.Errorf("P(X > 1) = %v", p)
	}
	got, others, err = tuneRejection(answersOf(2, 2), RejectionTarget{Coverage: 0.905})
	if err != nil || got.Coverage != 0.91 || others.UnthresholdedErrorRate != 0.1 {
		t.Errorf("%+v, %v, expected the least coverage from 0.905", got, err)
	}
	wrong := []answer{{1, false, 0}, {1, true, 1}}
	for what, c := range map[string]struct {
		answers []answer
		target  RejectionTarget
	}{
		"got 0 and 0":                 {wrong, RejectionTarget{}},
		"got 0.1 and 0.5":             {wrong, RejectionTarget{0.1, 0.5}},
		"of at least 2 folds":         {wrong[:1], RejectionTarget{ErrorRate: 0.1}},
		"probability of prediction 0": {[]answer{{math.NaN(), true, 0}}, RejectionTarget{ErrorRate: 0.1}},
		"an error rate of 10%; without rejection it is 50": {wrong, RejectionTarget{ErrorRate: 0.1}},
		"up to 50% can be guaranteed with 2 predictions":   {wrong, RejectionTarget{ErrorRate: 0.1}},
		"0.1%; without rejection it is 5.0%, and error=5% would answer": {answersOf(1, 1, 1, 1, 1),
			RejectionTarget{ErrorRate: 0.001}},
	} {
		musttest.WantError(tuneRejection(c.answers, c.target))(t, "a wrong target", what)
	}
}

// With exact probabilities, a new batch exceeds the error target after at most 5% of the training
// runs.
func TestRejectionHolds(t *testing.T) {
	const runs, parts = 200, 5
	for _, shape := range []struct {
		name string
		draw func(r *rand.Rand) float64 // largest probability of four classes
	}{
		{"hard", func(r *rand.Rand) float64 { return 0.25 + 0.75*math.Sqrt(r.Float64()) }},
		{"easy", func(r *rand.Rand) float64 { return 0.25 + 0.75*math.Pow(r.Float64(), 0.05) }},
		{"sure or lost", func(r *rand.Rand) float64 {
			if r.Float64() < 0.8 {
				return 0.997
			}
			return 0.25 + 0.75*r.Float64()
		}},
	} {
		for _, n := range []int{200, 1000, 3000} {
			for _, target := range []float64{0.01, 0.02, 0.05, 0.1} {
				r := rand.New(rand.NewPCG(uint64(n), 7))
				batch := func(n int) []answer {
					out := make([]answer, n)
					for i := range out {
						p := shape.draw(r)
						out[i] = answer{p, r.Float64() < p, i % parts}
					}
					return out
				}
				exceeded, found, coverage := 0, 0, 0.0
				for range runs {
					own, fresh := batch(n), batch(n/parts)
					rejection, _, err := tuneRejection(own, RejectionTarget{ErrorRate: target})
					if err != nil {
						continue
					}
					found++
					coverage += rejection.Coverage / runs
					given, wrong := 0.0, 0.0
					for _, a := range fresh {
						if a.Probability >= rejection.MinProbability {
							given++
							if !a.Correct {
								wrong++
							}
						}
					}
					if wrong > target*given {
						exceeded++
					}
				}
				share := float64(exceeded) / runs
				t.Logf("%-12s n %4d, target %4.0f%%: a threshold in %3d of %d runs, coverage %5.1f%%, exceeded in %2d, %4.1f%%",
					shape.name, n, 100*target, found, runs, 100*coverage, exceeded, 100*share)
				if !(share <= 0.05) {
					t.Errorf("%s, %d answers, target %v: exceeded in %.3f of trainings, expected at most 0.05", shape.name, n,
						target, share)
				}
			}
		}
	}
}
