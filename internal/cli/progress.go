package cli

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"

	"github.com/gramengine/gram/internal/report"
)

// LogInterval is the interval between progress lines if standard error isn't a terminal. It is a
// variable for tests.
var LogInterval = 10 * time.Second

// OnProgress is called with all progress, such as "pass 2 50% (1 of 2), loss 3", even if progress
// isn't shown. It is a variable for tests, nil otherwise.
var OnProgress func(what string)

// Progress shows progress on a terminal, with one bar per stage. If there is no terminal, it prints
// nothing, except that [Progress.Show] may write lines to a log. The zero value shows nothing.
type Progress struct {
	mu          sync.Mutex
	programName string
	w           *os.File  // nil if there is no terminal
	log         io.Writer // destination of progress lines; nil for none
	lastLogTime time.Time // time of the last progress line
	bar         *progressbar.ProgressBar
	stage       string
	// details are texts after the bar, in order of importance. As many as fit are shown.
	details     []string
	engineMuted bool
}

// NewProgress returns the progress of a command. If log is set and there is no terminal, progress
// is written as a line every ten seconds. Quiet commands show no progress.
func (e *Env) NewProgress(log bool) *Progress {
	if e.Quiet {
		return &Progress{}
	}
	if f, ok := e.Stderr.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		return &Progress{w: f}
	}
	if log {
		return &Progress{programName: e.ProgramName, log: e.Stderr, lastLogTime: time.Now()}
	}
	return &Progress{}
}

// TerminalWidth returns the width of a terminal, or 0 if w isn't a terminal.
func TerminalWidth(w io.Writer) int {
	f, ok := w.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return 0
	}
	columns, _, err := term.GetSize(int(f.Fd()))
	if err != nil || columns <= 0 {
		return 80
	}
	return columns
}

// StartStage starts a stage: the bar shows the stage's name until the next stage or Clear.
func (p *Progress) StartStage(name string) {
	p.Clear()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.stage, p.details = name, nil
}

// MuteEngine makes [Progress.UpdateFromEngine] do nothing until release is called, because the
// stage reports its own progress.
func (p *Progress) MuteEngine() (release func()) {
	p.engineMuted = true
	return func() { p.engineMuted = false }
}

// UpdateFromEngine calls Update with an engine's progress, unless MuteEngine is in effect.
func (p *Progress) UpdateFromEngine(done, total int64) {
	if !p.engineMuted {
		p.Update(done, total)
	}
}

// Show shows the progress of a stage, with details, as a bar or as a line of the log.
func (p *Progress) Show(stage string, done, total int64, details []string) {
	p.ShowPartial(stage, done, total, 0, details)
}

// ShowPartial is like Show. part is the estimated fraction of the current unit that is done.
func (p *Progress) ShowPartial(stage string, done, total int64, part float64, details []string) {
	p.mu.Lock()
	if p.stage != stage && p.bar != nil {
		_ = p.bar.Clear()
		p.bar = nil
	}
	p.stage, p.details = stage, details
	if p.log != nil && time.Since(p.lastLogTime) >= LogInterval {
		p.lastLogTime = time.Now()
		fmt.Fprintf(p.log, "%s: %s\n", p.programName, p.formatLine(done, total, part))
	}
	p.mu.Unlock()
	if total == 1 && part == 0 {
		done, total = 0, 0 // a bar with one step would stay at 0%
	}
	p.update(done, total, part)
}

// formatLine formats the progress of the stage. total is 0 if it is unknown.
func (p *Progress) formatLine(done, total int64, part float64) string {
	line := p.stage
	if total > 0 {
		line += fmt.Sprintf(" %.0f%% (%s of %s)", 100*(float64(done)+part)/float64(total), report.FormatCount(done),
			report.FormatCount(total))
	}
	return strings.Join(append([]string{line}, p.details...), ", ")
}

// Update sets the bar of the current stage. total is 0 if it is unknown.
func (p *Progress) Update(done, total int64) { p.update(done, total, 0) }

func (p *Progress) update(done, total int64, part float64) {
	if OnProgress != nil {
		p.mu.Lock()
		line := p.formatLine(done, total, part)
		p.mu.Unlock()
		OnProgress(line)
	}
	if p.w == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	const steps = 1000 // resolution of a bar with a small total
	switch {
	case total <= 0:
		total = -1
	case total < steps:
		done, total = done*steps+int64(part*steps), total*steps
	}
	width := 30
	if p.details != nil {
		width = 10 // a short bar leaves more columns for details
	}
	if p.bar == nil {
		p.bar = progressbar.NewOptions64(total,
			progressbar.OptionSetWriter(p.w),
			progressbar.OptionSetDescription(p.stage),
			progressbar.OptionSetWidth(width),
			progressbar.OptionThrottle(100*time.Millisecond),
			progressbar.OptionSetElapsedTime(false),
			progressbar.OptionSetPredictTime(false),
			progressbar.OptionClearOnFinish(),
		)
	}
	if p.details != nil {
		const percentAndFrame = 12
		p.bar.Describe(appendDetails(p.stage, p.details, TerminalWidth(p.w)-width-percentAndFrame))
	}
	if p.bar.GetMax64() != total {
		p.bar.ChangeMax64(total)
	}
	_ = p.bar.Set64(done) // the error is ignored, because progress is optional
}

// appendDetails appends as many details to the name as fit into room columns.
func appendDetails(name string, details []string, room int) string {
	for _, part := range details {
		if utf8.RuneCountInString(name)+2+utf8.RuneCountInString(part) > room {
			break
		}
		name += ", " + part
	}
	return name
}

// Clear removes the bar from the terminal.
func (p *Progress) Clear() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.bar != nil {
		_ = p.bar.Clear()
		p.bar = nil
	}
}
