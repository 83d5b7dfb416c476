package engine

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gramengine/gram/tiles"
)

// Progress tells how far a computation is.
type Progress struct {
	Done, Total int64 // pairs of documents
}

// progress counts pairs from many goroutines and reports them from one.
type progress struct {
	done   atomic.Int64
	total  int64
	stop   chan struct{}
	wg     sync.WaitGroup
	failed error // how f ended where it panicked, once wg has been waited for
}

// startProgress begins to report to f, every 100 ms, until finish is called. A nil f costs nothing but the counting. The context that it returns ends where f panics.
func startProgress(ctx context.Context, f func(Progress), total int64) (context.Context, *progress) {
	p := &progress{total: total, stop: make(chan struct{})}
	if f == nil {
		return ctx, p
	}
	ctx, cancel := context.WithCancelCause(ctx)
	p.wg.Go(func() {
		ended := false
		defer func() {
			if !ended {
				p.failed = fmt.Errorf("engine: Options.Progress: %w", panicError(recover()))
			}
			cancel(p.failed)
		}()
		tick := time.NewTicker(100 * time.Millisecond)
		defer tick.Stop()
		for stopped := false; !stopped; {
			select {
			case <-tick.C:
			case <-p.stop:
				stopped = true
			}
			f(Progress{p.done.Load(), total})
		}
		ended = true
	})
	return ctx, p
}

// finish reports for the last time and waits until the report is over. It is to be deferred: where reporting panicked, that becomes the computation's error.
func (p *progress) finish(err *error) {
	close(p.stop)
	p.wg.Wait()
	if p.failed != nil {
		*err = p.failed
	}
}

// panicError is the error of a function that the caller handed over and that ended with v, which recover returned: nil where it called runtime.Goexit.
func panicError(v any) error {
	if v == nil {
		v = errors.New("runtime.Goexit called")
	}
	return &tiles.PanicError{Value: v, Stack: debug.Stack()}
}

// guarded calls a function that the caller handed over, under the name that it has there, and makes an error of a panic.
func guarded(name string, f func() error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("engine: %s: %w", name, panicError(v))
		}
	}()
	return f()
}
