package solver

import (
	"sync"
	"time"
)

// A reporter gathers what the problems of a run report and passes it on now and then.
//
// Its counts have a lock of their own, which nobody holds for long: a report that brings scores
// from a device first, or a caller who takes time over one, keeps no other worker waiting.
type reporter struct {
	report    func(Progress)
	reporting sync.Mutex // held from gathering a report to its end; who finds it held leaves out a report

	mu   sync.Mutex // guards what follows
	last time.Time
	at   Progress
}

func newReporter(report func(Progress), problems int) *reporter {
	return &reporter{report: report, last: time.Now(), at: Progress{Problems: problems}}
}

// round notes one working set of a problem.
func (t *reporter) round(s *search, d *dual, gap float64, steps int) {
	t.note(s, steps, func() (fill func(*Progress)) {
		d.pull()
		objective := d.objective()
		return func(at *Progress) {
			at.Gap, at.Objective, at.Active, at.Documents = gap, objective, len(d.docs), s.whole
		}
	})
}

// pass notes rows that were added to the scores between rounds.
func (t *reporter) pass(s *search) {
	t.note(s, 0, func() func(*Progress) { return func(*Progress) {} })
}

// note takes over steps and the counts of the rows and reports, if it is time, after gathering the
// rest.
func (t *reporter) note(s *search, steps int, gather func() (fill func(*Progress))) {
	if t.report == nil || !t.count(s, steps) || !t.reporting.TryLock() {
		return
	}
	defer t.reporting.Unlock()
	fill := gather()
	t.mu.Lock()
	fill(&t.at)
	at := t.at
	t.last = time.Now()
	t.mu.Unlock()
	t.report(at)
}

// count takes over steps and the counts of the rows, and says whether it is time for a report.
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
