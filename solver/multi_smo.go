package solver

import (
	"context"
	"math"
	"slices"

	"github.com/gramengine/gram/internal/run"
)

// multiSMO (multi-class SMO) jointly solves the problems of several classes over the same
// documents. In each round, it selects a working set of documents, and solves a subproblem on this
// set for each class. All problems share the rows of the working set, and one pass over these rows.
// Separate solver runs would request nearly the same rows for every class.
//
// Problems that haven't converged are finished by separate solver runs.
type multiSMO struct {
	single  *singleSMO // provides cached rows and options
	duals   []*dual
	workers int
	setSize int // maximum number of documents of a working set

	gaps       []float64
	extremes   [][]extremes
	thresholds [][4]float64  // candidateList.threshold by problem, then by 2·constraint + direction
	candidates candidateList // buffers of addViolators
	order      []int32       // candidates sorted by bucket, in descending order
	stepsLeft  []int

	docs         []int32 // documents of the working set
	selected     []bool
	rows         [][]float32
	columns      []int32
	submatrix    []float32
	changedRows  [][][]float32
	factors      [][]float64
	steps        []int
	subproblems  []*subproblem // subproblem of each worker
	firstProblem int           // problem that selects documents first in the next round
}

// The working set of a multiSMO has n/multiSetDivisor documents for n documents, clamped to
// [minMultiSetSize, maxMultiSetSize]. It is larger than in singleSMO because all problems share it.
const (
	multiSetDivisor, minMultiSetSize, maxMultiSetSize = 32, 256, 512

	multiScoreBlock = 512 // number of scores updated at a time; the same columns of all rows fit in the L2 cache
)

// problemBytesPerDocument is the size of a problem's variables in bytes per document. maxMultiBytes
// is the maximum total size of the variables in a multiSMO in bytes.
const (
	problemBytesPerDocument = 48
	maxMultiBytes           = 256 << 20
)

// batchProblems divides problems over the same documents into groups of at most maxMultiBytes. The
// groups depend only on the numbers of problems and documents.
func batchProblems(problems []*problem) [][]*problem {
	most := max(maxMultiBytes/problemBytesPerDocument/len(problems[0].docs), 1)
	return slices.Collect(slices.Chunk(problems, most))
}

func newMultiSMO(m *checkedMatrix, duals []*dual, opt *Options, report *reporter) *multiSMO {
	n := len(duals[0].docs)
	size := min(opt.setSize(n, multiSetDivisor, minMultiSetSize, maxMultiSetSize), n)
	// memory for the problems, subtracted from the memory for rows
	own := int64(len(duals)) * int64(n) * problemBytesPerDocument
	g := &multiSMO{
		duals: duals, workers: opt.Workers, setSize: size,
		gaps: make([]float64, len(duals)), extremes: make([][]extremes, len(duals)),
		thresholds: make([][4]float64, len(duals)),
		order:      make([]int32, n), stepsLeft: make([]int, len(duals)),
		selected: make([]bool, n), rows: make([][]float32, size), columns: make([]int32, paddedLen(size)),
		submatrix: make([]float32, paddedLen(size)*paddedLen(size)), changedRows: make([][][]float32, len(duals)),
		factors: make([][]float64, len(duals)), steps: make([]int, len(duals)), subproblems: make([]*subproblem, opt.Workers),
	}
	shared := *m
	shared.workers = opt.Workers
	g.single = &singleSMO{opt: opt, m: &shared, totalDocuments: n, report: report}
	g.single.cache = newRowCache(g.single.m, duals[0].docs, max(maxRows(n, opt.RowBytes-own), size), nil)
	return g
}

