package svm

import (
	"context"
	"math"
	"sync"

	"github.com/gramengine/gram/engine"
	"github.com/gramengine/gram/internal/run"
	"github.com/gramengine/gram/solver"
)

// reportEngine reports the engine's progress, except while the solver reports progress.
func (p *Problem) reportEngine(s engine.Progress) {
	if p.opt.Progress != nil && !p.training.Load() {
		p.opt.Progress(Progress{Stage: "computing tiles", Done: s.Done, Total: s.Total, HitRate: math.NaN()})
	}
}

func (p *Problem) reportSolver(s solver.Progress) {
	if p.opt.Progress == nil {
		return
	}
	p.opt.Progress(
		Progress{Stage: "training", Done: int64(s.Solved), Total: int64(s.Problems),
			PartialWork: s.Done - float64(s.Solved), Solver: s, HitRate: hitRate(s)},
	)
}

// hitRate returns the fraction of requested rows that were cached, NaN if none were requested.
func hitRate(s solver.Progress) float64 {
	if s.RowRequests == 0 {
		return math.NaN()
	}
	return float64(s.CacheHits) / float64(s.RowRequests)
}

// relay reports the last recorded progress ten times a second, even during work that records no
// progress, such as predicting folds.
type relay struct {
	mu      sync.Mutex
	current Progress
}

func (r *relay) note(at Progress) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.current = at
}

func (r *relay) last() Progress {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.current
}

func (r *relay) start(ctx context.Context, f func(Progress)) (context.Context, *run.Reporter) {
	if r.last().Stage == "" {
		r.note(Progress{Stage: "preparing the matrix", HitRate: math.NaN()})
	}
	return report(ctx, f, func(int64) Progress { return r.last() })
}

// startReporter reports a stage to f every 100 ms until the reporter's Finish is called. If f is
// nil, progress is only counted. The returned context is cancelled by Finish, or when f panics.
func startReporter(
	ctx context.Context, f func(Progress), stage string, total int64,
) (context.Context, *run.Reporter) {
	return report(ctx, f, func(done int64) Progress {
		return Progress{Stage: stage, Done: done, Total: total, HitRate: math.NaN()}
	})
}

func report(
	ctx context.Context, f func(Progress), state func(done int64) Progress,
) (context.Context, *run.Reporter) {
	var report func(int64)
	if f != nil {
		report = func(done int64) { f(state(done)) }
	}
	return run.StartReporter(ctx, "svm: Options.Progress", report)
}
