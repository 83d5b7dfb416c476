package main

import (
	"os"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"
)

// progress shows a bar on a terminal, and nothing elsewhere.
type progress struct {
	bar   *progressbar.ProgressBar
	quiet bool
	w     *os.File
}

func newProgress(e *env, quiet bool) *progress {
	w, ok := e.stderr.(*os.File)
	return &progress{w: w, quiet: quiet || !ok || !term.IsTerminal(int(w.Fd()))}
}

func (p *progress) update(done, total int64) {
	if p.quiet {
		return
	}
	if p.bar == nil {
		p.bar = progressbar.NewOptions64(total, progressbar.OptionSetWriter(p.w), progressbar.OptionClearOnFinish(),
			progressbar.OptionShowCount(), progressbar.OptionSetPredictTime(true))
	}
	_ = p.bar.Set64(done) // a terminal that is gone stops nothing
}

func (p *progress) clear() {
	if p.bar != nil {
		_ = p.bar.Clear()
		p.bar = nil
	}
}
