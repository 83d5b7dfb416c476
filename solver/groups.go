package solver

import (
	"cmp"
	"slices"
)

// Groups divides the indices of the decision functions for n documents into groups that can be
// trained independently. If OnlyFunctions contains complete groups, [Train] returns the same
// functions, bit for bit, as a full training run. Groups can therefore be trained on different
// computers. One-vs-one has a group for each pair of non-empty classes. In other schemes, a group
// is one function, or several functions that share working sets in limited memory. If thresholds
// are tuned, there is only one group. Consecutive groups share classes, and therefore rows of the
// matrix. inMemory states whether the matrix has a method Row (see [Matrix]). OnlyFunctions is
// ignored. Groups fails if t is invalid.
func (t *Training) Groups(n int, inMemory bool) ([][]int, error) {
	p, err := t.plan(n, inMemory)
	if err != nil {
		return nil, err
	}
	var groups [][]int
	for i, machine := range p.Functions {
		if machine != nil { // constant decision function
			groups = append(groups, []int{i})
		}
	}
	slices.SortStableFunc(p.groups, func(a, b []*problem) int {
		return cmp.Compare(zOrder(a[0].classes), zOrder(b[0].classes))
	})
	for _, some := range p.groups {
		var group []int
		for _, own := range some {
			group = append(group, own.index)
		}
		groups = append(groups, group)
	}
	if t.Folds != nil {
		groups = [][]int{slices.Concat(groups...)}
		slices.Sort(groups[0])
	}
	return groups, nil
}

type trainingPlan struct {
	*Classifier              // contains only constant decision functions
	groups      [][]*problem // problems to solve
	joint       bool         // a multiSMO solves the problems of each group
	foldCount   int          // number of folds for tuning thresholds; 0 = none
}

func (t *Training) plan(n int, inMemory bool) (*trainingPlan, error) {
	if n < 0 || n > maxDocuments {
		return nil, userError("number of training documents must be between 0 and %d, got %d", maxDocuments, n)
	}
	c := &Classifier{}
	problems, err := t.problems(c, n)
	if err != nil {
		return nil, err
	}
	par, err := t.resolve(c.Classes, n)
	if err != nil {
		return nil, err
	}
	parts, err := t.foldCount(n)
	if err != nil {
		return nil, err
	}
	if err := t.StartFrom.checkStart(c.Scheme, len(problems), n); err != nil {
		return nil, err
	}
	c.Functions = make([]*DecisionFunction, len(problems))
	var open []*problem
	for i, p := range problems {
		if p == nil {
			continue
		}
		if c.Functions[i] = p.constantFunction(par.Probabilities); c.Functions[i] != nil {
			continue
		}
		p.setParameters(&par)
		p.index = i
		if t.StartFrom != nil {
			p.initial = initialSolutionFrom(t.StartFrom.Functions[i])
		}
		open = append(open, p)
	}
	out := &trainingPlan{Classifier: c, foldCount: parts}
	// Labels differ strongly in frequency, and shrinking soon leaves out most documents. With rows
	// in memory, separate solver runs took a third of the time of a multiSMO (Reuters-21578).
	alone := c.Scheme == MultiLabel && (inMemory || t.IndependentLabels)
	if out.joint = !alone && sharesDocuments(open); out.joint {
		out.groups = batchProblems(open)
	} else {
		out.groups = slices.Collect(slices.Chunk(open, 1))
	}
	return out, nil
}

// restrictTo removes groups whose functions aren't in machines, unless machines is nil. It fails if
// machines contains only part of a group.
func (p *trainingPlan) restrictTo(machines []int) error {
	if machines == nil {
		return nil
	}
	wanted := make([]bool, len(p.Functions))
	for _, i := range machines {
		if i < 0 || i >= len(wanted) || wanted[i] {
			return userError("OnlyFunctions must have distinct numbers from 0 to %d, but %d is outside or repeated",
				len(wanted)-1, i)
		}
		wanted[i] = true
	}
	if i := slices.Index(wanted, false); p.foldCount > 0 && i >= 0 {
		return userError("OnlyFunctions lacks decision function %d, but tuning thresholds requires all", i)
	}
	var some [][]*problem
	for _, group := range p.groups {
		first := group[0].index
		for _, own := range group {
			if wanted[own.index] != wanted[first] {
				return userError("OnlyFunctions must have both or neither of decision functions %d and %d", first, own.index)
			}
		}
		if wanted[first] {
			some = append(some, group)
		}
	}
	for i, want := range wanted {
		if !want {
			p.Functions[i] = nil
		}
	}
	p.groups = some
	return nil
}
