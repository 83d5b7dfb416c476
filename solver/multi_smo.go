package solver

import (
	"context"
	"math"
	"slices"

	"github.com/gramengine/gram/internal/run"
)

// A multiSMO (multi-class SMO) jointly solves the problems of several classes over the same
// documents. In each round, it chooses a working set of documents, and solves an inner problem on
// this set for each class. All problems share the rows of the working set, and one pass over these
// rows. Separate solver runs would request nearly the same rows for every class.
//
// Each problem that has not converged is finished by a separate solver run.
type multiSMO struct {
	s       *search // cached rows
	duals   []*dual
	workers int
	size    int // size of a working set

	gaps  []float64
	ends  [][]extremes
	cuts  [][4]float64 // side.cut by problem, equality constraint and direction
	side  side         // buffers of take
	order []int32      // candidates in descending order of level
	most  []int        // remaining steps of each problem

	docs    []int32 // documents of the working set
	picked  []bool  // true for documents of the working set
	rows    [][]float32
	columns []int32
	sub     []float32 // submatrix of the working set
	moved   [][][]float32
	by      [][]float64
	steps   []int
	inner   []*inner // inner problem by worker
	first   int      // first problem that chooses documents in the next round
}

// The working set of a multiSMO has n/teamShare documents for n documents, clamped to [minTeamSet,
// maxTeamSet]. It is larger than for a single problem because all problems share it.
const (
	teamShare, minTeamSet, maxTeamSet = 32, 256, 512

	teamBlock = 512 // number of scores updated at a time; the same columns of all rows fit in the L2 cache
)

// problemBytes is the memory of a problem per document in bytes. teamBytes is the maximum memory of
// the problems of a multiSMO.
const (
	problemBytes = 48
	teamBytes    = 256 << 20
)

// batches divides problems over the same documents into groups of at most teamBytes. The result
// depends only on the numbers of problems and documents.
func batches(problems []*problem) [][]*problem {
	most := max(teamBytes/problemBytes/len(problems[0].docs), 1)
	return slices.Collect(slices.Chunk(problems, most))
}

// newMultiSMO returns a multiSMO for problems whose variables have been initialized.
func newMultiSMO(m *source, duals []*dual, opt *Options, report *reporter) *multiSMO {
	n := len(duals[0].docs)
	size := min(opt.setOf(n, teamShare, minTeamSet, maxTeamSet), n)
	own := int64(len(duals)) * int64(n) * problemBytes // memory of the problems, subtracted from the memory for rows
	g := &multiSMO{
		duals: duals, workers: opt.Workers, size: size,
		gaps: make([]float64, len(duals)), ends: make([][]extremes, len(duals)), cuts: make([][4]float64, len(duals)),
		order: make([]int32, n), most: make([]int, len(duals)),
		picked: make([]bool, n), rows: make([][]float32, size), columns: make([]int32, padded(size)),
		sub: make([]float32, padded(size)*padded(size)), moved: make([][][]float32, len(duals)),
		by: make([][]float64, len(duals)), steps: make([]int, len(duals)), inner: make([]*inner, opt.Workers),
	}
	shared := *m
	shared.workers = opt.Workers
	g.s = &search{opt: opt, m: &shared, whole: n, report: report}
	g.s.store = newRowStore(g.s.m, duals[0].docs, max(limitRows(n, opt.RowBytes-own), size), nil)
	return g
}

// solve processes working sets until most problems have converged, or until separate solver runs
// are likely to be faster.
func (g *multiSMO) solve(ctx context.Context) error {
	opt := g.s.opt
	for c, d := range g.duals {
		copy(d.score, d.offset)
		d.refreshMask()
		g.most[c] = opt.iterations(len(d.sign))
	}
	if err := g.begin(ctx); err != nil {
		return err
	}
	for _, d := range g.duals {
		if !d.fixed {
			d.stretch(1) // variables at 0 stay there
		}
	}
	sweep := max(sweeps*len(g.picked)/max(g.size, 1), minSweep)
	for round, before := 1, math.Inf(1); ; round++ {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := run.Tasks(ctx, g.workers, len(g.duals), func(_ context.Context, _, c int) error {
			g.gaps[c], g.ends[c] = g.duals[c].gap(opt.Kernels, g.ends[c][:0])
			return nil
		}); err != nil {
			return err
		}
		open, sum := 0, 0.0
		for c := range g.duals {
			if g.open(c) {
				open++
				sum += g.gaps[c]
			}
		}
		if open*aloneShare <= len(g.duals) {
			return nil
		}
		if round%sweep == 0 {
			if sum > sweepGain*before {
				return nil
			}
			before = sum
		}
		if g.choose(); len(g.docs) == 0 {
			return nil
		}
		steps, err := g.round(ctx)
		if err != nil || steps == 0 {
			return err
		}
	}
}

