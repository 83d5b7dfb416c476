package solver

import (
	"cmp"
	"context"
	"slices"

	"github.com/gramengine/gram/internal/run"
)

// A search solves problems one after the other. Several goroutines (threads) share the score
// updates of a large problem.
type search struct {
	opt     *Options
	m       *source
	threads int
	arena   []float32 // memory for rows, reused by the next problem
	report  *reporter

	in     *inner
	choose *chooser
	store  *rowStore
	bytes  int64 // memory limit for rows
	whole  int   // number of documents of the problem, including documents left out by shrinking

	rowOf   []int32 // index into rows, by variable of the working set
	columns []int32 // column of the document, by variable of the working set
	docs    []int32 // documents whose rows are fetched
	rows    [][]float32
	byVar   [][]float32
	moved   [][]float32 // rows to add to the scores; by holds their factors
	by      []float64
	cached  []byte     // mask of the dual, 0 for documents without a cached row
	ends    []extremes // extremes of the scores at the start of the round
}

// outcome is the final state of a solver run.
type outcome struct {
	iterations int
	gap        float64
	converged  bool
	left       int // number of iterations left
}

// The working set of a problem with n documents has n/setShare variables, clamped to [minSet,
// maxSet]. The values were tuned on problems with 1,131 and 11,314 documents. Smaller sets need
// more passes over the scores. Larger sets have larger submatrices, which should fit the L2 cache.
const setShare, minSet, maxSet = 64, 64, 256

// setOf returns the working set size for n documents: n/share, clamped to [smallest, largest], and
// smaller if RowBytes is small.
func (o *Options) setOf(n, share, smallest, largest int) int {
	size := o.workingSet
	if size == 0 {
		size = min(max(n/share, smallest), largest) / 16 * 16
	}
	for size > 4 && int64(size)*4*int64(n) > o.RowBytes {
		size -= 2
	}
	return size
}

// iterations returns the maximum number of steps for a problem of n variables.
func (o *Options) iterations(n int) int {
	if o.MaxIterations > 0 {
		return o.MaxIterations
	}
	return max(10_000_000, 100*n)
}

// prepare allocates memory for a problem. bytes bounds the memory for cached rows.
func (s *search) prepare(d *dual, bytes int64) {
	n := len(d.docs)
	size := s.opt.setOf(n, setShare, minSet, maxSet)
	room := max(limitRows(n, bytes), min(size, n))
	if need := min(room*n, chunkValues); len(s.arena) < need {
		s.arena = make([]float32, need+need/16) // folds differ slightly in size
	}
	s.store = newRowStore(s.m, d.docs, room, s.arena)
	s.store.threads = s.threads
	if s.in == nil || len(s.in.score) < size {
		s.in = newInner(size, s.opt.Kernels)
		s.rows, s.byVar, s.columns = make([][]float32, size), make([][]float32, size), make([]int32, size)
	}
	s.choose = newChooser(size, len(d.sign))
	s.bytes = bytes
	d.refreshMask()
}

// solve finds the optimum of a problem. The solver run is warm-started from the parameter from (see
// begin), or from d.alpha if from is nil. bytes bounds the memory for cached rows.
func (s *search) solve(ctx context.Context, d *dual, from start, keep bool, bytes int64) (outcome, error) {
	started := d.begin(from, keep)
	copy(d.score, d.offset)
	s.prepare(d, bytes)
	if err := s.update(ctx, d, nil); err != nil {
		return outcome{}, err
	}
	if started && keep {
		d.stretch(1)
	} else if started {
		d.stretch(0)
	}
	return s.finish(ctx, d)
}

// resume finds the optimum of the last problem after some of its bounds were raised. It reuses the
// cached rows and the scores.
func (s *search) resume(ctx context.Context, d *dual) (outcome, error) {
	d.stretch(0)
	d.refreshMask()
	return s.finish(ctx, d)
}

// finish processes working sets until the tolerance is reached. It fails if the result isn't
// finite.
func (s *search) finish(ctx context.Context, d *dual) (outcome, error) {
	s.whole = len(d.docs)
	o := outcome{iterations: d.taken, left: s.opt.iterations(len(d.sign)) - d.taken}
	keep, err := s.optimise(ctx, d, &o)
	for keep != nil && err == nil {
		if err = s.leaveOut(ctx, d, keep, &o); err == nil {
			keep, err = s.optimise(ctx, d, &o)
		}
	}
	s.report.moved(d.done, 0)
	if err == nil {
		d.settle()
		err = d.finite()
	}
	return o, err
}

