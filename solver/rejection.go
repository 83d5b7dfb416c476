package solver

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"
)

// Rejection says which objects get no class: those whose greatest probability is below Below.
type Rejection struct {
	Below float64 `json:"below"`

	// Coverage is the share of held-out objects that got a class, Error that of wrong ones among these.
	Coverage float64 `json:"coverage"`
	Error    float64 `json:"error"`
}

// RejectionTarget is what a [Rejection] is to reach, one of both.
type RejectionTarget struct {
	Error    float64 // of objects that get a class at most this share gets a wrong one; 0: doesn't matter
	Coverage float64 // at least this share gets a class; 0: doesn't matter
}

// Validate reports a target that is none: not exactly one share above 0, or one that isn't below 1.
func (t RejectionTarget) Validate() error {
	if !(t.Error >= 0 && t.Error < 1 && t.Coverage >= 0 && t.Coverage <= 1) || (t.Error > 0) == (t.Coverage > 0) {
		return errUser("an error of %v and a coverage of %v, expected one share above 0, at most 1", t.Error, t.Coverage)
	}
	return nil
}

// Answer is the most probable class of an object that machines weren't trained on.
type Answer struct {
	Probability float64
	Right       bool
	Part        int // the same number for objects that were held out together
}

// TuneRejection finds the least threshold that reaches a target on answers: the coverage, or the error, of
// a new part in 19 of 20 cases, if it differs from the parts as these do from each other. That is
//
//	e + t·s·√(1 + 1/k) <= target,
//
// with e = (wrong + 1) / (answered + 1) over all k parts, the standard deviation s of the parts' errors,
// and the quantile t of 95 % of Student's distribution of k-1 degrees of freedom. Time: O(n·(k + log n))
// for n answers.
//
// Errors: a target that is none, answers of fewer than two parts, no probability, an error
// that no threshold reaches with answers of all parts.
func TuneRejection(answers []Answer, target RejectionTarget) (*Rejection, error) {
	if err := target.Validate(); err != nil {
		return nil, err
	}
	type counts struct{ given, wrong float64 }
	const most = 1 + 0x1p-24 // one-vs-one divides probabilities by their sum about 2²⁷ times at most, each within 2⁻⁵²
	place := map[int]int{}   // of a part among those that have answers
	for i, a := range answers {
		if !(a.Probability >= 0 && a.Probability <= most) {
			return nil, errUser("answer %d has probability %v, expected a number from 0 to 1", i, a.Probability)
		}
		if _, ok := place[a.Part]; !ok {
			place[a.Part] = len(place)
		}
	}
	parts, k := make([]counts, len(place)), float64(len(place))
	if k < 2 {
		return nil, errUser("answers of %d parts, expected two or more", len(place))
	}
	t := distuv.StudentsT{Sigma: 1, Nu: k - 1}.Quantile(0.95) * math.Sqrt(1+1/k)
	answers = slices.Clone(answers)
	slices.SortStableFunc(answers, func(a, b Answer) int { return cmp.Compare(b.Probability, a.Probability) })
	var best *Rejection
	least, all := math.Inf(1), counts{}
	for i, a := range answers {
		of := &parts[place[a.Part]]
		of.given++
		all.given++
		if !a.Right {
			of.wrong++
			all.wrong++
		}
		if i+1 < len(answers) && answers[i+1].Probability == a.Probability {
			continue // all of them, or none
		}
		now := &Rejection{min(a.Probability, 1), all.given / float64(len(answers)), all.wrong / all.given}
		if target.Coverage > 0 {
			if now.Coverage >= target.Coverage {
				return now, nil
			}
			continue
		}
		spread := 0.0
		for _, part := range parts {
			d := part.wrong/part.given - now.Error // NaN without an answer
			spread += d * d
		}
		bound := (all.wrong+1)/(all.given+1) + t*math.Sqrt(spread/(k-1))
		if bound <= target.Error {
			best = now
		}
		if bound < least {
			least = bound
		}
	}
	if best == nil {
		few := ""
		if one := 1 / float64(len(answers)+1); one > target.Error {
			few = fmt.Sprintf(": %d answers are too few, since even without a mistake the bound is %.3g", len(answers), one)
		}
		return nil, errUser("no threshold keeps the error of a new part at %v, expected %.3g or more%s", target.Error, least,
			few)
	}
	return best, nil
}
