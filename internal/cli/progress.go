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

// LogEvery is how often long work writes a line where standard error is no terminal; a variable for
// tests.
var LogEvery = 10 * time.Second

// Watch is told what work reports, such as "pass 2 50% (1 of 2), loss 3", also where nothing is shown; a variable for
// tests, nil otherwise.
var Watch func(what string)

// Progress shows how far the work is, one bar a stage, on a terminal. On anything else it is
// silent, but for [Progress.Tell], which writes a line now and then if it is to. The zero value
// shows nothing.
type Progress struct {
	mu      sync.Mutex
	program string
	w       *os.File  // nil where there is no terminal
	log     io.Writer // where lines go; nil for nowhere
	logged  time.Time // when the last of them was written
	bar     *progressbar.ProgressBar
	name    string
	// What else the bar says, the most important first. Each part is shown where the terminal is
	// wide enough.
	details []string
	held    bool
}

// Progress makes the progress of a command. With log, long work writes a line every ten seconds
// where there is no terminal. A quiet command shows none.
func (e *Env) Progress(log bool) *Progress {
	if e.Quiet {
		return &Progress{}
	}
	if f, ok := e.Stderr.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		return &Progress{w: f}
	}
	if log {
		return &Progress{program: e.Program, log: e.Stderr, logged: time.Now()}
	}
	return &Progress{}
}

// Columns returns how many columns a terminal has, 0 for what is none.
func Columns(w io.Writer) int {
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

// Stage begins a stage: the bar shows its name until the next stage or until Clear.
func (p *Progress) Stage(name string) {
	p.Clear()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.name, p.details = name, nil
}

// Hold has [Progress.Engine] leave the bar alone until the function that it returns is called: the
// stage has its own measure.
func (p *Progress) Hold() (release func()) {
	p.held = true
	return func() { p.held = false }
}

// Engine is Update for what an engine reports.
func (p *Progress) Engine(done, total int64) {
	if !p.held {
		p.Update(done, total)
	}
}

// Tell shows how far a stage is, with details beside the bar or in a line of the log.
func (p *Progress) Tell(stage string, done, total int64, details []string) {
	p.TellPart(stage, done, total, 0, details)
}

// TellPart is Tell of done and an estimate of what is done beyond.
func (p *Progress) TellPart(stage string, done, total int64, part float64, details []string) {
	p.mu.Lock()
	if p.name != stage && p.bar != nil {
		_ = p.bar.Clear()
		p.bar = nil
	}
	p.name, p.details = stage, details
	if p.log != nil && time.Since(p.logged) >= LogEvery {
		p.logged = time.Now()
		fmt.Fprintf(p.log, "%s: %s\n", p.program, p.line(done, total, part))
	}
	p.mu.Unlock()
	if total == 1 && part == 0 {
		done, total = 0, 0 // a bar of one step would stand at 0 % to the end
	}
	p.update(done, total, part)
}

// line says how far the stage is; a total of 0 means that it isn't known.
func (p *Progress) line(done, total int64, part float64) string {
	line := p.name
	if total > 0 {
		line += fmt.Sprintf(" %.0f%% (%s of %s)", 100*(float64(done)+part)/float64(total), report.Count(done),
			report.Count(total))
	}
	return strings.Join(append([]string{line}, p.details...), ", ")
}

// Update sets the bar of the current stage; a total of 0 means that it isn't known.
func (p *Progress) Update(done, total int64) { p.update(done, total, 0) }

func (p *Progress) update(done, total int64, part float64) {
	if Watch != nil {
		p.mu.Lock()
		line := p.line(done, total, part)
		p.mu.Unlock()
		Watch(line)
	}
	if p.w == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	const steps = 1000 // of the bar in one of few
	switch {
	case total <= 0:
		total = -1
	case total < steps:
		done, total = done*steps+int64(part*steps), total*steps
	}
	width := 30
	if p.details != nil {
		width = 10 // the rest says more
	}
	if p.bar == nil {
		p.bar = progressbar.NewOptions64(total,
			progressbar.OptionSetWriter(p.w),
			progressbar.OptionSetDescription(p.name),
			progressbar.OptionSetWidth(width),
			progressbar.OptionThrottle(100*time.Millisecond),
			progressbar.OptionSetElapsedTime(false),
			progressbar.OptionSetPredictTime(false),
			progressbar.OptionClearOnFinish(),
		)
	}
	if p.details != nil {
		const percentAndFrame = 12
		p.bar.Describe(describe(p.name, p.details, Columns(p.w)-width-percentAndFrame))
	}
	if p.bar.GetMax64() != total {
		p.bar.ChangeMax64(total)
	}
	_ = p.bar.Set64(done) // a bar that can't be drawn is no reason to stop
}

// describe puts as many details after the name as room has columns for.
func describe(name string, details []string, room int) string {
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
