package run

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"

	"github.com/gramengine/gram/internal/musttest"
)

func TestTasksDoesEachTaskOnce(t *testing.T) {
	for _, workers := range []int{1, 2, 7, 300} {
		var seen [200]atomic.Int32
		busy := make([]atomic.Int32, workers)
		err := Tasks(t.Context(), workers, len(seen), func(_ context.Context, w, task int) error {
			if busy[w].Add(1) != 1 {
				t.Errorf("worker %d runs two tasks at once", w)
			}
			seen[task].Add(1)
			busy[w].Add(-1)
			return nil
		})
		musttest.NoError(t, err)
		for i := range seen {
			if n := seen[i].Load(); n != 1 {
				t.Errorf("%d workers: task %d ran %d times", workers, i, n)
			}
		}
	}
}

func TestTasksStops(t *testing.T) {
	failure := errors.New("task 3 fails")
	var done atomic.Int32
	err := Tasks(t.Context(), 2, 1000, func(ctx context.Context, _, task int) error {
		if task == 3 {
			return failure
		}
		if task > 3 {
			<-ctx.Done() // running tasks are cancelled
		}
		done.Add(1)
		return nil
	})
	if err != failure || done.Load() > 10 {
		t.Errorf("Tasks returned %v after %d tasks", err, done.Load())
	}

	ctx, cancel := context.WithCancel(t.Context())
	musttest.WantError(Tasks(ctx, 2, 1000, func(context.Context, int, int) error { cancel(); return nil }))(t,
		"after the end of the context", context.Canceled)
}
