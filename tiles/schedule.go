package tiles

import (
	"context"
	"sync"
	"sync/atomic"
)

// Run calls work(worker, task) once for each task, 0 <= task < tasks, on up to workers goroutines, and returns when all calls have.
//
// Tasks are handed out in order, one at a time: where costs fall with the task, as those of the panels of a symmetric half do
// (panel p meets all documents from its own on), the last tasks are the smallest and every worker stays busy to the end. worker, 0 <= worker < workers,
// tells calls apart that run at the same time, so that each worker may own scratch space.
//
// The first error ends the run: no further task begins, and Run returns it. So does the end of ctx, whose error is returned then; a
// task that should end early itself looks at the context that it is given.
func Run(ctx context.Context, workers, tasks int, work func(ctx context.Context, worker, task int) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var next atomic.Int64
	var wg sync.WaitGroup
	for w := range min(workers, tasks) {
		wg.Go(func() {
			for ctx.Err() == nil {
				t := int(next.Add(1)) - 1
				if t >= tasks {
					return
				}
				if err := work(ctx, w, t); err != nil {
					cancel(err)
					return
				}
			}
		})
	}
	wg.Wait()
	return context.Cause(ctx)
}
