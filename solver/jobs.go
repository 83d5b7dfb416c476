package solver

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"

	"github.com/gramengine/gram/internal/run"
)

// A job is some problems for one worker to solve, the largest of so many documents, all of the same
// two classes. It reports each one that is solved.
type job struct {
	documents int
	classes   [2]int // the second is -1 where it is everything else
	run       func(ctx context.Context, s *search, bytes int64) error
}

// runAll does jobs, each on one worker. Where there are fewer jobs than workers, these share a
// problem's updates.
//
// The largest begin, so that workers end together. Where rows are computed when they are asked for,
// jobs that share classes, and so rows, follow each other instead, in the Z-order of their two
// classes: for every k, 4^k neighbours that are an aligned square are of at most 2·2^k classes,
// however many rows a cache can keep.
//
// A job that panics, usually in a function of the caller's, ends the run with a [*PanicError].
func runAll(ctx context.Context, m *source, jobs []job, report *reporter, opt *Options) error {
	if len(jobs) == 0 {
		return nil
	}
	slices.SortStableFunc(jobs, func(a, b job) int { return cmp.Compare(b.documents, a.documents) })
	largest := jobs[0].documents
	if m.partial {
		slices.SortStableFunc(jobs, func(a, b job) int { return cmp.Compare(zOrder(a.classes), zOrder(b.classes)) })
	}
	workers := min(opt.Workers, len(jobs))
	set := 4 * int64(largest) * int64(opt.setOf(largest, setShare, minSet, maxSet))
	for workers > 1 && opt.RowBytes/int64(workers) < set {
		workers-- // each needs room for its working set
	}
	searches := make([]*search, workers)
	return run.Tasks(ctx, workers, len(jobs), func(ctx context.Context, w, at int) error {
		if searches[w] == nil {
			searches[w] = &search{opt: opt, m: m, threads: max(1, opt.Workers/workers), report: report}
		}
		return jobs[at].run(ctx, searches[w], opt.RowBytes/int64(workers))
	})
}

// zOrder interleaves the bits of two numbers from -1 to below 2³¹: Morton's order of the points of
// a plane.
func zOrder(at [2]int) (z uint64) {
	for bit := range 32 {
		z |= uint64(at[0]+1)>>bit&1<<(2*bit+1) | uint64(at[1]+1)>>bit&1<<(2*bit)
	}
	return z
}

// A reporter gathers what the problems of a run report and passes it on now and then.
//
// Its counts have a lock of their own, held briefly. So a slow callback keeps no other worker
// waiting.
type reporter struct {
	report    func(Progress)
	reporting sync.Mutex // held while a report is made; a worker that finds it held skips its report

	mu    sync.Mutex // guards what follows
	last  time.Time
	at    Progress
	parts float64 // of problems under way
}

func newReporter(report func(Progress), problems int) *reporter {
	if f := report; f != nil {
		report = func(p Progress) {
			defer run.Rethrow("solver: Options.Progress")
			f(p)
		}
	}
	return &reporter{report: report, last: time.Now(), at: Progress{Problems: problems}}
}

// round notes one working set of a problem.
func (t *reporter) round(s *search, d *dual, gap float64, steps int) {
	if t.report != nil {
		t.moved(d.done, d.done.at(gap, s.opt.Tolerance, steps))
	}
	t.note(s, steps, d, gap)
}

// moved notes which part of a problem is done, 0 when it is over, before it is counted as solved.
func (t *reporter) moved(d *done, part float64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.parts += part - d.part
	d.part = part
	t.at.Done = max(t.at.Done, min(float64(t.at.Solved)+t.parts, float64(t.at.Problems)))
}

// note adds steps and the counts of rows and, if it is time, reports, with what is known of d, nil for nothing.
func (t *reporter) note(s *search, steps int, d *dual, gap float64) {
	if t.report == nil || !t.count(s, steps) || !t.reporting.TryLock() {
		return
	}
	defer t.reporting.Unlock()
	objective := 0.0
	if d != nil {
		objective = d.objective()
	}
	t.mu.Lock()
	if d != nil {
		t.at.Gap, t.at.Objective, t.at.Active, t.at.Documents = gap, objective, len(d.docs), s.whole
	}
	at := t.at
	t.last = time.Now()
	t.mu.Unlock()
	t.report(at)
}

// count adds steps and the counts of rows, and says whether it is time for a report.
func (t *reporter) count(s *search, steps int) (due bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.at.Iterations += int64(steps)
	t.at.Rows += s.store.asked
	t.at.Hits += s.store.hits
	s.store.asked, s.store.hits = 0, 0
	return time.Since(t.last) >= reportEvery
}

// solved notes the end of a problem, and reports that of the last.
func (t *reporter) solved() {
	if t.report == nil {
		return
	}
	t.mu.Lock()
	t.at.Solved++
	t.at.Done = max(t.at.Done, float64(t.at.Solved))
	last := t.at.Solved == t.at.Problems
	t.mu.Unlock()
	if !last {
		return
	}
	t.reporting.Lock()
	defer t.reporting.Unlock()
	t.mu.Lock()
	at := t.at
	t.mu.Unlock()
	t.report(at)
}