// update subtracts Σ y·Δα·K from the scores, with Δα = α - before, or Δα = α if before is nil.
func (s *search) update(ctx context.Context, d *dual, before []float64) error {
	n := len(d.docs)
	var docs []int32
	var by []float64
	for i := range n {
		var moved float64
		for t := i; t < len(d.sign); t += n {
			change := -d.alpha[t]
			if before != nil {
				change += before[t]
			}
			moved += float64(d.sign[t]) * change
		}
		if moved != 0 {
			docs, by = append(docs, int32(i)), append(by, moved)
		}
	}
	for len(docs) > 0 {
		if err := ctx.Err(); err != nil {
			return err
		}
		k := min(len(docs), s.choose.size)
		if err := s.add(ctx, d, docs[:k], by[:k]); err != nil {
			return err
		}
		docs, by = docs[k:], by[k:]
		s.report.note(s, 0, nil, 0)
	}
	return nil
}

// add adds by[i] times the row of docs[i] to the scores, for each i.
func (s *search) add(ctx context.Context, d *dual, docs []int32, by []float64) error {
	if err := s.store.fetch(ctx, docs, s.rows[:len(docs)]); err != nil {
		return err
	}
	return s.apply(ctx, d, s.rows[:len(docs)], by)
}

// optimise processes working sets until the tolerance is reached, or until shrinking pays off. In
// the second case, it returns the documents to keep.
func (s *search) optimise(ctx context.Context, d *dual, o *outcome) (keep []int32, err error) {
	every := min(len(d.sign), shrinkEvery)
	s.store.need = func(doc int32) float64 { return d.violation(int(doc), s.ends) }
	for next := o.iterations + every; ; {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		o.gap, s.ends = d.gap(s.opt.Kernels, s.ends[:0])
		o.converged = o.gap <= s.opt.Tolerance
		if o.converged || o.left <= 0 {
			return nil, nil
		}
		if o.iterations >= next {
			next = o.iterations + every
			if keep := s.worthKeeping(d); keep != nil {
				return keep, nil
			}
		}
		steps, err := s.nextRound(ctx, d, o)
		if err != nil {
			return nil, err
		}
		if steps == 0 {
			return nil, nil // the changes are rounded to 0 in float64
		}
		o.iterations += steps
		o.left -= steps
		s.report.round(s, d, o.gap, steps)
	}
}

// If rows are computed on demand, working sets are limited to documents with cached rows, as long
// as the gap of these documents exceeds cachedGap times the gap of all documents. If the gap of
// these documents is smaller, missing rows of at most prefetchRows violators are first computed
// together. A step with cached rows takes a tenth of the time of computing a row.
const (
	cachedGap    = 0.5
	prefetchRows = 512
)

// nextRound solves the problem of one working set and updates all scores, as round does. If rows
// are computed on demand, it prefers documents with cached rows.
func (s *search) nextRound(ctx context.Context, d *dual, o *outcome) (steps int, err error) {
	if s.m.partial && !s.store.direct {
		if steps, err = s.cachedRound(ctx, d, o); steps > 0 || err != nil {
			return steps, err
		}
		if err = s.prefetch(ctx, d); err != nil {
			return 0, err
		}
		if steps, err = s.cachedRound(ctx, d, o); steps > 0 || err != nil {
			return steps, err
		}
	}
	return s.round(ctx, d, o.gap, o.left)
}

// cachedRound calls round with a working set of documents with cached rows. It returns 0 if the gap
// of these documents is too small.
func (s *search) cachedRound(ctx context.Context, d *dual, o *outcome) (steps int, err error) {
	all, ends := d.mask, s.ends
	s.cached = append(s.cached[:0], all...)
	for t := range s.cached {
		if s.store.slotOf[t%len(d.docs)] < 0 {
			s.cached[t] = 0
		}
	}
	d.mask = s.cached
	gap, some := d.gap(s.opt.Kernels, nil)
	if gap > max(cachedGap*o.gap, s.opt.Tolerance) {
		s.ends = some
		steps, err = s.round(ctx, d, gap, o.left)
		for _, t := range s.choose.slots {
			if t >= 0 && d.mask[t] != 0 {
				all[t] = d.mask[t]
			}
		}
	}
	d.mask, s.ends = all, ends
	return steps, err
}

// prefetch computes the missing rows of the largest violators in both directions of each equality
// constraint. Afterwards, the rows of the most violating pair are cached.
func (s *search) prefetch(ctx context.Context, d *dual) error {
	type violator struct {
		doc int32
		by  float64
	}
	n, slots := len(d.docs), len(s.store.docOf)
	var docs []int32
	for e, b := range d.pairs() {
		hi, lo := s.ends[e].hi, s.ends[e].lo
		for side, bit := range b {
			var found []violator
			for t, score := range d.score {
				by := score - lo
				if side == 1 {
					by = hi - score
				}
				if hi > lo && by > (hi-lo)/2 && d.mask[t]&bit != 0 && s.store.slotOf[t%n] < 0 {
					found = append(found, violator{int32(t % n), by})
				}
			}
			slices.SortStableFunc(found, func(a, b violator) int { return cmp.Compare(b.by, a.by) })
			for _, v := range found[:min(len(found), max(min(prefetchRows, slots/2)/4, 1))] {
				docs = append(docs, v.doc)
			}
		}
	}
	slices.Sort(docs)
	docs = slices.Compact(docs)
	return s.store.fetch(ctx, docs, make([][]float32, len(docs)))
}

