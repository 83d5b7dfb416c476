package solver

import (
	"cmp"
	"context"
	"slices"

	"github.com/gramengine/gram/internal/run"
)

// singleSMO solves problems one after the other. Several goroutines share large score updates.
type singleSMO struct {
	opt       *Options
	m         *checkedMatrix
	threads   int
	rowBuffer []float32 // memory for cached rows, reused by the next problem
	report    *reporter

	subproblem     *subproblem
	selector       *workingSetSelector
	cache          *rowCache
	rowBytes       int64 // maximum memory for cached rows in bytes
	totalDocuments int   // number of documents of the problem before shrinking

	rowOf         []int32 // index into rows, by slot of the working set
	columns       []int32 // column of the variable's document, by slot of the working set
	docs          []int32 // documents whose rows are fetched
	rows          [][]float32
	rowByVariable [][]float32
	changedRows   [][]float32 // rows to add to the scores, multiplied by factors
	factors       []float64
	cachedMask    []byte     // copy of dual.mask, set to 0 for documents without a cached row
	extremes      []extremes // extremes of the scores at the start of the round
}

type runResult struct {
	iterations     int
	gap            float64
	converged      bool
	iterationsLeft int
}

// The working set of a problem with n documents has n/setDivisor variables, clamped to [minSetSize,
// maxSetSize]. The constants were tuned on problems with 1,131 and 11,314 documents. Smaller sets
// need more passes over the scores. The submatrix should fit in the L2 cache.
const setDivisor, minSetSize, maxSetSize = 64, 64, 256

// setSize returns the working set size for n documents: n/divisor, clamped to [smallest, largest]
// and rounded down to a multiple of 16. It is smaller if the rows exceed RowBytes.
func (o *Options) setSize(n, divisor, smallest, largest int) int {
	size := o.workingSet
	if size == 0 {
		size = min(max(n/divisor, smallest), largest) / 16 * 16
	}
	for size > 4 && int64(size)*4*int64(n) > o.RowBytes {
		size -= 2
	}
	return size
}

func (o *Options) stepLimit(n int) int {
	if o.MaxIterations > 0 {
		return o.MaxIterations
	}
	return max(10_000_000, 100*n)
}

// prepare allocates memory for a problem. bytes bounds the memory for cached rows.
func (s *singleSMO) prepare(d *dual, bytes int64) {
	n := len(d.docs)
	size := s.opt.setSize(n, setDivisor, minSetSize, maxSetSize)
	room := max(maxRows(n, bytes), min(size, n))
	if need := min(room*n, maxChunkValues); len(s.rowBuffer) < need {
		s.rowBuffer = make([]float32, need+need/16) // with a reserve, because folds differ slightly in size
	}
	s.cache = newRowCache(s.m, d.docs, room, s.rowBuffer)
	s.cache.threads = s.threads
	if s.subproblem == nil || len(s.subproblem.score) < size {
		s.subproblem = newSubproblem(size, s.opt.Kernels)
		s.rows, s.rowByVariable, s.columns = make([][]float32, size), make([][]float32, size), make([]int32, size)
	}
	s.selector = newWorkingSetSelector(size, len(d.sign))
	s.rowBytes = bytes
	d.refreshMask()
}

// solve finds the optimum of a problem. The solver run is warm-started from initial (see
// [dual.applyStart]), or from d.alpha if initial is nil. bytes bounds the memory for cached rows.
func (s *singleSMO) solve(
	ctx context.Context, d *dual, initial initialSolution, keep bool, bytes int64,
) (runResult, error) {
	started := d.applyStart(initial, keep)
	copy(d.score, d.offset)
	s.prepare(d, bytes)
	if err := s.updateScores(ctx, d, nil); err != nil {
		return runResult{}, err
	}
	if started && keep {
		d.rescale(1)
	} else if started {
		d.rescale(0)
	}
	return s.finish(ctx, d)
}

// resume solves the last problem again after upper bounds were raised. It reuses cached rows and
// scores.
func (s *singleSMO) resume(ctx context.Context, d *dual) (runResult, error) {
	d.rescale(0)
	d.refreshMask()
	return s.finish(ctx, d)
}

// finish runs until convergence or the step limit. It fails if the result isn't finite.
func (s *singleSMO) finish(ctx context.Context, d *dual) (runResult, error) {
	s.totalDocuments = len(d.docs)
	o := runResult{iterations: d.stepsTaken, iterationsLeft: s.opt.stepLimit(len(d.sign)) - d.stepsTaken}
	keep, err := s.optimise(ctx, d, &o)
	for keep != nil && err == nil {
		if err = s.solveShrunk(ctx, d, keep, &o); err == nil {
			keep, err = s.optimise(ctx, d, &o)
		}
	}
	s.report.setFraction(d.progress, 0)
	if err == nil {
		d.snapToBounds()
		err = d.checkFinite()
	}
	return o, err
}

