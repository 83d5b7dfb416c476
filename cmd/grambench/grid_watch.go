package main

import (
	"fmt"
	"math"
	"strings"
	"sync"
	"time"

	"github.com/gramengine/gram/engine"
	"github.com/gramengine/gram/solver/svm"
)

// gridWatch knows how far a search is, for the one who waits.
type gridWatch struct {
	measure svm.Measure
	total   int

	mu    sync.Mutex
	done  int
	best  *svm.Point
	begin time.Time // when machines were first trained

	isa     string
	workers int
}

func newGridWatch(m svm.Measure, total int) *gridWatch { return &gridWatch{measure: m, total: total} }

// engine notes what is computed with.
func (w *gridWatch) engine(e *engine.Engine) { w.isa, w.workers = e.Backend(), e.Workers() }

// point is the callback for a point that is complete.
func (w *gridWatch) point(p svm.Point) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.done++
	if w.best == nil || w.measure.Better(p.Mean, w.best.Mean) {
		w.best = &p
	}
}

// tell says how far the search is: points, the best so far, the time that is left.
func (w *gridWatch) tell(s svm.Progress) []string {
	if s.Solver.Problems == 0 {
		return tellTraining(s)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.begin.IsZero() {
		w.begin = time.Now()
	}
	parts := []string{fmt.Sprintf("%d of %s", w.done, counted(w.total, "point", "points"))}
	if s.Done > 0 && s.Total > s.Done {
		left := float64(time.Since(w.begin)) * float64(s.Total-s.Done) / float64(s.Done)
		parts = append(parts, formatWait(time.Duration(left))+" left")
	}
	if w.best != nil {
		parts = append(parts, "best "+w.measure.Format(w.best.Mean)+": "+pointName(*w.best))
	}
	return parts
}

// formatWait writes a time to wait, in minutes from a hundred seconds on.
func formatWait(d time.Duration) string {
	if d < 100*time.Second {
		return fmt.Sprintf("%d s", int(math.Ceil(d.Seconds())))
	}
	return fmt.Sprintf("%d min", int(math.Ceil(d.Minutes())))
}

// pointName names the settings of a point.
func pointName(p svm.Point) string {
	return strings.Join(append([]string{p.Kernel.String()}, describeNumbers(p.C, p.Nu, p.Epsilon)...), ", ")
}
