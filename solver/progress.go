package solver

import (
	"sync"
	"time"
)

// A teller gathers what the problems of a run report and passes it on now and then.
type teller struct {
	mu     sync.Mutex
	report func(Progress)
	last   time.Time
	at     Progress
}

func newTeller(report func(Progress), problems int) *teller {
	return &teller{report: report, last: time.Now(), at: Progress{Problems: problems}}
}

// round notes one working set of a problem.
func (t *teller) round(s *search, d *dual, gap float64, steps int) {
	if t.report == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.at.Iterations += int64(steps)
	t.note(s, func() {
		d.pull()
		t.at.Gap, t.at.Objective, t.at.Active, t.at.Documents = gap, d.objective(), len(d.docs), s.whole
	})
}

// pass notes rows that were added to the scores between rounds.
func (t *teller) pass(s *search) {
	if t.report == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.note(s, func() {})
}

// note takes over the counts of the rows and reports, if it is time, after filling in the rest.
func (t *teller) note(s *search, fill func()) {
	t.at.Rows += s.store.asked
	t.at.Hits += s.store.hits
	s.store.asked, s.store.hits = 0, 0
	if now := time.Now(); now.Sub(t.last) >= reportEvery {
		t.last = now
		fill()
		t.report(t.at)
	}
}

// solved notes the end of a problem.
func (t *teller) solved() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.at.Solved++
	if t.report != nil && t.at.Solved == t.at.Problems {
		t.report(t.at)
	}
}
