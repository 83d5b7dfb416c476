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
	tell := p.tell
	if tell == nil {
		tell = tellTraining
	}
	p.name, p.tale = s.Stage, tell(s)
	if p.log != nil && time.Since(p.told) >= logEvery {
		p.told = time.Now()
		fmt.Fprintln(p.log, "grambench:", logTraining(s, p.tale))
	}
	p.mu.Unlock()
	if s.Total == 1 {
		s.Done, s.Total = 0, 0 // a bar of one step would stand at 0 % to the end
	}
	p.update(s.Done, s.Total)
}

// tellTraining says what a bar doesn't show by itself, the most important first.
func tellTraining(s svm.Progress) []string {
	var parts []string
	at := s.Solver
	if at.Documents > 0 {
		parts = append(parts, fmt.Sprintf("gap %.2g", at.Gap))
	}
	if at.Iterations > 0 {
		parts = append(parts, formatRate(float64(at.Iterations))+" steps")
	}
	if at.Documents > 0 {
		parts = append(parts, fmt.Sprintf("%s of %s active", formatCount(at.Active), formatCount(at.Documents)), fmt.Sprintf("objective %.6g", at.Objective))
	}
	if !math.IsNaN(s.HitRate) {
		parts = append(parts, fmt.Sprintf("%.0f%% of rows at hand", 100*s.HitRate))
	}
	return parts
}

// logTraining is a line for a log.
func logTraining(s svm.Progress, tale []string) string {
	line := s.Stage
	if s.Total > 0 {
		line += fmt.Sprintf(" %.0f%% (%s of %s)", 100*float64(s.Done)/float64(s.Total), formatCount(s.Done), formatCount(s.Total))
	}
	return strings.Join(append([]string{line}, tale...), ", ")
}
