package sparse

import (
	"io"
	"sync/atomic"
	"time"
)

// meter counts what was read and reports it from a goroutine of its own, so that reports never run concurrently and reading never
// waits for them.
type meter struct {
	done, documents, total atomic.Int64
	report                 func(Progress)
	quit, ended            chan struct{}
}

const reportEvery = 100 * time.Millisecond

// startMeter starts reporting; report may be nil.
func startMeter(report func(Progress)) *meter {
	m := &meter{report: report}
	if report == nil {
		return m
	}
	m.quit, m.ended = make(chan struct{}), make(chan struct{})
	go func() {
		defer close(m.ended)
		tick := time.NewTicker(reportEvery)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				report(m.state())
			case <-m.quit:
				report(m.state())
				return
			}
		}
	}()
	return m
}

func (m *meter) state() Progress {
	return Progress{Done: m.done.Load(), Total: m.total.Load(), Documents: m.documents.Load()}
}

// stop makes the last report and returns when it is made.
func (m *meter) stop() {
	if m.report != nil {
		close(m.quit)
		<-m.ended
	}
}

// countingReader counts the bytes of a file as they are stored, below decompression.
type countingReader struct {
	r io.Reader
	m *meter
}

func (c countingReader) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.m.done.Add(int64(n))
	return n, err
}
