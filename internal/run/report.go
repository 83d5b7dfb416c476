package run

import (
	"context"
	"sync"
	"sync/atomic"
	"time"
)

// reportEvery is the time between two reports.
const reportEvery = 100 * time.Millisecond

// Progress is how far a stage of the work is.
type Progress struct {
	Stage       string   // such as "training"; "" where the work is of one kind
	Done, Total int64    // of pairs of documents, documents or machines; Total is 0 where it isn't known
	Details     []string // what else there is to tell, such as "12 passes"
}

// Reporter counts what many goroutines do and reports the count from one of its own. Add may be
// called concurrently; [StartReporter] makes it, and Finish must be called once.
type Reporter struct {
	done   atomic.Int64
	stop   chan struct{}
	ended  sync.WaitGroup
	failed error // of a report that panicked, once ended has been waited for
}

// StartReporter calls report with the count every 100 ms, and a last time when Finish is called.
// Calls never overlap. A nil report is allowed: the reporter then only counts.
//
// A report that panics, or that calls runtime.Goexit, is the last one. It ends the context that
// StartReporter returns, with a [PanicError] that has the name. Finish, too,
// ends that context.
func StartReporter(ctx context.Context, name string, report func(done int64)) (context.Context, *Reporter) {
	r := &Reporter{stop: make(chan struct{})}
	if report == nil {
		return ctx, r
	}
	ctx, cancel := context.WithCancelCause(ctx)
	r.ended.Go(func() {
		ended := false
		defer func() {
			if v := recover(); !ended {
				r.failed = NewPanicError(name, v)
			}
			cancel(r.failed)
		}()
		tick := time.NewTicker(reportEvery)
		defer tick.Stop()
		for stopped := false; !stopped; {
			select {
			case <-tick.C:
			case <-r.stop:
				stopped = true
			}
			report(r.done.Load())
		}
		ended = true
	})
	return ctx, r
}

// Add adds n to the count.
func (r *Reporter) Add(n int64) { r.done.Add(n) }

// Finish makes the last report and returns when it is over. If a report has panicked, Finish sets
// *err to that error. It is to be deferred by the function whose named result is err.
func (r *Reporter) Finish(err *error) {
	close(r.stop)
	r.ended.Wait()
	if r.failed != nil {
		*err = r.failed
	}
}
