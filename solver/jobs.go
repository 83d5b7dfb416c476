package solver

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"

	"github.com/gramengine/gram/internal/run"
)

// A job is a list of problems with the same two classes, for a single worker. documents is the
// number of documents of the largest problem.
type job struct {
	documents int
	classes   [2]int // classes of the job; the second is -1 for all other classes
	run       func(ctx context.Context, s *search, bytes int64) error
}

// runAll runs each job on a worker. If there are fewer jobs than workers, several workers share the
// score updates of a problem.
//
// The largest jobs start first, so that workers finish at about the same time. If rows are computed
// on demand, jobs start in Z-order of their two classes, so that consecutive jobs share classes and
// therefore rows. For every k, an aligned square of 4^k jobs has at most 2·2^k classes, so Z-order
// suits any cache size.
//
// If a job panics, usually in a caller's function, runAll returns a [*PanicError].
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
		workers-- // each worker needs memory for a working set
	}
	searches := make([]*search, workers)
	return run.Tasks(ctx, workers, len(jobs), func(ctx context.Context, w, at int) error {
		if searches[w] == nil {
			searches[w] = &search{opt: opt, m: m, threads: max(1, opt.Workers/workers), report: report}
		}
		return jobs[at].run(ctx, searches[w], opt.RowBytes/int64(workers))
	})
}

// zOrder returns the Morton code of two integers in [-1, 2³¹), which interleaves their bits.
func zOrder(at [2]int) (z uint64) {
	for bit := range 32 {
		z |= uint64(at[0]+1)>>bit&1<<(2*bit+1) | uint64(at[1]+1)>>bit&1<<(2*bit)
	}
	return z
}

// A reporter collects the progress of the problems of a run and reports it periodically.
//
// The counts have a separate lock that is held briefly, so that a slow callback doesn't block other
// workers.
type reporter struct {
	report    func(Progress)
	reporting sync.Mutex // held during a report; other workers skip reports meanwhile

	mu    sync.Mutex // guards the fields below
	last  time.Time
	at    Progress
	parts float64 // sum of the completed fractions of unfinished problems
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

func (t *reporter) round(s *search, d *dual, gap float64, steps int) {
	if t.report != nil {
		t.moved(d.done, d.done.at(gap, s.opt.Tolerance, steps))
	}
	t.note(s, steps, d, gap)
}

// moved records the completed fraction of a problem. Before a problem is counted as solved, its
// fraction is reset to 0.
func (t *reporter) moved(d *done, part float64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.parts += part - d.part
	d.part = part
	t.at.Done = max(t.at.Done, min(float64(t.at.Solved)+t.parts, float64(t.at.Problems)))
}

// note counts steps and rows. If a report is due, it reports the state of d, which may be nil.
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

// count adds steps and row counts to the progress, and reports whether a report is due.
func (t *reporter) count(s *search, steps int) (due bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.at.Iterations += int64(steps)
	t.at.Rows += s.store.asked
	t.at.Hits += s.store.hits
	s.store.asked, s.store.hits = 0, 0
	return time.Since(t.last) >= reportEvery
}

// solved counts a solved problem. After the last problem, it makes a final report.
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
