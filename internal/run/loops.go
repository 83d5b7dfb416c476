package run

import (
	"context"
	"sync"
)

// ForEach calls f(worker, i) for 0 <= i < n, as [Tasks] does. ctx doesn't interrupt calls. If ctx
// is done or a call panics, ForEach returns the error of Tasks. Otherwise, it returns the error
// with the smallest i.
func ForEach(ctx context.Context, workers, n int, f func(worker, i int) error) error {
	var mu sync.Mutex
	bad, first := n, error(nil)
	err := Tasks(ctx, workers, n, func(_ context.Context, w, i int) error {
		err := f(w, i)
		if err != nil {
			mu.Lock()
			defer mu.Unlock()
			if i < bad {
				bad, first = i, err
			}
		}
		return err
	})
	if _, panicked := err.(*PanicError); first == nil || panicked || ctx.Err() != nil {
		return err
	}
	return first
}

// Parallel is like [ForEach], for calls that can't fail.
func Parallel(ctx context.Context, workers, n int, f func(i int)) error {
	return ForEach(ctx, workers, n, func(_, i int) error {
		f(i)
		return nil
	})
}

// ForEachChunk is like [ForEach], for chunks lo <= i < hi of 0, …, n-1.
func ForEachChunk(ctx context.Context, workers, n int, f func(worker, lo, hi int) error) error {
	const chunk = 256
	return ForEach(ctx, workers, (n+chunk-1)/chunk, func(worker, c int) error {
		return f(worker, c*chunk, min(n, (c+1)*chunk))
	})
}
