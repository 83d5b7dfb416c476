package tiles

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
	"sync/atomic"
)

// Run calls work(ctx, worker, task) once for each task, 0 <= task < tasks, on up to workers
// goroutines. It returns when all calls have.
//
// Tasks are handed out in order, one at a time. Where costs fall with the task, as those of the
// panels of a symmetric half do (panel p meets all documents from its own on), the last tasks are
// the smallest and every worker stays busy to the end. worker, 0 <= worker < workers, tells calls
// apart that run at the same time, so that each worker may own scratch space.
//
// The first error ends the run: no further task begins, and Run returns it. So does the end of ctx,
// with its error; a task that should end early looks at the context that it is given. A task that
// panics, or that calls runtime.Goexit, ends the run with a [PanicError], which takes precedence
// over other errors. A nil ctx, a nil work, fewer than one worker and fewer than no tasks are
// errors.
func Run(ctx context.Context, workers, tasks int, work func(ctx context.Context, worker, task int) error) error {
	switch {
	case ctx == nil:
		return errors.New("tiles: Run: nil context")
	case work == nil:
		return errors.New("tiles: Run: nil work")
	case workers < 1:
		return fmt.Errorf("tiles: Run: %d workers, expected at least 1", workers)
	case tasks < 0:
		return fmt.Errorf("tiles: Run: %d tasks, expected at least 0", tasks)
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
				err := NewPanicError(recover())
				panicked.CompareAndSwap(nil, err)
				cancel(err)
			}()
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

// PanicError says that a task of [Run] or a report of a [Reporter] panicked. A panic on a goroutine
// of its own would end the program, and no caller could recover from it.
type PanicError struct {
	Value any    // what recover returned, or an error that names runtime.Goexit where the task called that
	Stack []byte // of the goroutine that panicked, as debug.Stack has it
}

// errGoexit is the value of a task that ended its goroutine.
var errGoexit = errors.New("runtime.Goexit called")

// NewPanicError returns the error of a function that ended with v, which recover returned; nil says
// that the function called runtime.Goexit. The deferred function that recovers calls it, so that
// the stack is that of the panic.
func NewPanicError(v any) *PanicError {
	if v == nil {
		v = errGoexit
	}
	return &PanicError{Value: v, Stack: debug.Stack()}
}

// Error names the value, and gives the stack on lines of its own.
func (e *PanicError) Error() string {
	return fmt.Sprintf("tiles: a task panicked: %v\n\n%s", e.Value, e.Stack)
}

// Unwrap returns the value where that is an error, such as a runtime.Error.
func (e *PanicError) Unwrap() error {
	err, _ := e.Value.(error)
	return err
}
