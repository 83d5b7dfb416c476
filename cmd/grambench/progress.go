package main

import (
	"io"
	"os"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"

	"github.com/gramengine/gram/engine"
	"github.com/gramengine/gram/solver/svm"
	"github.com/gramengine/gram/sparse"
)

// progress shows how far the work is, one bar a stage, on a terminal; on anything else it is silent, except that long trainings write a
// line now and then, for whoever looks into a log file.
type progress struct {
	mu   sync.Mutex
	w    *os.File  // nil where there is no terminal
	log  io.Writer // where lines of trainings go; nil for nowhere
	told time.Time // when the last of them was written
	bar  *progressbar.ProgressBar
	name string
	tale []string                    // what else the bar says, the most important first; each part is shown where the terminal is wide enough
	tell func(svm.Progress) []string // makes it, where that isn't tellTraining
	held bool                        // updates from engines are left out, since a stage has its own measure
}

func newProgress(w io.Writer) *progress {
	if f, ok := w.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		return &progress{w: f}
	}
	return &progress{}
}

// stage begins a stage: the bar shows its name until the next stage or until clear.
func (p *progress) stage(name string) {
	p.clear()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.name, p.tale = name, nil
}

// update sets the bar of the current stage; a total of 0 means that it isn't known.
func (p *progress) update(done, total int64) {
	if p.w == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if total <= 0 {
		total = -1
	}
	width := 30
	if p.tale != nil {
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
	if p.tale != nil {
		columns, _, err := term.GetSize(int(p.w.Fd()))
		if err != nil || columns <= 0 {
			columns = 80
		}
		const percentAndFrame = 12
		p.bar.Describe(telling(p.name, p.tale, columns-width-percentAndFrame))
	}
	if p.bar.GetMax64() != total {
		p.bar.ChangeMax64(total)
	}
	_ = p.bar.Set64(done) // a bar that can't be drawn is no reason to stop
}

// telling puts as many parts behind the name as room has columns for.
func telling(name string, parts []string, room int) string {
	for _, part := range parts {
		if utf8.RuneCountInString(name)+2+utf8.RuneCountInString(part) > room {
			break
		}
		name += ", " + part
	}
	return name
}

// clear removes the bar from the terminal.
func (p *progress) clear() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.bar != nil {
		_ = p.bar.Clear()
		p.bar = nil
	}
}

// reading is the callback for sparse.Read.
func (p *progress) reading(s sparse.Progress) { p.update(s.Done, s.Total) }

// computing is the callback for an engine.
func (p *progress) computing(s engine.Progress) {
	if !p.held {
		p.update(s.Done, s.Total)
	}
}