// A multiSMO ends if at most one in aloneShare of its problems is open. It also ends if the sum of
// gaps after a sweep exceeds sweepGain times the sum before the sweep. A sweep has enough rounds to
// choose each document sweeps times, and at least minSweep rounds. The problems still open then
// converge faster with separate working sets.
const (
	aloneShare = 5
	sweeps     = 2
	minSweep   = 8
	sweepGain  = 0.9
)

// open reports whether problem c has neither converged nor used up its steps.
func (g *multiSMO) open(c int) bool { return g.gaps[c] > g.s.opt.Tolerance && g.most[c] > 0 }

func (g *multiSMO) begin(ctx context.Context) error {
	n := len(g.duals[0].docs)
	for t := 0; t < n; {
		g.docs = g.docs[:0]
		for ; t < n && len(g.docs) < g.size; t++ {
			if slices.ContainsFunc(g.duals, func(d *dual) bool { return d.alpha[t] != 0 }) {
				g.docs = append(g.docs, int32(t))
			}
		}
		if len(g.docs) == 0 {
			return nil
		}
		if err := g.s.store.fetch(ctx, g.docs, g.rows[:len(g.docs)]); err != nil {
			return err
		}
		for c, d := range g.duals {
			g.moved[c], g.by[c] = g.moved[c][:0], g.by[c][:0]
			for r, t := range g.docs {
				if d.alpha[t] != 0 {
					g.moved[c], g.by[c] = append(g.moved[c], g.rows[r]), append(g.by[c], -float64(d.sign[t])*d.alpha[t])
				}
			}
		}
		if err := g.update(ctx); err != nil {
			return err
		}
		g.s.report.note(g.s, 0, nil, 0)
	}
	return nil
}

// choose selects the documents of the next working set. For each open problem, it selects equal
// numbers of violators with the largest and the smallest scores. Documents that another problem has
// already selected are skipped, so the set is full if there are enough violators.
func (g *multiSMO) choose() {
	g.docs = g.docs[:0]
	ends := 0
	for c := range g.duals {
		if g.open(c) {
			for _, e := range g.ends[c] {
				if e.hi > e.lo {
					ends += 2
				}
			}
		}
	}
	for i := range g.duals {
		c := (g.first + i) % len(g.duals)
		if !g.open(c) {
			continue
		}
		d := g.duals[c]
		for e, x := range g.ends[c] {
			if x.hi > x.lo {
				b := d.pairs()[e]
				g.take(c, 2*e, beyond{b[0], 1, x.lo, x.hi - x.lo}, ends)
				g.take(c, 2*e+1, beyond{b[1], -1, -x.hi, x.hi - x.lo}, ends-1)
				ends -= 2
			}
		}
		if len(g.docs) >= g.size {
			g.first = (c + 1) % len(g.duals)
			break
		}
	}
	for _, t := range g.docs {
		g.picked[t] = false
	}
	slices.Sort(g.docs)
}

// take selects the largest violators of problem c in one direction. ends is the number of remaining
// calls of take, which share the free slots equally.
func (g *multiSMO) take(c, end int, b beyond, ends int) {
	room := (g.size - len(g.docs) + ends - 1) / ends
	if room <= 0 {
		return
	}
	d, s, k := g.duals[c], &g.side, g.s.opt.Kernels
	s.cut = g.cuts[c][end]
	for s.find(k, d, b); len(s.at) < lookAhead*room && s.cut > 0; s.find(k, d, b) {
		s.cut = max(1-lookFurther*(1-s.cut), 0)
	}
	s.sort(d, b)
	var from [levels]int32 // start of each level in g.order
	at := int32(0)
	for l := levels - 1; l >= 0; l-- {
		from[l] = at
		at += s.count[l]
	}
	to := from
	for i, t := range s.at {
		l := s.level[i] % levels
		g.order[to[l]] = t
		to[l]++
	}
	l := levels - 1
	for ; l >= 0 && room > 0; l-- {
		equal := g.order[from[l]:to[l]]
		for i := range equal { // spread equal violators over all documents, which are sorted by class
			t := equal[i]
			if len(equal)%spread != 0 {
				t = equal[(i*spread+c)%len(equal)]
			}
			if !g.picked[t] {
				g.picked[t] = true
				g.docs = append(g.docs, t)
				if room--; room == 0 {
					break
				}
			}
		}
	}
	next, more := l+1, int32(0)
	if next < levels {
		more = to[next]
	}
	for next > 0 && int(more) < lookAhead*(g.size/max(ends, 1)) {
		next--
		more = to[next]
	}
	g.cuts[c][end] = max(s.cut+(1-s.cut)*float64(next)/levels-cutSlack, 0)
}

// spread is the stride between selected documents in a list of equal violators. It is prime, so
// that its multiples modulo the list's length reach all documents.
const spread = 1009

