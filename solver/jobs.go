package solver

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"

	"github.com/gramengine/gram/internal/run"
)

// solverJob is a sequence of problems that one worker solves. The problems have the same two
// classes. documents is the number of documents of the largest problem.
type solverJob struct {
	documents int
	classes   [2]int // classes[1] is -1 if it stands for all other classes
	run       func(ctx context.Context, s *singleSMO, bytes int64) error
}

// runJobs runs jobs in parallel. If workers outnumber jobs, several workers share the score updates
// of a problem.
//
// The largest jobs start first, so that workers finish at about the same time. If rows are computed
// on demand, jobs start in Z-order of their two classes, so that consecutive jobs share classes and
// therefore rows. For every k, an aligned sequence of 4^k jobs has at most 2·2^k classes, so
// Z-order suits any cache size.
//
// If a job panics, usually in a function that the caller passed, runJobs returns a [*PanicError].
func runJobs(ctx context.Context, m *checkedMatrix, jobs []solverJob, report *reporter, opt *Options) error {
	if len(jobs) == 0 {
		return nil
	}
	slices.SortStableFunc(jobs, func(a, b solverJob) int { return cmp.Compare(b.documents, a.documents) })
	largest := jobs[0].documents
	if m.onDemand {
		slices.SortStableFunc(jobs, func(a, b solverJob) int { return cmp.Compare(zOrder(a.classes), zOrder(b.classes)) })
	}
	workers := min(opt.Workers, len(jobs))
	set := 4 * int64(largest) * int64(opt.setSize(largest, setDivisor, minSetSize, maxSetSize))
	for workers > 1 && opt.RowBytes/int64(workers) < set {
		workers-- // each worker needs memory for a working set
	}
	searches := make([]*singleSMO, workers)
	return run.Tasks(ctx, workers, len(jobs), func(ctx context.Context, w, at int) error {
		if searches[w] == nil {
			searches[w] = &singleSMO{opt: opt, m: m, threads: max(1, opt.Workers/workers), report: report}
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

// reporter collects the progress of the problems of a run and reports it periodically. mu is held
// only briefly, so that a slow callback doesn't block other workers.
type reporter struct {
	report   func(Progress)
	reportMu sync.Mutex // held during a report; other workers skip reports meanwhile

	mu            sync.Mutex // guards the fields below
	lastReport    time.Time
	progress      Progress
	unfinishedSum float64 // sum of the completed fractions of unfinished problems
}

func newReporter(report func(Progress), problems int) *reporter {
	if f := report; f != nil {
		report = func(p Progress) {
			defer run.Rethrow("solver: Options.Progress")
			f(p)
		}
	}
	return &reporter{report: report, lastReport: time.Now(), progress: Progress{Problems: problems}}
}

func (t *reporter) recordRound(s *singleSMO, d *dual, gap float64, steps int) {
	if t.report != nil {
		t.setFraction(d.progress, d.progress.advance(gap, s.opt.Tolerance, steps))
	}
	t.record(s, steps, d, gap)
}

// setFraction sets a problem's completed fraction, which must be 0 when countSolved is called.
func (t *reporter) setFraction(d *runProgress, part float64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.unfinishedSum += part - d.fraction
	d.fraction = part
	t.progress.Done = max(t.progress.Done, min(float64(t.progress.Solved)+t.unfinishedSum, float64(t.progress.Problems)))
}

// record adds steps and row counts to the progress. If a report is due, it calls t.report. The
// report describes d unless d is nil.
func (t *reporter) record(s *singleSMO, steps int, d *dual, gap float64) {
	if t.report == nil || !t.addCounts(s, steps) || !t.reportMu.TryLock() {
		return
	}
	defer t.reportMu.Unlock()
	objective := 0.0
	if d != nil {
		objective = d.objective()
	}
	t.mu.Lock()
	if d != nil {
		t.progress.Gap, t.progress.Objective, t.progress.ActiveDocuments, t.progress.Documents = gap, objective,
			len(d.docs), s.totalDocuments
	}
	at := t.progress
	t.lastReport = time.Now()
	t.mu.Unlock()
	t.report(at)
}

func (t *reporter) addCounts(s *singleSMO, steps int) (due bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.progress.Iterations += int64(steps)
	t.progress.RowRequests += s.cache.requests
	t.progress.CacheHits += s.cache.hits
	s.cache.requests, s.cache.hits = 0, 0
	return time.Since(t.lastReport) >= reportInterval
}

// countSolved counts a solved problem. After the last problem, it makes a final report.
func (t *reporter) countSolved() {
	if t.report == nil {
		return
	}
	t.mu.Lock()
	t.progress.Solved++
	t.progress.Done = max(t.progress.Done, float64(t.progress.Solved))
	last := t.progress.Solved == t.progress.Problems
	t.mu.Unlock()
	if !last {
		return
	}
	t.reportMu.Lock()
	defer t.reportMu.Unlock()
	t.mu.Lock()
	at := t.progress
	t.mu.Unlock()
	t.report(at)
}
