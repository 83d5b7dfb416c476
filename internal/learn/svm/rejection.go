package svm

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/gramengine/gram/solver"
)

// RejectionTarget is the target of a [solver.Rejection]. Exactly one field must be set.
type RejectionTarget struct {
	ErrorRate float64 // maximum error rate of documents that get a class; 0 = no target
	Coverage  float64 // minimum fraction of documents that get a class; 0 = no target
}

// UnmarshalText parses error=SHARE or coverage=SHARE, where SHARE is a number up to 1 or a
// percentage.
func (t *RejectionTarget) UnmarshalText(text []byte) error {
	key, value, _ := strings.Cut(string(text), "=")
	number, percent := strings.CutSuffix(value, "%")
	share, err := strconv.ParseFloat(number, 64)
	if percent {
		share /= 100
	}
	*t = RejectionTarget{}
	switch key {
	case "error":
		t.ErrorRate = share
	case "coverage":
		t.Coverage = share
	}
	return errors.Join(err, t.Validate())
}

// String formats the target as UnmarshalText reads it.
func (t RejectionTarget) String() string {
	if t.Coverage > 0 {
		return fmt.Sprintf("coverage=%v", t.Coverage)
	}
	return fmt.Sprintf("error=%v", t.ErrorRate)
}

// Validate returns an error unless exactly one field is above 0 and both fields are in range.
func (t RejectionTarget) Validate() error {
	if !(t.ErrorRate >= 0 && t.ErrorRate < 1 && t.Coverage >= 0 && t.Coverage <= 1) ||
		(t.ErrorRate > 0) == (t.Coverage > 0) {
		return fmt.Errorf("svm: either error in (0, 1) or coverage in (0, 1] must be set, got %v and %v",
			t.ErrorRate, t.Coverage)
	}
	return nil
}

// answer is the prediction of the most probable class for a held-out document.
type answer struct {
	Probability float64
	Correct     bool
	Fold        int // index of the held-out fold
}

// ErrorTarget is an error rate, and the coverage of a threshold that reaches this error rate.
type ErrorTarget struct {
	ErrorRate float64 `json:"error"`
	Coverage  float64 `json:"coverage"`
}

// RejectionAlternatives describes thresholds for other error targets on the same held-out
// predictions.
type RejectionAlternatives struct {
	UnthresholdedErrorRate float64       `json:"error_of_all"` // error rate without a threshold
	ErrorTargets           []ErrorTarget `json:"targets,omitempty"`
}

// rejectionLevels is the number of coverages at which thresholds are tested: 1/50, 2/50, …, 1.
const rejectionLevels = 50

// tuneRejection tunes a threshold on k folds. For a coverage target, it returns the highest
// threshold that reaches the target. For an error target E, it returns the lowest threshold that
// passes a test.
//
// An error target is tested at fixed coverages, strictest threshold first. A threshold at which w
// of a answers are wrong passes at level α if the number X of wrong answers in a new batch of m =
// a/k answers has
//
//	P(X > E·m) <= α,   X ~ BetaBinomial(m, w + 1, a - w)
//
// This is exact for independent answers, because the ranks of the new answers among all are
// hypergeometric. If the folds' error rates differ by more than chance, a, w and m are divided by
// the dispersion of these rates, Pearson's χ²/(k-1) over all answers.
//
// The fallback procedure (Wiens, Pharmaceutical Statistics 2, 2003) has a total α of 5% for all
// thresholds. The strictest threshold that would pass with two wrong answers (or one, or none) gets
// an α of 3%, and the thresholds of 40, 60, 80 and 100% coverage get 0.5% each. A threshold that
// passes hands its α on to the next threshold.
//
// For an error target, the alternatives are the nearest smaller and larger errors that other
// coverages reach.
//
// It fails if the target or a probability is invalid, if there are fewer than two folds, or if no
// threshold reaches the target.
func tuneRejection(answers []answer, target RejectionTarget) (*solver.Rejection, *RejectionAlternatives, error) {
	if err := target.Validate(); err != nil {
		return nil, nil, err
	}
	// The slack is for rounding: about 2²⁷ normalisations (one-vs-one) with relative errors of 2⁻⁵²
	// have a relative error of 2⁻²⁵.
	const most = 1 + 0x1p-24
	parts := map[int]*answerCounts{}
	for i, a := range answers {
		if !(a.Probability >= 0 && a.Probability <= most) {
			return nil, nil, fmt.Errorf("svm: probability of prediction %d must be in [0, 1], got %v", i, a.Probability)
		}
		if parts[a.Fold] == nil {
			parts[a.Fold] = &answerCounts{}
		}
		parts[a.Fold].add(a)
	}
	if len(parts) < 2 {
		return nil, nil, fmt.Errorf("svm: predictions of at least 2 folds are required, got %d", len(parts))
	}
	answers = slices.Clone(answers)
	slices.SortStableFunc(answers, func(a, b answer) int { return cmp.Compare(b.Probability, a.Probability) })
	t := &rejectionTest{k: float64(len(parts)), dispersion: dispersion(parts)}
	all, last := answerCounts{}, 0
	for i, a := range answers {
		all.add(a)
		if i+1 < len(answers) && answers[i+1].Probability == a.Probability {
			continue // documents with equal probabilities are rejected together
		}
		now := solver.Rejection{
			MinProbability: min(a.Probability, 1), Coverage: all.total / float64(len(answers)), ErrorRate: all.wrong / all.total,
		}
		if target.Coverage > 0 && now.Coverage >= target.Coverage {
			return &now, &RejectionAlternatives{UnthresholdedErrorRate: overallErrorRate(parts)}, nil
		}
		if step := (i + 1) * rejectionLevels / len(answers); step > last {
			t.levels, last = append(t.levels, level{now, all}), step
		}
	}
	best := t.lowestThreshold(target.ErrorRate)
	others := &RejectionAlternatives{overallErrorRate(parts), t.errorTargets(target.ErrorRate, best)}
	if best != nil {
		return best, others, nil
	}
	could := fmt.Sprintf("no error rate up to 50%% can be guaranteed with %d predictions", len(answers))
	if len(others.ErrorTargets) > 0 {
		could = fmt.Sprintf("error=%.6g%% would answer %.1f%%", 100*others.ErrorTargets[0].ErrorRate,
			100*others.ErrorTargets[0].Coverage)
	}
	return nil, nil, fmt.Errorf("svm: no threshold guarantees an error rate of %.6g%%; without rejection it is "+
		"%.1f%%, and %s",
		100*target.ErrorRate, 100*others.UnthresholdedErrorRate, could)
}

