package svm

import (
	"math"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gramengine/gram/engine"
	"github.com/gramengine/gram/solver"
)

// computing passes on the engine's progress, except while the solver reports its own.
func (p *Problem) computing(s engine.Progress) {
	if p.opt.Progress != nil && !p.training.Load() {
		p.opt.Progress(Progress{Stage: "computing tiles", Done: s.Done, Total: s.Total, HitRate: math.NaN()})
	}
}

// solving passes on the solver's progress.
func (p *Problem) solving(s solver.Progress) {
	if p.opt.Progress == nil {
		return
	}
	p.opt.Progress(Progress{Stage: "training", Done: int64(s.Solved), Total: int64(s.Problems), Solver: s, HitRate: hitRate(s)})
}

// hitRate is the part of the rows asked for that were at hand, NaN where none were.
func hitRate(s solver.Progress) float64 {
	if s.Rows == 0 {
		return math.NaN()
	}
	return float64(s.Hits) / float64(s.Rows)
}

// relay passes on what was noted last, ten times a second, whatever the work is at: some of it, such as predicting folds, notes nothing.
type relay struct {
	mu sync.Mutex
	at Progress
}

func (r *relay) note(at Progress) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.at = at
}

func (r *relay) last() Progress {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.at
}

// start begins to report to f until the function that it returns is called. Nil is nobody.
func (r *relay) start(f func(Progress)) (stop func()) {
	t := &ticker{stop: make(chan struct{})}
	if r.last().Stage == "" {
		r.note(Progress{Stage: "preparing the matrix", HitRate: math.NaN()})
	}
	if f != nil {
		t.every(func() { f(r.last()) })
	}
	return t.finish
}

// ticker reports a count that many goroutines add to, from one of its own.
type ticker struct {
	done atomic.Int64
	stop chan struct{}
	wg   sync.WaitGroup
}

// startTicker begins to report to f, every 100 ms, until finish is called. A nil f costs nothing but the counting.
func startTicker(f func(Progress), stage string, total int64) *ticker {
	t := &ticker{stop: make(chan struct{})}
	if f == nil {
		return t
	}
	t.every(func() { f(Progress{Stage: stage, Done: t.done.Load(), Total: total, HitRate: math.NaN()}) })
	return t
}

// every calls report every 100 ms until finish is called, and then for the last time.
func (t *ticker) every(report func()) {
	t.wg.Go(func() {
		tick := time.NewTicker(100 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				report()
			case <-t.stop:
				report()
				return
			}
		}
	})
}

// finish reports for the last time and waits until the report is over.
func (t *ticker) finish() {
	close(t.stop)
	t.wg.Wait()
}
