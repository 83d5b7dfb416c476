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
// other. inMemory says whether the matrix has its rows in memory (a method Row, see [Matrix]). Only
// and Start aren't looked at.
//
// Errors: those of Train about labels, parameters and parts.
func (t *Training) Groups(n int, inMemory bool) ([][]int, error) {
	if n < 0 || n > mostDocuments {
		return nil, errUser("a training of %d documents, expected 0 to %d", n, mostDocuments)
	}
	c := &Classifier{Classes: t.Classes}
	problems, err := c.problems(t.Labels, t.Sets, t.Scheme, n)
	if err != nil {
		return nil, err
	}
	par, err := t.resolve(c.Classes, n)
	if err != nil {
		return nil, err
	}
	if _, err := t.parts(n); err != nil {
		return nil, err
	}
	var groups [][]int
	var open []*problem
	for i, p := range problems {
		switch {
		case p == nil:
		case p.constant(par.Probabilities) != nil:
			groups = append(groups, []int{i})
		default:
			p.place = i
			open = append(open, p)
		}
	}
	slices.SortStableFunc(open, func(a, b *problem) int { return cmp.Compare(zOrder(a.classes), zOrder(b.classes)) })
	for _, some := range groupsOf(open, sharesDocuments(open) && c.multiSMO(inMemory || t.Alone)) {
		var group []int
		for _, p := range some {
			group = append(group, p.place)
		}
		groups = append(groups, group)
	}
	if t.Parts != nil {
		groups = [][]int{slices.Concat(groups...)}
		slices.Sort(groups[0])
	}
	return groups, nil
}

// multiSMO says whether a multiSMO solves the problems of the scheme, where they can. Labels are of very
// different sizes, and a search leaves most documents out soon: where rows are in memory, each by
// itself takes a third of the time (Reuters-21578).
func (c *Classifier) multiSMO(inMemory bool) bool { return c.Scheme != Labels || !inMemory }

// groupsOf divides problems that are trained by a multiSMO, or each by itself.
func groupsOf(open []*problem, byMultiSMO bool) [][]*problem {
	switch {
	case len(open) == 0:
		return nil
	case byMultiSMO:
		return batches(open)
	}
	return slices.Collect(slices.Chunk(open, 1))
}

// only returns which of the open problems are wanted, and forgets the constant machines that aren't.
func (t *Training) only(c *Classifier, open []*problem, byMultiSMO bool) ([]*problem, error) {
	if t.Only == nil {
		return open, nil
	}
	wanted := make([]bool, len(c.Machines))
	for _, i := range t.Only {
		if i < 0 || i >= len(wanted) {
			return nil, errUser("machine %d in Only, expected 0 to %d", i, len(wanted)-1)
		}
		if wanted[i] {
			return nil, errUser("machine %d is in Only twice", i)
		}
		wanted[i] = true
	}
	if i := slices.Index(wanted, false); t.Parts != nil && i >= 0 {
		return nil, errUser("thresholds without machine %d in Only, expected all", i)
	}
	var some []*problem
	for _, group := range groupsOf(open, byMultiSMO) {
		first := group[0].place
		for _, p := range group {
			if wanted[p.place] != wanted[first] {
				return nil, errUser("machines %d and %d are trained together, expected both of them or none in Only",
					first, p.place)
			}
		}
		if wanted[first] {
			some = append(some, group...)
		}
	}
	for i, want := range wanted {
		if !want {
			c.Machines[i] = nil
		}
	}
	return some, nil
}
