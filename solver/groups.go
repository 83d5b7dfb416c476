package solver

import (
	"cmp"
	"slices"
)

// Groups returns the numbers of the machines of a training over n documents in groups: those of a
// group are trained together, and no group depends on another. So [Train] makes the machines of some
// groups, those in Only, in the same bits as among all, and a training may be done a group here and
// a group there. One-vs-one has a group for each pair of classes with documents; in the other
// schemes problems over the same documents share their working sets, as many as suit the memory.
// Thresholds need all machines. Groups that share classes, and so rows of the matrix, follow each
// other. inMemory reports whether the matrix has its rows in memory (a method Row, see [Matrix]). Only
// is ignored. Errors: those of Train about what a training has.
func (t *Training) Groups(n int, inMemory bool) ([][]int, error) {
	p, err := t.plan(n, inMemory)
	if err != nil {
		return nil, err
	}
	var groups [][]int
	for i, machine := range p.Functions {
		if machine != nil { // a constant one
			groups = append(groups, []int{i})
		}
	}
	slices.SortStableFunc(p.groups, func(a, b []*problem) int {
		return cmp.Compare(zOrder(a[0].classes), zOrder(b[0].classes))
	})
	for _, some := range p.groups {
		var group []int
		for _, own := range some {
			group = append(group, own.place)
		}
		groups = append(groups, group)
	}
	if t.Folds != nil {
		groups = [][]int{slices.Concat(groups...)}
		slices.Sort(groups[0])
	}
	return groups, nil
}

// plan is what a training is made of.
type plan struct {
	*Classifier              // so far with its constant machines
	groups      [][]*problem // those that are open
	together    bool         // the problems of a group are solved by a multiSMO
	parts       int          // to tune thresholds on, 0 for none
}

// plan checks a training on n documents and divides it.
func (t *Training) plan(n int, inMemory bool) (*plan, error) {
	if n < 0 || n > maxDocuments {
		return nil, errUser("a training of %d documents, expected 0 to %d", n, maxDocuments)
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
	parts, err := t.parts(n)
	if err != nil {
		return nil, err
	}
	if err := t.Start.startsFor(c.Scheme, len(problems), n); err != nil {
		return nil, err
	}
	c.Functions = make([]*DecisionFunction, len(problems))
	var open []*problem
	for i, p := range problems {
		if p == nil {
			continue
		}
		if c.Functions[i] = p.constant(par.Probabilities); c.Functions[i] != nil {
			continue
		}
		p.set(&par)
		p.place = i
		if t.Start != nil {
			p.start = startFrom(t.Start.Functions[i])
		}
		open = append(open, p)
	}
	out := &plan{Classifier: c, parts: parts}
	// Labels are of very different sizes, and a search leaves most documents out soon: if rows are in memory,
	// each by itself takes a third of the time (Reuters-21578).
	alone := c.Scheme == Labels && (inMemory || t.IndependentLabels)
	if out.together = !alone && sharesDocuments(open); out.together {
		out.groups = batches(open)
	} else {
		out.groups = slices.Collect(slices.Chunk(open, 1))
	}
	return out, nil
}

// only leaves the groups that are wanted, nil for all.
func (p *plan) only(machines []int) error {
	if machines == nil {
		return nil
	}
	wanted := make([]bool, len(p.Functions))
	for _, i := range machines {
		if i < 0 || i >= len(wanted) || wanted[i] {
			return errUser("machine %d in Only, expected different ones from 0 to %d", i, len(wanted)-1)
		}
		wanted[i] = true
	}
	if i := slices.Index(wanted, false); p.parts > 0 && i >= 0 {
		return errUser("thresholds without machine %d in Only, expected all", i)
	}
	var some [][]*problem
	for _, group := range p.groups {
		first := group[0].place
		for _, own := range group {
			if wanted[own.place] != wanted[first] {
				return errUser("machines %d and %d are trained together, expected both of them or none in Only",
					first, own.place)
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