// updateScores subtracts Σ y·Δα·K from the scores, with Δα = α - before. A nil before means 0.
func (s *singleSMO) updateScores(ctx context.Context, d *dual, before []float64) error {
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
		k := min(len(docs), s.selector.size)
		if err := s.addDocumentRows(ctx, d, docs[:k], by[:k]); err != nil {
			return err
		}
		docs, by = docs[k:], by[k:]
		s.report.record(s, 0, nil, 0)
	}
	return nil
}

// addDocumentRows adds Σ_i by[i]·K[docs[i]] to the scores.
func (s *singleSMO) addDocumentRows(ctx context.Context, d *dual, docs []int32, by []float64) error {
	if err := s.cache.fetch(ctx, docs, s.rows[:len(docs)]); err != nil {
		return err
	}
	return s.addRows(ctx, d, s.rows[:len(docs)], by)
}

// optimise processes working sets until the tolerance or the step limit is reached. If shrinking
// pays off earlier, it returns the documents to keep.
func (s *singleSMO) optimise(ctx context.Context, d *dual, o *runResult) (keep []int32, err error) {
	every := min(len(d.sign), shrinkInterval)
	s.cache.priority = func(doc int32) float64 { return d.violation(int(doc), s.extremes) }
	for next := o.iterations + every; ; {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		o.gap, s.extremes = d.gap(s.opt.Kernels, s.extremes[:0])
		o.converged = o.gap <= s.opt.Tolerance
		if o.converged || o.iterationsLeft <= 0 {
			return nil, nil
		}
		if o.iterations >= next {
			next = o.iterations + every
			if keep := s.documentsToKeep(d); keep != nil {
				return keep, nil
			}
		}
		steps, err := s.runNextRound(ctx, d, o)
		if err != nil {
			return nil, err
		}
		if steps == 0 {
			return nil, nil // the changes are too small for float64
		}
		o.iterations += steps
		o.iterationsLeft -= steps
		s.report.recordRound(s, d, o.gap, steps)
	}
}

// If rows are computed on demand, working sets are limited to documents with cached rows, as long
// as the gap of these documents exceeds minCachedGap times the gap of all documents. Otherwise,
// missing rows of at most maxPrefetchRows violators are first computed together. A step with cached
// rows takes a tenth of the time of computing a row.
const (
	minCachedGap    = 0.5
	maxPrefetchRows = 512
)

// runNextRound calls runRound. If rows are computed on demand, it prefers documents with cached
// rows.
func (s *singleSMO) runNextRound(ctx context.Context, d *dual, o *runResult) (steps int, err error) {
	if s.m.onDemand && !s.cache.inPlace {
		if steps, err = s.runCachedRound(ctx, d, o); steps > 0 || err != nil {
			return steps, err
		}
		if err = s.prefetch(ctx, d); err != nil {
			return 0, err
		}
		if steps, err = s.runCachedRound(ctx, d, o); steps > 0 || err != nil {
			return steps, err
		}
	}
	return s.runRound(ctx, d, o.gap, o.iterationsLeft)
}

// runCachedRound calls runRound for documents with cached rows only. It returns 0 steps if the gap
// of these documents is too small.
func (s *singleSMO) runCachedRound(ctx context.Context, d *dual, o *runResult) (steps int, err error) {
	all, ends := d.mask, s.extremes
	s.cachedMask = append(s.cachedMask[:0], all...)
	for t := range s.cachedMask {
		if s.cache.slotOf[t%len(d.docs)] < 0 {
			s.cachedMask[t] = 0
		}
	}
	d.mask = s.cachedMask
	gap, some := d.gap(s.opt.Kernels, nil)
	if gap > max(minCachedGap*o.gap, s.opt.Tolerance) {
		s.extremes = some
		steps, err = s.runRound(ctx, d, gap, o.iterationsLeft)
		for _, t := range s.selector.slots {
			if t >= 0 && d.mask[t] != 0 {
				all[t] = d.mask[t]
			}
		}
	}
	d.mask, s.extremes = all, ends
	return steps, err
}

// prefetch computes the missing rows of the largest violators, for each equality constraint and
// direction. Afterwards, the rows of the most violating pair are cached.
func (s *singleSMO) prefetch(ctx context.Context, d *dual) error {
	type violator struct {
		doc int32
		by  float64
	}
	n, slots := len(d.docs), len(s.cache.docOf)
	var docs []int32
	for e, b := range d.constraintBits() {
		hi, lo := s.extremes[e].hi, s.extremes[e].lo
		for side, bit := range b {
			var found []violator
			for t, score := range d.score {
				by := score - lo
				if side == 1 {
					by = hi - score
				}
				if hi > lo && by > (hi-lo)/2 && d.mask[t]&bit != 0 && s.cache.slotOf[t%n] < 0 {
					found = append(found, violator{int32(t % n), by})
				}
			}
			slices.SortStableFunc(found, func(a, b violator) int { return cmp.Compare(b.by, a.by) })
			for _, v := range found[:min(len(found), max(min(maxPrefetchRows, slots/2)/4, 1))] {
				docs = append(docs, v.doc)
			}
		}
	}
	slices.Sort(docs)
	docs = slices.Compact(docs)
	return s.cache.fetch(ctx, docs, make([][]float32, len(docs)))
}

