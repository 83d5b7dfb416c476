package engine

import (
	"context"
	"fmt"

	"github.com/gramengine/gram/tiles"
)

// Progress tells how far a computation is.
type Progress struct {
	Done, Total int64 // pairs of documents
}

// progress counts pairs from many goroutines.
type progress struct{ done *tiles.Reporter }

// startProgress begins to report to f until finish is called, as [tiles.StartReporter] does. A nil
// f costs nothing but the counting.
func startProgress(ctx context.Context, f func(Progress), total int64) (context.Context, *progress) {
	var report func(int64)
	if f != nil {
		report = func(done int64) { f(Progress{done, total}) }
	}
	ctx, r := tiles.StartReporter(ctx, "engine: Options.Progress", report)
	return ctx, &progress{r}
}

// finish reports for the last time. It is to be deferred: where reporting panicked, that becomes
// the computation's error.
func (p *progress) finish(err *error) { p.done.Finish(err) }

// guarded calls a function that the caller handed over, under the name that it has there, and makes
// an error of a panic.
func guarded(name string, f func() error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("engine: %s: %w", name, tiles.NewPanicError(v))
		}
	}()
	return f()
}