type answerCounts struct{ total, wrong float64 }

func (c *answerCounts) add(a answer) {
	c.total++
	if !a.Correct {
		c.wrong++
	}
}

func overallErrorRate(parts map[int]*answerCounts) float64 {
	var all answerCounts
	for _, p := range parts {
		all.total, all.wrong = all.total+p.total, all.wrong+p.wrong
	}
	return all.wrong / all.total
}

// dispersion returns Pearson's χ² of the folds' errors per degree of freedom, at least 1.
func dispersion(parts map[int]*answerCounts) float64 {
	e, chi := overallErrorRate(parts), 0.0
	if e == 0 || e == 1 {
		return 1
	}
	var terms []float64
	for _, p := range parts {
		terms = append(terms, (p.wrong-p.total*e)*(p.wrong-p.total*e)/(p.total*e*(1-e)))
	}
	slices.Sort(terms) // sorted, because the random map order would change the rounding of the sum
	for _, t := range terms {
		chi += t
	}
	return max(1, chi/float64(len(parts)-1))
}

type level struct {
	solver.Rejection
	count answerCounts
}

type rejectionTest struct {
	k, dispersion float64
	levels        []level
}

func (t *rejectionTest) lowestThreshold(target float64) (best *solver.Rejection) {
	passes := func(given, wrong, alpha float64) bool {
		m := math.Floor(given / t.dispersion / t.k)
		return wrong < given && excessProbability(target, m, wrong/t.dispersion, given/t.dispersion) <= alpha
	}
	first := -1
	for wrong := 2.0; wrong >= 0 && first < 0; wrong-- {
		first = slices.IndexFunc(t.levels, func(l level) bool { return passes(l.count.total, wrong, 0.03) })
	}
	alpha, next := 0.0, 0.4
	for i, l := range t.levels {
		if i == first {
			alpha += 0.03
		}
		for ; next <= l.Coverage+1e-9; next += 0.2 {
			alpha += 0.005
		}
		if alpha > 0 && passes(l.count.total, l.count.wrong, alpha) {
			best = &t.levels[i].Rejection
		} else {
			alpha = 0
		}
	}
	return best
}

// excessProbability returns P(X > target·m) for X ~ BetaBinomial(m, w + 1, a - w).
func excessProbability(target, m, w, a float64) float64 {
	if m < 1 {
		return 1
	}
	lgamma := func(x float64) float64 { v, _ := math.Lgamma(x); return v }
	log := lgamma(m+a-w) + lgamma(a+1) - lgamma(a-w) - lgamma(m+a+1) // log P(X = 0)
	within := math.Exp(log)
	for x := 0.0; x+1 <= target*m+1e-9; x++ {
		log += math.Log((m - x) * (x + w + 1) / ((x + 1) * (m - x - 1 + a - w)))
		within += math.Exp(log)
	}
	return 1 - within
}

// errorTargets returns the error rates closest to target whose coverage differs from best's.
func (t *rejectionTest) errorTargets(target float64, best *solver.Rejection) (out []ErrorTarget) {
	list := []float64{.001, .002, .005, .01, .02, .03, .04, .05, .06, .08, .1, .12, .15, .2, .25, .3, .4, .5}
	other := func(e float64) bool {
		r := t.lowestThreshold(e)
		if r == nil || best != nil && r.Coverage == best.Coverage {
			return false
		}
		out = append(out, ErrorTarget{e, r.Coverage})
		return true
	}
	for i := len(list) - 1; i >= 0 && best != nil; i-- {
		if list[i] < target && other(list[i]) {
			break
		}
	}
	for _, e := range list {
		if e > target && other(e) {
			break
		}
	}
	return out
}
