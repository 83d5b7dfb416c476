package main

import (
	"io"
	"os"
	"sync"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"

	"github.com/gramengine/gram/engine"
	"github.com/gramengine/gram/sparse"
)

// progress shows how far the work is, one bar a stage, on a terminal; on anything else it is silent, except that long trainings write a
// line now and then, for whoever looks into a log file.
type progress struct {
	mu   sync.Mutex
	w    io.Writer // nil where there is no terminal
	log  io.Writer // where lines of trainings go; nil for nowhere
	told time.Time // when the last of them was written
	bar  *progressbar.ProgressBar
	name string
	held bool // updates from engines are left out, since a stage has its own measure
}

func newProgress(w io.Writer) *progress {
	if f, ok := w.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		return &progress{w: w}
	}
	return &progress{}
}

// stage begins a stage: the bar shows its name until the next stage or until clear.
func (p *progress) stage(name string) {
	p.clear()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.name = name
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
	if p.bar == nil {
		p.bar = progressbar.NewOptions64(total,
			progressbar.OptionSetWriter(p.w),
			progressbar.OptionSetDescription(p.name),
			progressbar.OptionSetWidth(30),
			progressbar.OptionThrottle(100*time.Millisecond),
			progressbar.OptionSetElapsedTime(false),
			progressbar.OptionClearOnFinish(),
		)
	}
	if p.bar.GetMax64() != total {
		p.bar.ChangeMax64(total)
	}
	_ = p.bar.Set64(done) // a bar that can't be drawn is no reason to stop
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