// solve runs until most problems have converged, or until separate solver runs may be faster.
func (g *multiSMO) solve(ctx context.Context) error {
	opt := g.single.opt
	for c, d := range g.duals {
		copy(d.score, d.offset)
		d.refreshMask()
		g.stepsLeft[c] = opt.stepLimit(len(d.sign))
	}
	if err := g.initScores(ctx); err != nil {
		return err
	}
	for _, d := range g.duals {
		if !d.fixedSum {
			d.rescale(1) // rescale leaves α = 0 unchanged
		}
	}
	sweep := max(selectionsPerSweep*len(g.selected)/max(g.setSize, 1), minSweepRounds)
	for round, before := 1, math.Inf(1); ; round++ {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := run.Tasks(ctx, g.workers, len(g.duals), func(_ context.Context, _, c int) error {
			g.gaps[c], g.extremes[c] = g.duals[c].gap(opt.Kernels, g.extremes[c][:0])
			return nil
		}); err != nil {
			return err
		}
		open, sum := 0, 0.0
		for c := range g.duals {
			if g.isOpen(c) {
				open++
				sum += g.gaps[c]
			}
		}
		if open*openDivisor <= len(g.duals) {
			return nil
		}
		if round%sweep == 0 {
			if sum > maxSweepRatio*before {
				return nil
			}
			before = sum
		}
		if g.selectDocuments(); len(g.docs) == 0 {
			return nil
		}
		steps, err := g.runRound(ctx)
		if err != nil || steps == 0 {
			return err
		}
	}
}

// A multiSMO ends if at most one in openDivisor of its problems is open (see isOpen). It also ends
// if the sum of the gaps of open problems after a sweep exceeds maxSweepRatio times the sum before
// the sweep. Open problems then converge faster in separate solver runs. A sweep has at least
// minSweepRounds rounds, and enough rounds to select each document selectionsPerSweep times.
const (
	openDivisor        = 5
	selectionsPerSweep = 2
	minSweepRounds     = 8
	maxSweepRatio      = 0.9
)

// isOpen reports whether problem c has neither converged nor reached its maximum number of steps.
func (g *multiSMO) isOpen(c int) bool {
	return g.gaps[c] > g.single.opt.Tolerance && g.stepsLeft[c] > 0
}

func (g *multiSMO) initScores(ctx context.Context) error {
	n := len(g.duals[0].docs)
	for t := 0; t < n; {
		g.docs = g.docs[:0]
		for ; t < n && len(g.docs) < g.setSize; t++ {
			if slices.ContainsFunc(g.duals, func(d *dual) bool { return d.alpha[t] != 0 }) {
				g.docs = append(g.docs, int32(t))
			}
		}
		if len(g.docs) == 0 {
			return nil
		}
		if err := g.single.cache.fetch(ctx, g.docs, g.rows[:len(g.docs)]); err != nil {
			return err
		}
		for c, d := range g.duals {
			g.changedRows[c], g.factors[c] = g.changedRows[c][:0], g.factors[c][:0]
			for r, t := range g.docs {
				if d.alpha[t] != 0 {
					g.changedRows[c], g.factors[c] = append(g.changedRows[c], g.rows[r]),
						append(g.factors[c], -float64(d.sign[t])*d.alpha[t])
				}
			}
		}
		if err := g.updateScores(ctx); err != nil {
			return err
		}
		g.single.report.record(g.single, 0, nil, 0)
	}
	return nil
}

// selectDocuments selects the documents of the next working set. For each open problem, it selects
// equal numbers of violators with large and with small scores. Documents that another problem has
// already selected are skipped, so the set is full if there are enough violators.
func (g *multiSMO) selectDocuments() {
	g.docs = g.docs[:0]
	ends := 0
	for c := range g.duals {
		if g.isOpen(c) {
			for _, e := range g.extremes[c] {
				if e.hi > e.lo {
					ends += 2
				}
			}
		}
	}
	for i := range g.duals {
		c := (g.firstProblem + i) % len(g.duals)
		if !g.isOpen(c) {
			continue
		}
		d := g.duals[c]
		for e, x := range g.extremes[c] {
			if x.hi > x.lo {
				b := d.constraintBits()[e]
				g.addViolators(c, 2*e, violationRange{b[0], 1, x.lo, x.hi - x.lo}, ends)
				g.addViolators(c, 2*e+1, violationRange{b[1], -1, -x.hi, x.hi - x.lo}, ends-1)
				ends -= 2
			}
		}
		if len(g.docs) >= g.setSize {
			g.firstProblem = (c + 1) % len(g.duals)
			break
		}
	}
	for _, t := range g.docs {
		g.selected[t] = false
	}
	slices.Sort(g.docs)
}

