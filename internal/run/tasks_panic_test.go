package run

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/gramengine/gram/internal/musttest"
)

// A task that panics ends the run with an error instead of the program. Running tasks are
// cancelled, and no other task starts.
func TestTasksPanics(t *testing.T) {
	failure := errors.New("failure")
	var none []int
	for _, c := range []struct {
		name  string
		fail  func()
		wraps func(err error) bool
		says  string
	}{
		{"value", func() { panic("broken") }, func(err error) bool { return errors.Unwrap(err) == nil },
			"run: a task panicked: broken"},
		{"error", func() { panic(failure) }, func(err error) bool { return errors.Is(err, failure) },
			"run: a task panicked: failure"},
		{"index", func() { none[3] = 1 }, func(err error) bool {
			var wrong runtime.Error
			return errors.As(err, &wrong)
		}, "index out of range"},
		{"nil", func() { panic(nil) }, func(err error) bool {
			var wrong *runtime.PanicNilError
			return errors.As(err, &wrong)
		}, "panic called with nil"},
		{"Goexit", runtime.Goexit, func(err error) bool { return errors.Is(err, errGoexit) }, "runtime.Goexit called"},
	} {
		for _, workers := range []int{1, 2, 5} {
			began := make([]bool, 100)
			err := Tasks(t.Context(), workers, len(began), func(ctx context.Context, _, task int) error {
				began[task] = true
				if task == 3 {
					c.fail()
				}
				if task > 3 {
					<-ctx.Done() // running tasks are cancelled
					return errors.New("another error")
				}
				return nil
			})
			var failed *PanicError
			if !errors.As(err, &failed) {
				t.Fatalf("%s, %d workers: error %v, expected a PanicError", c.name, workers, err)
			}
			if !c.wraps(err) || !strings.Contains(err.Error(), c.says) {
				t.Errorf("%s, %d workers: error %v", c.name, workers, err)
			}
			stack := string(failed.Stack)
			if !strings.Contains(stack, "tasks_panic_test.go") || fmt.Sprintf("%+v", failed) != failed.Error()+"\n\n"+stack {
				t.Errorf("%s, %d workers: no line of the task in the stack\n%s", c.name, workers, stack)
			}
			if strings.Contains(err.Error(), "\n") || fmt.Sprintf("%v", failed) != failed.Error() {
				t.Errorf("%s, %d workers: %v, want one line", c.name, workers, err)
			}
			if began[3+workers] {
				t.Errorf("%s, %d workers: task %d began after the panic", c.name, workers, 3+workers)
			}
		}
	}
}

// Tasks returns the panic even if another error came first.
func TestTasksPanicWins(t *testing.T) {
	began := make(chan struct{})
	err := Tasks(t.Context(), 2, 2, func(ctx context.Context, _, task int) error {
		if task == 0 {
			<-began
			return errors.New("first")
		}
		close(began)
		<-ctx.Done()
		panic("second")
	})
	var failed *PanicError
	if !errors.As(err, &failed) {
		t.Errorf("error %v, expected a PanicError", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	err = Tasks(ctx, 1, 2, func(context.Context, int, int) error { cancel(); panic("after the end of ctx") })
	if !errors.As(err, &failed) {
		t.Errorf("error %v, expected a PanicError", err)
	}
}

func TestTasksRefuses(t *testing.T) {
	work := func(context.Context, int, int) error { return nil }
	musttest.WantError(Tasks(t.Context(), 0, 1, work))(t, "0 workers")
	musttest.NoError(t, Tasks(t.Context(), 3, 0, work))
}
