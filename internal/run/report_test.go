package run

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"
)

// Many goroutines count. Reports don't overlap, never decrease, and the last one is the sum.
func TestReporterCounts(t *testing.T) {
	var reports []int64        // without lock, so that the race detector finds a second goroutine
	one := make(chan struct{}) // closed at the first report
	ctx, r := StartReporter(t.Context(), "test", func(done int64) {
		if reports = append(reports, done); len(reports) == 1 {
			close(one)
		}
	})
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 1000 {
				r.Add(3)
			}
		})
	}
	<-one
	wg.Wait()
	failure := errors.New("failure")
	err := failure
	r.Finish(&err)
	if err != failure {
		t.Errorf("Finish set the error to %v", err)
	}
	if ctx.Err() == nil {
		t.Error("the context goes on after Finish")
	}
	if n := len(reports); n < 2 || reports[n-1] != 24000 {
		t.Fatalf("reports %v, expected at least two, the last of 24000", reports)
	}
	for i := range reports[1:] {
		if reports[i+1] < reports[i] {
			t.Errorf("reports %v fall", reports)
		}
	}
}

// The last report is made even if the work takes less than the interval.
func TestReporterReportsAtTheEnd(t *testing.T) {
	var reports []int64
	_, r := StartReporter(t.Context(), "test", func(done int64) { reports = append(reports, done) })
	r.Add(7)
	var err error
	r.Finish(&err)
	if err != nil || len(reports) == 0 || reports[len(reports)-1] != 7 {
		t.Errorf("reports %v, error %v, want one of 7", reports, err)
	}
}

// Without a report function the context stays unchanged.
func TestReporterWithoutReport(t *testing.T) {
	ctx, r := StartReporter(t.Context(), "test", nil)
	r.Add(1)
	var err error
	if r.Finish(&err); err != nil || ctx != t.Context() {
		t.Errorf("error %v, context %v", err, ctx)
	}
}

// A report that panics or calls runtime.Goexit ends the context with an error.
func TestReporterPanics(t *testing.T) {
	failure := errors.New("failure")
	for name, c := range map[string]struct {
		fail  func()
		cause error
	}{
		"panic":  {func() { panic(failure) }, failure},
		"Goexit": {runtime.Goexit, errGoexit},
	} {
		calls := 0
		ctx, r := StartReporter(t.Context(), "test", func(int64) { calls++; c.fail() })
		<-ctx.Done()
		time.Sleep(2 * reportInterval)
		err := errors.New("another error")
		r.Finish(&err)
		var failed *PanicError
		if !errors.As(err, &failed) || !errors.Is(err, c.cause) || !strings.HasPrefix(err.Error(), "test panicked: ") {
			t.Errorf("%s: error %v", name, err)
			continue
		}
		if !errors.Is(context.Cause(ctx), c.cause) || calls != 1 {
			t.Errorf("%s: %d calls, cause %v", name, calls, context.Cause(ctx))
		}
		if !strings.Contains(string(failed.Stack), "report_test.go") {
			t.Errorf("%s: no line of the report in the stack\n%s", name, failed.Stack)
		}
	}
}
