package engine

import (
	"sync"
	"sync/atomic"
	"time"
)

// Progress tells how far a computation is.
type Progress struct {
	Done, Total int64 // pairs of documents
}

// progress counts pairs from many goroutines and reports them from one.
type progress struct {
	done  atomic.Int64
	total int64
	stop  chan struct{}
	wg    sync.WaitGroup
}

// startProgress begins to report to f, every 100 ms, until finish is called. A nil f costs nothing but the counting.
func startProgress(f func(Progress), total int64) *progress {
	p := &progress{total: total, stop: make(chan struct{})}
	if f == nil {
		return p
	}
	p.wg.Go(func() {
		tick := time.NewTicker(100 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				f(Progress{p.done.Load(), total})
			case <-p.stop:
				f(Progress{p.done.Load(), total})
				return
			}
		}
	})
	return p
}

// finish reports for the last time and waits until the report is over.
func (p *progress) finish() {
	close(p.stop)
	p.wg.Wait()
}