// addViolators selects the largest violators of problem c in the range b. direction is the index of
// the threshold for b in g.thresholds[c]. calls is the number of calls left in the round, including
// this one. The calls left share the free slots of the working set equally.
func (g *multiSMO) addViolators(c, direction int, b violationRange, calls int) {
	count := (g.setSize - len(g.docs) + calls - 1) / calls
	if count <= 0 {
		return
	}
	d, s, k := g.duals[c], &g.candidates, g.single.opt.Kernels
	s.threshold = g.thresholds[c][direction]
	for s.collect(k, d, b); len(s.variables) < candidateFactor*count && s.threshold > 0; s.collect(k, d, b) {
		s.threshold = max(1-thresholdFactor*(1-s.threshold), 0)
	}
	s.fillBuckets(d, b)
	var from [bucketCount]int32 // index of each bucket in g.order
	at := int32(0)
	for bucket := bucketCount - 1; bucket >= 0; bucket-- {
		from[bucket] = at
		at += s.bucketSizes[bucket]
	}
	to := from
	for i, t := range s.variables {
		bucket := s.bucketOf[i] % bucketCount
		g.order[to[bucket]] = t
		to[bucket]++
	}
	bucket := bucketCount - 1
	for ; bucket >= 0 && count > 0; bucket-- {
		equal := g.order[from[bucket]:to[bucket]]
		for i := range equal { // select from the whole bucket, because documents are often sorted by class
			t := equal[i]
			if len(equal)%violatorStride != 0 {
				t = equal[(i*violatorStride+c)%len(equal)]
			}
			if !g.selected[t] {
				g.selected[t] = true
				g.docs = append(g.docs, t)
				if count--; count == 0 {
					break
				}
			}
		}
	}
	next, more := bucket+1, int32(0)
	if next < bucketCount {
		more = to[next]
	}
	for next > 0 && int(more) < candidateFactor*(g.setSize/max(calls, 1)) {
		next--
		more = to[next]
	}
	g.thresholds[c][direction] = max(s.threshold+(1-s.threshold)*float64(next)/bucketCount-thresholdSlack, 0)
}

// violatorStride is the stride between selected documents within a bucket. It is prime, so that its
// multiples modulo the size of the bucket reach all documents.
const violatorStride = 1009

// runRound solves the subproblems of a working set and updates all scores. It returns the number of
// steps, or 0 if no variable changed.
func (g *multiSMO) runRound(ctx context.Context) (steps int, err error) {
	s, n := g.single, len(g.docs)
	if err := s.cache.fetch(ctx, g.docs, g.rows[:n]); err != nil {
		return 0, err
	}
	for r, t := range g.docs {
		g.columns[r] = s.cache.column(t)
	}
	wide := paddedLen(n)
	const some = 16
	if err := run.Tasks(ctx, g.workers, (n+some-1)/some, func(_ context.Context, _, task int) error {
		for r := task * some; r < min((task+1)*some, n); r++ {
			row := g.submatrix[r*wide : (r+1)*wide]
			s.opt.Kernels.Gather(row[:n], g.rows[r], g.columns[:n])
			clear(row[n:])
		}
		return nil
	}); err != nil {
		return 0, err
	}
	if err := run.Tasks(ctx, g.workers, len(g.duals), func(_ context.Context, w, c int) error {
		g.changedRows[c], g.factors[c], g.steps[c] = g.changedRows[c][:0], g.factors[c][:0], 0
		if g.isOpen(c) {
			if g.subproblems[w] == nil {
				g.subproblems[w] = newSubproblem(g.setSize, s.opt.Kernels)
			}
			g.solveSubproblem(g.subproblems[w], c, wide)
		}
		return nil
	}); err != nil {
		return 0, err
	}
	for c, d := range g.duals {
		if g.steps[c] > 0 {
			steps += g.steps[c]
			g.stepsLeft[c] -= g.steps[c]
			d.stepsTaken += g.steps[c]
			s.report.recordRound(s, d, g.gaps[c], g.steps[c])
		}
	}
	return steps, g.updateScores(ctx)
}

