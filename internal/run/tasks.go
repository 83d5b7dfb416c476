package run

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
)

// Tasks calls work(ctx, worker, task) once for each task, 0 <= task < tasks, on up to workers
// goroutines. It returns when all calls have.
//
// Tasks are handed out in order, one at a time. Where costs fall with the task, as those of the
// panels of a symmetric half do (panel p meets all documents from its own on), the last tasks are
// the smallest and every worker stays busy to the end. worker, 0 <= worker < workers, tells calls
// apart that run at the same time, so that each worker may own scratch space.
//
// After the first error no further task begins, and Tasks returns that error. When ctx is done, Tasks
// returns the error of ctx; tasks should watch the context that they are given. If a task panics or
// calls runtime.Goexit, Tasks returns a [PanicError], which takes precedence over other errors. It
// fails if workers < 1.
//
// Each goroutine first calls what [OnWorker] has added to the context.
func Tasks(ctx context.Context, workers, tasks int, work func(ctx context.Context, worker, task int) error) error {
	if workers < 1 {
		return fmt.Errorf("run: Tasks: %d workers, expected at least 1", workers)
	}
	begin, _ := ctx.Value(onWorker{}).(func(worker int) (end func()))
	if begin != nil {
		ctx = context.WithValue(ctx, onWorker{}, nil) // workers of workers share their numbers
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var next atomic.Int64
	var panicked atomic.Pointer[PanicError] // the first one
	var wg sync.WaitGroup
	for w := range min(workers, tasks) {
		wg.Go(func() {
			ended := false
			defer func() {
				if ended {
					return
				}
				err := NewPanicError(aTask, recover())
				panicked.CompareAndSwap(nil, err)
				cancel(err)
			}()
			if begin != nil {
				defer begin(w)()
			}
			for ctx.Err() == nil {
				t := int(next.Add(1)) - 1
				if t >= tasks {
					break
				}
				if err := work(ctx, w, t); err != nil {
					cancel(err)
					break
				}
			}
			ended = true
		})
	}
	wg.Wait()
	if err := panicked.Load(); err != nil {
		return err
	}
	return context.Cause(ctx)
}

// onWorker is the key of what OnWorker adds.
type onWorker struct{}

// OnWorker returns a context whose [Tasks] call begin on the goroutine of each worker before its first task, and what
// begin returns, on the same goroutine, after its last. So workers may be pinned to processors. What tasks start by
// Tasks again isn't concerned. begin may be called concurrently.
func OnWorker(ctx context.Context, begin func(worker int) (end func())) context.Context {
	return context.WithValue(ctx, onWorker{}, begin)
}
