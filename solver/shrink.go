package solver

import (
	"context"
	"slices"
)

// Shrinking is tried every shrinkInterval steps, as in LIBSVM. A problem is shrunk if at most a
// fraction maxActiveFraction of its documents remains, or maxActiveFractionOnDemand if rows are
// computed on demand, because the rows of all changed documents are recomputed at the end.
const (
	shrinkInterval            = 1000
	maxActiveFraction         = 0.7
	maxActiveFractionOnDemand = 0.5
	minShrinkDocuments        = 256 // problems with fewer documents aren't shrunk
)

// documentsToKeep returns the indices of the documents that remain after shrinking, or nil if
// shrinking isn't worthwhile. s.extremes must hold the extremes of d.
func (s *singleSMO) documentsToKeep(d *dual) []int32 {
	if s.opt.DisableShrinking || len(d.docs) < minShrinkDocuments {
		return nil
	}
	share := maxActiveFraction
	if s.m.onDemand {
		share = maxActiveFractionOnDemand
	}
	keep := d.activeDocuments(s.extremes)
	if len(keep) < 2 || float64(len(keep)) > share*float64(len(d.docs)) {
		return nil
	}
	return keep
}

// solveShrunk solves the problem for the documents in keep with all other variables fixed, and
// shrinks this problem repeatedly. At the end, it updates the scores of all documents.
func (s *singleSMO) solveShrunk(ctx context.Context, whole *dual, keep []int32, o *runResult) error {
	choose, store, before := s.selector, s.cache, slices.Clone(whole.alpha)
	in := make([]int32, len(whole.docs)) // index in whole.docs of each document of d
	for t := range in {
		in[t] = int32(t)
	}
	var err error
	for d := whole; keep != nil && err == nil; {
		d = d.restrict(keep)
		s.cache = s.cache.restrict(keep, d.docs, choose.size, s.rowBytes)
		s.selector = newWorkingSetSelector(choose.size, len(d.sign))
		clear(s.subproblem.rows)
		for i, t := range keep {
			in[i] = in[t]
		}
		in = in[:len(keep)]
		keep, err = s.optimise(ctx, d, o)
		whole.copyFrom(d, in)
	}
	store.requests, store.hits = s.cache.requests, s.cache.hits
	s.selector, s.cache = newWorkingSetSelector(choose.size, len(whole.sign)), store
	clear(s.subproblem.rows)
	if err != nil {
		return err
	}
	return s.updateScores(ctx, whole, before)
}

// activeDocuments returns the documents with a variable that is free or may be in a violating pair.
func (d *dual) activeDocuments(ends []extremes) []int32 {
	n := len(d.docs)
	in := make([]bool, n)
	count := 0
	for i, b := range d.constraintBits() {
		for t, m := range d.mask {
			m &= b[0] | b[1]
			switch {
			case m == 0,
				m == b[0] && d.score[t] < ends[i].lo, // variable t is in no violating pair
				m == b[1] && d.score[t] > ends[i].hi:
				continue
			}
			if !in[t%n] {
				in[t%n] = true
				count++
			}
		}
	}
	keep := make([]int32, 0, count)
	for t, yes := range in {
		if yes {
			keep = append(keep, int32(t))
		}
	}
	return keep
}

// restrict returns the problem for the documents in keep, with all other variables fixed.
func (d *dual) restrict(keep []int32) *dual {
	n, copies := len(d.docs), len(d.sign)/len(d.docs)
	docs := make([]int, len(keep))
	for i, t := range keep {
		docs[i] = d.docs[t]
	}
	small := emptyDual(docs, copies)
	small.perClass, small.progress = d.perClass, d.progress
	for c := range copies {
		for i, t := range keep {
			small.copyVariable(c*len(keep)+i, &d.variables, c*n+int(t))
		}
	}
	return small
}

// copyFrom copies α and mask of small to d. Document i of small is document in[i] of d.
func (d *dual) copyFrom(small *dual, in []int32) {
	n, copies := len(d.docs), len(d.sign)/len(d.docs)
	for c := range copies {
		for i, t := range in {
			d.alpha[c*n+int(t)], d.mask[c*n+int(t)] = small.alpha[c*len(in)+i], small.mask[c*len(in)+i]
		}
	}
}
