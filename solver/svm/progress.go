package svm

import (
	"math"

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
	rate := math.NaN()
	if s.Rows > 0 {
		rate = float64(s.Hits) / float64(s.Rows)
	}
	p.opt.Progress(Progress{Stage: "training", Done: int64(s.Solved), Total: int64(s.Problems), Solver: s, HitRate: rate})
}