// round solves the problem of one working set and updates all scores. It returns the number of
// steps, or 0 if no variable changed.
func (s *search) round(ctx context.Context, d *dual, gap float64, most int) (int, error) {
	s.choose.choose(s.opt.Kernels, d, s.ends)
	set := s.choose.slots
	if err := s.load(ctx, d, set); err != nil {
		return 0, err
	}
	in := s.in
	in.load(d, s.columns, set, s.choose.fresh, s.byVar)
	steps := in.solve(max(innerShare*gap, s.opt.Tolerance), min(innerSteps*len(s.choose.set), most))
	if s.m.partial {
		in.extrapolate(d, set)
	}
	s.moved, s.by = s.moved[:0], s.by[:0]
	for r, t := range set {
		if t >= 0 && in.alpha[r] != d.alpha[t] {
			s.moved, s.by = append(s.moved, s.byVar[r]), append(s.by, float64(d.sign[t])*(d.alpha[t]-in.alpha[r]))
			d.alpha[t], d.mask[t] = in.alpha[r], in.mask[r]
		}
	}
	if len(s.by) == 0 {
		return 0, nil
	}
	return steps, s.apply(ctx, d, s.moved, s.by)
}

// An inner problem is solved until its violation is at most innerShare times the violation of the
// whole problem, or until it has taken innerSteps steps per variable.
const (
	innerShare = 0.5
	innerSteps = 16
)

// Before the submatrix of the working set is gathered, new rows are prefetched into the L2 cache if
// their total size is at most prefetchBytes.
const prefetchBytes = 512 << 10

func (s *search) load(ctx context.Context, d *dual, set []int32) error {
	n := int32(len(d.docs))
	shared := int(n) < len(d.sign) // the two variables of a document share its row
	s.docs, s.rowOf = s.docs[:0], s.rowOf[:0]
	for _, t := range set {
		if t < 0 {
			s.rowOf = append(s.rowOf, -1)
		} else {
			s.docs, s.rowOf = appendOnce(s.docs, s.rowOf, t%n, shared)
		}
	}
	if err := s.store.fetch(ctx, s.docs, s.rows[:len(s.docs)]); err != nil {
		return err
	}
	for r, at := range s.rowOf {
		if at >= 0 {
			s.byVar[r], s.columns[r] = s.rows[at], s.store.column(set[r]%n)
		}
	}
	if len(s.choose.fresh)*len(d.docs)*4 <= prefetchBytes {
		s.moved = s.moved[:0]
		for _, r := range s.choose.fresh {
			s.moved = append(s.moved, s.byVar[r])
		}
		for _, p := range s.store.pieces() {
			s.opt.Kernels.Prefetch(s.moved, p.from, p.from+p.n)
		}
	}
	return nil
}

// appendOnce appends doc to docs, and the index of doc in docs to at. If shared is set and docs
// contains doc, docs stays the same.
func appendOnce(docs, at []int32, doc int32, shared bool) (_, _ []int32) {
	if shared {
		for i, u := range docs {
			if u == doc {
				return docs, append(at, int32(i))
			}
		}
	}
	return append(docs, doc), append(at, int32(len(docs)))
}

// Scores are updated in blocks of scoreBlock, which stay in the L1 cache while all rows are added.
// Threads share the blocks if at least shareUpdates products are added.
const (
	scoreBlock   = 2048
	shareUpdates = 1 << 19
)

// apply adds by[r] times rows[r] to the scores of all variables, for each r.
func (s *search) apply(ctx context.Context, d *dual, rows [][]float32, by []float64) error {
	n := len(d.docs)
	if s.threads <= 1 || n*len(rows) < shareUpdates {
		s.applyRange(d, rows, by, 0, n)
		return nil
	}
	each := (n/s.threads + scoreBlock) / scoreBlock * scoreBlock
	return run.Tasks(ctx, s.threads, (n+each-1)/each, func(_ context.Context, _, task int) error {
		s.applyRange(d, rows, by, task*each, min((task+1)*each, n))
		return nil
	})
}

func (s *search) applyRange(d *dual, rows [][]float32, by []float64, from, to int) {
	n, add := len(d.docs), s.opt.Kernels.AddRows
	for _, p := range s.store.pieces() {
		end := min(p.to+p.n, to)
		for lo := max(p.to, from); lo < end; lo += scoreBlock {
			hi := min(lo+scoreBlock, end)
			for first := 0; first < len(d.sign); first += n {
				add(d.score[first+lo:first+hi], rows, p.from+lo-p.to, by)
			}
		}
	}
}
