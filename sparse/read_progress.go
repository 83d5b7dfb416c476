package sparse

import (
	"io"
	"sync/atomic"
	"time"
)

// meter counts what was read and reports it from a goroutine of its own, so that reports never run
// concurrently and reading never waits for them.
type meter struct {
	done, documents, total atomic.Int64
	report                 func(Progress)
	quit, ended            chan struct{}
	bad                    error // of report, which isn't called again
}

const reportEvery = 100 * time.Millisecond

// startMeter starts reporting; report may be nil. Should it panic, fail is called with the error
// that stop returns.
func startMeter(report func(Progress), fail func(error)) *meter {
	m := &meter{report: report}
	if report == nil {
		return m
	}
	m.quit, m.ended = make(chan struct{}), make(chan struct{})
	go func() {
		defer close(m.ended)
		if m.bad = m.reports(); m.bad != nil {
			fail(m.bad)
		}
	}()
	return m
}

// reports calls report until quit is closed.
func (m *meter) reports() (err error) {
	defer caught("Progress", &err)
	tick := time.NewTicker(reportEvery)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			m.report(m.state())
		case <-m.quit:
			m.report(m.state())
			return nil
		}
	}
}

func (m *meter) state() Progress {
	return Progress{Done: m.done.Load(), Total: m.total.Load(), Documents: m.documents.Load()}
}

// stop makes the last report, returns when it is made, and says how reporting went.
func (m *meter) stop() error {
	if m.report == nil {
		return nil
	}
	close(m.quit)
	<-m.ended
	return m.bad
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