// round solves the problems of a working set and updates all scores. It returns the number of
// steps, or 0 if no variable changed.
func (g *multiSMO) round(ctx context.Context) (steps int, err error) {
	s, n := g.s, len(g.docs)
	if err := s.store.fetch(ctx, g.docs, g.rows[:n]); err != nil {
		return 0, err
	}
	for r, t := range g.docs {
		g.columns[r] = s.store.column(t)
	}
	wide := padded(n)
	const some = 16
	if err := run.Tasks(ctx, g.workers, (n+some-1)/some, func(_ context.Context, _, task int) error {
		for r := task * some; r < min((task+1)*some, n); r++ {
			row := g.sub[r*wide : (r+1)*wide]
			s.opt.Kernels.Gather(row[:n], g.rows[r], g.columns[:n])
			clear(row[n:])
		}
		return nil
	}); err != nil {
		return 0, err
	}
	if err := run.Tasks(ctx, g.workers, len(g.duals), func(_ context.Context, w, c int) error {
		g.moved[c], g.by[c], g.steps[c] = g.moved[c][:0], g.by[c][:0], 0
		if g.open(c) {
			if g.inner[w] == nil {
				g.inner[w] = newInner(g.size, s.opt.Kernels)
			}
			g.solveInner(g.inner[w], c, wide)
		}
		return nil
	}); err != nil {
		return 0, err
	}
	for c, d := range g.duals {
		if g.steps[c] > 0 {
			steps += g.steps[c]
			g.most[c] -= g.steps[c]
			d.taken += g.steps[c]
			s.report.round(s, d, g.gaps[c], g.steps[c])
		}
	}
	return steps, g.update(ctx)
}

func (g *multiSMO) solveInner(in *inner, c, wide int) {
	d := g.duals[c]
	in.n, in.rows, in.perClass, in.pairs = wide, g.sub, d.perClass, d.pairs()
	for r, t := range g.docs {
		in.diag[r], in.score[r], in.alpha[r] = d.diag[t], d.score[t], d.alpha[t]
		in.upper[r], in.sign[r], in.mask[r] = d.upper[t], d.sign[t], d.mask[t]
	}
	clear(in.mask[len(g.docs):wide])
	steps := in.solve(max(innerShare*g.gaps[c], g.s.opt.Tolerance), min(innerSteps*len(g.docs), g.most[c]))
	for r, t := range g.docs {
		if in.alpha[r] != d.alpha[t] {
			g.moved[c] = append(g.moved[c], g.rows[r])
			g.by[c] = append(g.by[c], float64(d.sign[t])*(d.alpha[t]-in.alpha[r]))
			d.alpha[t], d.mask[t] = in.alpha[r], in.mask[r]
		}
	}
	if len(g.by[c]) > 0 {
		g.steps[c] = steps
	}
}

// update adds multiples of the rows of the working set to the scores of each problem. A block of
// columns stays in the cache while all problems are updated.
func (g *multiSMO) update(ctx context.Context) error {
	n, add := len(g.duals[0].docs), g.s.opt.Kernels.AddRows
	pieces := g.s.store.pieces()
	return run.Tasks(ctx, g.workers, (n+teamBlock-1)/teamBlock, func(_ context.Context, _, task int) error {
		for _, p := range pieces {
			lo, hi := max(p.to, task*teamBlock), min(p.to+p.n, (task+1)*teamBlock, n)
			for c, d := range g.duals {
				if lo < hi && len(g.by[c]) > 0 {
					add(d.score[lo:hi], g.moved[c], p.from+lo-p.to, g.by[c])
				}
			}
		}
		return nil
	})
}

// trainTogether trains the decision functions of problems over the same documents, first with
// shared rows, then with a separate solver run for each problem.
func trainTogether(
	ctx context.Context, m *source, groups [][]*problem, opt *Options, report *reporter, machines []*DecisionFunction,
) error {
	for _, some := range groups {
		duals := make([]*dual, len(some))
		for i, p := range some {
			var err error
			if duals[i], err = p.dual(m, nil); err != nil {
				return err
			}
			duals[i].begin(p.start, true)
		}
		all := func(ctx context.Context, _, _ int) error { return newMultiSMO(m, duals, opt, report).solve(ctx) }
		if err := run.Tasks(ctx, 1, 1, all); err != nil { // run.Tasks catches panics
			return err
		}
		var jobs []job
		for i, p := range some {
			jobs = append(jobs, job{len(p.docs), p.classes, func(ctx context.Context, s *search, bytes int64) error {
				s.prepare(duals[i], bytes)
				o, err := s.finish(ctx, duals[i])
				if err != nil {
					return err
				}
				machines[p.place], err = p.trained(ctx, s, duals[i], o, bytes)
				duals[i] = nil
				return err
			}})
		}
		if err := runAll(ctx, m, jobs, report, opt); err != nil {
			return err
		}
	}
	return nil
}

// sharesDocuments reports whether there are several problems, all over the same documents.
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