// runRound solves the subproblem of one working set in up to maxSteps steps, and updates all
// scores. It returns the number of steps, or 0 if no variable changed.
func (s *singleSMO) runRound(ctx context.Context, d *dual, gap float64, maxSteps int) (int, error) {
	s.selector.selectSet(s.opt.Kernels, d, s.extremes)
	set := s.selector.slots
	if err := s.loadRows(ctx, d, set); err != nil {
		return 0, err
	}
	in := s.subproblem
	in.load(d, s.columns, set, s.selector.changedSlots, s.rowByVariable)
	steps := in.solve(max(subproblemGapFactor*gap, s.opt.Tolerance),
		min(subproblemStepFactor*len(s.selector.set), maxSteps))
	if s.m.onDemand {
		in.extrapolate(d, set)
	}
	s.changedRows, s.factors = s.changedRows[:0], s.factors[:0]
	for r, t := range set {
		if t >= 0 && in.alpha[r] != d.alpha[t] {
			s.changedRows, s.factors = append(s.changedRows, s.rowByVariable[r]),
				append(s.factors, float64(d.sign[t])*(d.alpha[t]-in.alpha[r]))
			d.alpha[t], d.mask[t] = in.alpha[r], in.mask[r]
		}
	}
	if len(s.factors) == 0 {
		return 0, nil
	}
	return steps, s.addRows(ctx, d, s.changedRows, s.factors)
}

// A subproblem is solved until its violation is at most subproblemGapFactor times the violation of
// the whole problem, or until it has taken subproblemStepFactor steps per variable.
const (
	subproblemGapFactor  = 0.5
	subproblemStepFactor = 16
)

// Before the submatrix of the working set is gathered, new rows are prefetched into the L2 cache if
// their total size is at most maxPrefetchBytes.
const maxPrefetchBytes = 512 << 10

func (s *singleSMO) loadRows(ctx context.Context, d *dual, set []int32) error {
	n := int32(len(d.docs))
	shared := int(n) < len(d.sign) // true if each document has two variables, which share its row
	s.docs, s.rowOf = s.docs[:0], s.rowOf[:0]
	for _, t := range set {
		if t < 0 {
			s.rowOf = append(s.rowOf, -1)
		} else {
			s.docs, s.rowOf = appendOnce(s.docs, s.rowOf, t%n, shared)
		}
	}
	if err := s.cache.fetch(ctx, s.docs, s.rows[:len(s.docs)]); err != nil {
		return err
	}
	for r, at := range s.rowOf {
		if at >= 0 {
			s.rowByVariable[r], s.columns[r] = s.rows[at], s.cache.column(set[r]%n)
		}
	}
	if len(s.selector.changedSlots)*len(d.docs)*4 <= maxPrefetchBytes {
		s.changedRows = s.changedRows[:0]
		for _, r := range s.selector.changedSlots {
			s.changedRows = append(s.changedRows, s.rowByVariable[r])
		}
		for _, p := range s.cache.segments() {
			s.opt.Kernels.Prefetch(s.changedRows, p.column, p.column+p.n)
		}
	}
	return nil
}

// appendOnce appends doc to docs, and the index of doc in docs to at. If shared is set and docs
// contains doc, only the index is appended.
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

// Scores are updated in blocks of scoreBlock scores, which stay in the L1 cache while all rows are
// added. Threads share the blocks if at least minParallelUpdates products are added.
const (
	scoreBlock         = 2048
	minParallelUpdates = 1 << 19
)

// addRows adds Σ_r by[r]·rows[r] to the scores of all variables.
func (s *singleSMO) addRows(ctx context.Context, d *dual, rows [][]float32, by []float64) error {
	n := len(d.docs)
	if s.threads <= 1 || n*len(rows) < minParallelUpdates {
		s.addRowsRange(d, rows, by, 0, n)
		return nil
	}
	each := (n/s.threads + scoreBlock) / scoreBlock * scoreBlock
	return run.Tasks(ctx, s.threads, (n+each-1)/each, func(_ context.Context, _, task int) error {
		s.addRowsRange(d, rows, by, task*each, min((task+1)*each, n))
		return nil
	})
}

func (s *singleSMO) addRowsRange(d *dual, rows [][]float32, by []float64, from, to int) {
	n, add := len(d.docs), s.opt.Kernels.AddRows
	for _, p := range s.cache.segments() {
		end := min(p.document+p.n, to)
		for lo := max(p.document, from); lo < end; lo += scoreBlock {
			hi := min(lo+scoreBlock, end)
			for first := 0; first < len(d.sign); first += n {
				add(d.score[first+lo:first+hi], rows, p.column+lo-p.document, by)
			}
		}
	}
}
