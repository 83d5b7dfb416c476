package solver

import (
	"context"
	"slices"
)

// Shrinking pays when it leaves out a good part of the documents. It is considered after so many
// steps, as in LIBSVM.
const (
	shrinkEvery = 1000
	shrinkShare = 0.7
	shrinkLeast = 256 // documents below which there is nothing to gain
)

// worthKeeping lists the documents that stay in the problem, by their places in it; nil for all.
// s.ends are the extremes of d.
func (s *search) worthKeeping(d *dual) []int32 {
	if s.opt.KeepAll || len(d.docs) < shrinkLeast {
		return nil
	}
	keep := d.active(s.ends)
	if len(keep) < 2 || float64(len(keep)) > shrinkShare*float64(len(d.docs)) {
		return nil
	}
	return keep
}

// leaveOut solves the problem of the documents to keep, and of ever fewer of them, with the others
// fixed. Then it adds the rows of the documents that changed to all scores, once, however often
// documents were left out: this is what shrinking costs.
func (s *search) leaveOut(ctx context.Context, whole *dual, keep []int32, o *outcome) error {
	choose, store, before := s.choose, s.store, slices.Clone(whole.alpha)
	in := make([]int32, len(whole.docs)) // the documents of d, by their places in the whole
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

// active lists the documents that may still move, or take part in a pair that violates the
// optimality conditions.
func (d *dual) active(ends []extremes) []int32 {
	n := len(d.docs)
	in := make([]bool, n)
	count := 0
	for i, b := range d.pairs() {
		for t, m := range d.mask {
			m &= b[0] | b[1]
			switch {
			case m == 0,
				m == b[0] && d.score[t] < ends[i].lo, // could only rise, and has nothing to gain from it
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

// restrict is the problem of some documents, the others fixed.
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

// takeOver sets the variables to those of the problem of some documents, of which document i is in
// place in[i] here.
func (d *dual) takeOver(small *dual, in []int32) {
	n, copies := len(d.docs), len(d.sign)/len(d.docs)
	for c := range copies {
		for i, t := range in {
			d.alpha[c*n+int(t)], d.mask[c*n+int(t)] = small.alpha[c*len(in)+i], small.mask[c*len(in)+i]
		}
	}
}
