package solver

import "context"

// Shrinking pays when it leaves out a good part of the documents, and is looked into after so many steps, as in LIBSVM.
const (
	shrinkEvery = 1000
	shrinkShare = 0.7
	shrinkLeast = 256 // documents below which there is nothing to gain
)

// shrink leaves out the documents that are at a bound and beyond all violators, solves the problem of the others, and makes good what the rest missed:
// the rows of those documents that changed meanwhile are added to all scores. It says whether there was anything to leave out. s.ends are the
// extremes of d.
func (s *search) shrink(ctx context.Context, d *dual, o *outcome) (bool, error) {
	n := len(d.docs)
	if s.opt.KeepAll || n < shrinkLeast {
		return false, nil
	}
	keep := d.active(s.ends)
	if len(keep) < 2 || float64(len(keep)) > shrinkShare*float64(n) {
		return false, nil
	}
	small := d.restrict(keep)
	choose, store := s.choose, s.store
	s.choose, s.store = newChooser(choose.size, len(small.sign)), store.restrict(keep, choose.size, s.bytes)
	clear(s.in.rows)
	err := s.optimise(ctx, small, o)
	store.asked, store.hits = s.store.asked, s.store.hits
	s.choose, s.store = newChooser(choose.size, len(d.sign)), store
	clear(s.in.rows)
	if err != nil {
		return false, err
	}
	return true, s.rejoin(ctx, d, small, keep)
}

// active lists the documents that may still move, or take part in a pair that violates the optimality conditions.
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

// restrict is the problem of some documents, the others held where they are.
func (d *dual) restrict(keep []int32) *dual {
	n, copies := len(d.docs), len(d.sign)/len(d.docs)
	docs := make([]int, len(keep))
	for i, t := range keep {
		docs[i] = d.docs[t]
	}
	small := emptyDual(docs, copies)
	small.perClass = d.perClass
	for c := range copies {
		for i, t := range keep {
			from, to := c*n+int(t), c*len(keep)+i
			small.sign[to], small.upper[to], small.offset[to], small.alpha[to] = d.sign[from], d.upper[from], d.offset[from], d.alpha[from]
			small.score[to], small.mask[to], small.diag[to] = d.score[from], d.mask[from], d.diag[from]
		}
	}
	return small
}

// rejoin takes over what the problem of some documents came to. Until then the scores of d are those from before.
func (s *search) rejoin(ctx context.Context, d, small *dual, keep []int32) error {
	n, copies := len(d.docs), len(d.sign)/len(d.docs)
	var changed []int32
	var by []float64
	for i, t := range keep {
		var moved float64
		for c := range copies {
			from, to := c*len(keep)+i, c*n+int(t)
			moved += float64(d.sign[to]) * (d.alpha[to] - small.alpha[from])
			d.alpha[to], d.mask[to] = small.alpha[from], small.mask[from]
		}
		if moved != 0 {
			changed, by = append(changed, t), append(by, moved)
		}
	}
	return s.add(ctx, d, changed, by)
}
