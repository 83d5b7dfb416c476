package main

import (
	"fmt"
	"io"
	"math"
	"strings"
	"time"

	"github.com/gramengine/gram/solver/svm"
)

// logEvery is how often a long training writes a line where standard error is no terminal; a variable for the tests.
var logEvery = 10 * time.Second

// newTrainProgress makes the progress of a training: a bar on a terminal, elsewhere a line every ten seconds, nothing where it is to be quiet.
func newTrainProgress(w io.Writer, quiet bool) *progress {
	if quiet {
		return &progress{}
	}
	p := newProgress(w)
	if p.w == nil {
		p.log, p.told = w, time.Now()
	}
	return p
}

// training is the callback for package svm.
func (p *progress) training(s svm.Progress) {
	p.mu.Lock()
	if p.name != s.Stage && p.bar != nil {
		_ = p.bar.Clear()
		p.bar = nil
	}
	p.name = s.Stage
	if p.log != nil && time.Since(p.told) >= logEvery {
		p.told = time.Now()
		fmt.Fprintln(p.log, "grambench:", describeTraining(s))
	}
	p.mu.Unlock()
	p.update(s.Done, s.Total)
	p.mu.Lock()
	if p.bar != nil {
		p.bar.Describe(describeState(s))
	}
	p.mu.Unlock()
}

// describeState says what a bar doesn't show by itself.
func describeState(s svm.Progress) string {
	parts := []string{s.Stage}
	at := s.Solver
	if at.Iterations > 0 {
		parts = append(parts, formatRate(float64(at.Iterations))+" steps")
	}
	if at.Documents > 0 {
		parts = append(parts, fmt.Sprintf("gap %.2g", at.Gap), fmt.Sprintf("objective %.6g", at.Objective),
			fmt.Sprintf("active %s of %s", formatCount(at.Active), formatCount(at.Documents)))
	}
	if !math.IsNaN(s.HitRate) {
		parts = append(parts, fmt.Sprintf("rows at hand %.0f%%", 100*s.HitRate))
	}
	return strings.Join(parts, ", ")
}

// describeTraining is a line for a log.
func describeTraining(s svm.Progress) string {
	done := ""
	if s.Total > 0 {
		done = fmt.Sprintf(" %.0f%% (%s of %s)", 100*float64(s.Done)/float64(s.Total), formatCount(s.Done), formatCount(s.Total))
	}
	return s.Stage + done + strings.TrimPrefix(describeState(s), s.Stage)
}
