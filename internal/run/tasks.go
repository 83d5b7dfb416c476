package run

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
)

// Tasks calls work(ctx, worker, task) once for each 0 <= task < tasks, on up to workers goroutines.
// It returns when all calls have returned.
//
// Tasks are started in order, one at a time per worker. If the run time of a task decreases with
// its number, as for panels of a symmetric matrix, the last tasks are the smallest and all workers
// stay busy until the end. Concurrent calls have different workers, 0 <= worker < workers, so that
// each worker may own scratch memory.
//
// After the first error no further task starts, and Tasks returns that error. When ctx is done,
// Tasks returns the cause of ctx; tasks should watch their ctx. If a task panics or calls
// runtime.Goexit, Tasks returns a [PanicError], which takes precedence over other errors. Tasks
// fails if workers < 1.
//
// Each goroutine first calls the function added by [WithWorkerHook].
func Tasks(ctx context.Context, workers, tasks int, work func(ctx context.Context, worker, task int) error) error {
	if workers < 1 {
		return fmt.Errorf("run: Tasks: number of workers must be at least 1, got %d", workers)
	}
	begin, _ := ctx.Value(workerHookKey{}).(func(worker int) (end func()))
	if begin != nil {
		ctx = context.WithValue(ctx, workerHookKey{}, nil) // nested Tasks don't call begin
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var next atomic.Int64
	var panicked atomic.Pointer[PanicError] // first panic of a task
	var wg sync.WaitGroup
	for w := range min(workers, tasks) {
		wg.Go(func() {
			ended := false
			defer func() {
				if ended {
					return
				}
				err := NewPanicError(taskFunction, recover())
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

type workerHookKey struct{}

// WithWorkerHook returns a context for [Tasks]. Each worker's goroutine calls begin before its
// first task, and calls end after its last task. For example, begin may pin the worker to a CPU.
// Nested calls of Tasks don't call begin. begin may be called concurrently.
func WithWorkerHook(ctx context.Context, begin func(worker int) (end func())) context.Context {
	return context.WithValue(ctx, workerHookKey{}, begin)
}