func (g *multiSMO) solveSubproblem(in *subproblem, c, wide int) {
	d := g.duals[c]
	in.n, in.rows, in.perClass, in.constraintBits = wide, g.submatrix, d.perClass, d.constraintBits()
	for r, t := range g.docs {
		in.diag[r], in.score[r], in.alpha[r] = d.diag[t], d.score[t], d.alpha[t]
		in.upper[r], in.sign[r], in.mask[r] = d.upper[t], d.sign[t], d.mask[t]
	}
	clear(in.mask[len(g.docs):wide])
	steps := in.solve(max(subproblemGapFactor*g.gaps[c], g.single.opt.Tolerance),
		min(subproblemStepFactor*len(g.docs), g.stepsLeft[c]))
	for r, t := range g.docs {
		if in.alpha[r] != d.alpha[t] {
			g.changedRows[c] = append(g.changedRows[c], g.rows[r])
			g.factors[c] = append(g.factors[c], float64(d.sign[t])*(d.alpha[t]-in.alpha[r]))
			d.alpha[t], d.mask[t] = in.alpha[r], in.mask[r]
		}
	}
	if len(g.factors[c]) > 0 {
		g.steps[c] = steps
	}
}

// updateScores adds Σ_r factors[c][r]·changedRows[c][r] to the scores of each problem c. A block of
// columns stays in the cache while all problems are updated.
func (g *multiSMO) updateScores(ctx context.Context) error {
	n, add := len(g.duals[0].docs), g.single.opt.Kernels.AddRows
	pieces := g.single.cache.segments()
	return run.Tasks(ctx, g.workers, (n+multiScoreBlock-1)/multiScoreBlock, func(_ context.Context, _, task int) error {
		for _, p := range pieces {
			lo, hi := max(p.document, task*multiScoreBlock), min(p.document+p.n, (task+1)*multiScoreBlock, n)
			for c, d := range g.duals {
				if lo < hi && len(g.factors[c]) > 0 {
					add(d.score[lo:hi], g.changedRows[c], p.column+lo-p.document, g.factors[c])
				}
			}
		}
		return nil
	})
}

// trainTogether trains the decision functions of each group, first by a multiSMO, then by a
// separate solver run for each problem.
func trainTogether(
	ctx context.Context, m *checkedMatrix, groups [][]*problem, opt *Options, report *reporter,
	machines []*DecisionFunction,
) error {
	for _, some := range groups {
		duals := make([]*dual, len(some))
		for i, p := range some {
			var err error
			if duals[i], err = p.newDual(m, nil); err != nil {
				return err
			}
			duals[i].applyStart(p.initial, true)
		}
		all := func(ctx context.Context, _, _ int) error { return newMultiSMO(m, duals, opt, report).solve(ctx) }
		if err := run.Tasks(ctx, 1, 1, all); err != nil { // run.Tasks recovers panics
			return err
		}
		var jobs []solverJob
		for i, p := range some {
			jobs = append(jobs, solverJob{len(p.docs), p.classes, func(ctx context.Context, s *singleSMO, bytes int64) error {
				s.prepare(duals[i], bytes)
				o, err := s.finish(ctx, duals[i])
				if err != nil {
					return err
				}
				machines[p.index], err = p.calibratedFunction(ctx, s, duals[i], o, bytes)
				duals[i] = nil
				return err
			}})
		}
		if err := runJobs(ctx, m, jobs, report, opt); err != nil {
			return err
		}
	}
	return nil
}

func sharesDocuments(problems []*problem) bool {
	if len(problems) < 2 {
		return false
	}
	for _, p := range problems {
		if len(p.docs) != len(problems[0].docs) || &p.docs[0] != &problems[0].docs[0] {
			return false
		}
	}
	return true
}
