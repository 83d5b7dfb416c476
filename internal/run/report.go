package run

import (
	"context"
	"sync"
	"sync/atomic"
	"time"
)

const reportInterval = 100 * time.Millisecond

// Progress describes how much of a stage is done.
type Progress struct {
	Stage       string   // name of the stage, such as "training"; "" if there is a single stage
	Done, Total int64    // completed and total document pairs, documents or binary classifiers; Total is 0 if unknown
	Details     []string // additional texts, such as "12 passes"
}

// Reporter counts the work of many goroutines, and reports the count from a separate goroutine. Use
// [StartReporter] to create a Reporter. Add may be called concurrently. Finish must be called
// exactly once.
type Reporter struct {
	done  atomic.Int64
	stop  chan struct{}
	ended sync.WaitGroup
	err   error // error of a report that panicked; read after ended.Wait
}

// StartReporter calls report with the count every 100 ms, and once more in Finish. Calls never
// overlap. If report is nil, the reporter only counts.
//
// If report panics or calls runtime.Goexit, it isn't called again, and the returned context is
// cancelled with a [PanicError] whose Function is name. Finish also cancels this context.
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
				r.err = NewPanicError(name, v)
			}
			cancel(r.err)
		}()
		tick := time.NewTicker(reportInterval)
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

// Finish makes the last report and returns when the report is done. If a report panicked, Finish
// sets *err to the error. Defer it in a function whose named result is err.
func (r *Reporter) Finish(err *error) {
	close(r.stop)
	r.ended.Wait()
	if r.err != nil {
		*err = r.err
	}
}
