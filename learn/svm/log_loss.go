package svm

import (
	"math"
	"slices"

	"github.com/gramengine/gram/solver"
)

// leastProbability bounds what a document can cost in a log loss.
const leastProbability = 1e-15

// logLoss is that of an outcome with decision values, otherwise 0. The machines of a fold have
// sigmoids by the decision values of the documents of all other folds.
func (f *folded) logLoss(o outcome) (float64, error) {
	if o.classes == nil || o.classes.Decisions == nil {
		return 0, nil
	}
	decisions := o.classes.Decisions
	sum, n := 0.0, 0
	for part := range f.folds {
		c := *o.classes.Fits[part]
		c.Machines = slices.Clone(c.Machines)
		for m, positive := range f.signs(c.Scheme, c.Classes) {
			if c.Machines[m] == nil {
				continue
			}
			var values []float64
			var signs []bool
			for i, own := range decisions {
				if sign := positive(i); own != nil && sign != 0 && f.parts[i] != part {
					values, signs = append(values, own[m]), append(signs, sign > 0)
				}
			}
			own := *c.Machines[m]
			own.Sigmoid = &solver.Sigmoid{}
			if len(values) > 0 {
				fit, err := solver.FitSigmoid(values, signs)
				if err != nil {
					return 0, err
				}
				own.Sigmoid = &fit
			}
			c.Machines[m] = &own
		}
		p := make([]float64, c.Classes)
		for i, own := range decisions {
			if own == nil || f.parts[i] != part {
				continue
			}
			if err := c.Probabilities(p, own); err != nil {
				return 0, err
			}
			for k, v := range p {
				switch {
				case f.sets == nil && k != f.labels[i]:
					continue
				case f.sets != nil && !slices.Contains(f.sets[i], k):
					v = 1 - v
				}
				sum -= math.Log(max(v, leastProbability))
				n++
			}
		}
	}
	return sum / float64(n), nil
}

// signs yields each machine with a function that says of a document whether it is of the machine's
// positive class, 1, its negative one, -1, or of none, 0.
func (f *folded) signs(scheme solver.Scheme, classes int) func(func(m int, of func(i int) int) bool) {
	return func(yield func(m int, of func(i int) int) bool) {
		if scheme == solver.OneVsOne {
			for m, pair := range solver.Pairs(classes) {
				if !yield(m, func(i int) int {
					switch f.labels[i] {
					case pair[0]:
						return 1
					case pair[1]:
						return -1
					}
					return 0
				}) {
					return
				}
			}
			return
		}
		for m := range classes {
			if !yield(m, func(i int) int {
				if f.sets == nil && f.labels[i] == m || f.sets != nil && slices.Contains(f.sets[i], m) {
					return 1
				}
				return -1
			}) {
				return
			}
		}
	}
}
