package solver

import (
	"context"
	"slices"
)

// Shrinking is tried every shrinkEvery steps, as in LIBSVM. A problem is shrunk if at most a
// fraction shrinkShare of its documents remains. shrinkOnDemand replaces shrinkShare if rows are
// computed on demand, because the rows of all changed documents are recomputed at the end.
const (
	shrinkEvery    = 1000
	shrinkShare    = 0.7
	shrinkOnDemand = 0.5
	shrinkLeast    = 256 // minimum number of documents for shrinking
)

// worthKeeping returns the indices of the documents to keep, or nil if shrinking isn't worthwhile.
// s.ends must hold the extremes of d.
func (s *search) worthKeeping(d *dual) []int32 {
	if s.opt.KeepAll || len(d.docs) < shrinkLeast {
		return nil
	}
	share := shrinkShare
	if s.m.partial {
		share = shrinkOnDemand
	}
	keep := d.active(s.ends)
	if len(keep) < 2 || float64(len(keep)) > share*float64(len(d.docs)) {
		return nil
	}
	return keep
}

// leaveOut solves the problem of the documents in keep with all other variables fixed, and shrinks
// this problem repeatedly. At the end, it updates the scores of all documents, which is the cost of
// shrinking.
func (s *search) leaveOut(ctx context.Context, whole *dual, keep []int32, o *outcome) error {
	choose, store, before := s.choose, s.store, slices.Clone(whole.alpha)
	in := make([]int32, len(whole.docs)) // index in whole of each document of d
	for t := range in {
		in[t] = int32(t)
	}
	var err error
	for d := whole; keep != nil && err == nil; {
		d = d.restrict(keep)
		s.store = s.store.restrict(keep, d.docs, choose.size, s.bytes)
		s.choose = newChooser(choose.size, len(d.sign))
		clear(s.in.rows)
		for i, t := range keep {
			in[i] = in[t]
		}
		in = in[:len(keep)]
		keep, err = s.optimise(ctx, d, o)
		whole.takeOver(d, in)
	}
	store.asked, store.hits = s.store.asked, s.store.hits
	s.choose, s.store = newChooser(choose.size, len(whole.sign)), store
	clear(s.in.rows)
	if err != nil {
		return err
	}
	return s.update(ctx, whole, before)
}

// active returns the documents with a free variable, or with a variable that may be in a violating
// pair.
func (d *dual) active(ends []extremes) []int32 {
	n := len(d.docs)
	in := make([]bool, n)
	count := 0
	for i, b := range d.pairs() {
		for t, m := range d.mask {
			m &= b[0] | b[1]
			switch {
			case m == 0,
				m == b[0] && d.score[t] < ends[i].lo, // in no violating pair
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

// restrict returns the problem of the documents in keep, with all other variables fixed.
func (d *dual) restrict(keep []int32) *dual {
	n, copies := len(d.docs), len(d.sign)/len(d.docs)
	docs := make([]int, len(keep))
	for i, t := range keep {
		docs[i] = d.docs[t]
	}
	small := emptyDual(docs, copies)
	small.perClass, small.done = d.perClass, d.done
	for c := range copies {
		for i, t := range keep {
			small.set(c*len(keep)+i, &d.variables, c*n+int(t))
		}
	}
	return small
}

// takeOver copies the variables of small to d. Document i of small is document in[i] of d.
func (d *dual) takeOver(small *dual, in []int32) {
	n, copies := len(d.docs), len(d.sign)/len(d.docs)
	for c := range copies {
		for i, t := range in {
			d.alpha[c*n+int(t)], d.mask[c*n+int(t)] = small.alpha[c*len(in)+i], small.mask[c*len(in)+i]
		}
	}
}
