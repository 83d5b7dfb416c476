package svm

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gramengine/gram/engine"
	"github.com/gramengine/gram/solver"
	"github.com/gramengine/gram/tiles"
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

// start begins to report to f, as startTicker does. Nil is nobody.
func (r *relay) start(ctx context.Context, f func(Progress)) (context.Context, *ticker) {
	t := &ticker{stop: make(chan struct{})}
	if r.last().Stage == "" {
		r.note(Progress{Stage: "preparing the matrix", HitRate: math.NaN()})
	}
	if f == nil {
		return ctx, t
	}
	return t.every(ctx, func() { f(r.last()) }), t
}

// ticker reports a count that many goroutines add to, from one of its own.
type ticker struct {
	done   atomic.Int64
	stop   chan struct{}
	wg     sync.WaitGroup
	failed error // of a report that panicked, once wg has been waited for
}

// startTicker begins to report to f, every 100 ms, until finish is called. A nil f costs nothing but the counting. The context that it returns ends when finish is
// called, or where f panics.
func startTicker(ctx context.Context, f func(Progress), stage string, total int64) (context.Context, *ticker) {
	t := &ticker{stop: make(chan struct{})}
	if f == nil {
		return ctx, t
	}
	return t.every(ctx, func() { f(Progress{Stage: stage, Done: t.done.Load(), Total: total, HitRate: math.NaN()}) }), t
}

// every calls report every 100 ms until finish is called, and then for the last time.
func (t *ticker) every(ctx context.Context, report func()) context.Context {
	ctx, cancel := context.WithCancelCause(ctx)
	t.wg.Go(func() {
		ended := false
		defer func() {
			if v := recover(); !ended {
				if v == nil {
					v = errors.New("runtime.Goexit called")
				}
				t.failed = fmt.Errorf("svm: Options.Progress: %w", &tiles.PanicError{Value: v, Stack: debug.Stack()})
			}
			cancel(t.failed)
		}()
		tick := time.NewTicker(100 * time.Millisecond)
		defer tick.Stop()
		for stopped := false; !stopped; {
			select {
			case <-tick.C:
			case <-t.stop:
				stopped = true
			}
			report()
		}
		ended = true
	})
	return ctx
}

// finish reports for the last time and waits until the report is over. Where reporting panicked, that becomes the error of what was reported.
func (t *ticker) finish(err *error) {
	close(t.stop)
	t.wg.Wait()
	if t.failed != nil {
		*err = t.failed
	}
}
