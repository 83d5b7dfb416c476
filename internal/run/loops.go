package run

import (
	"context"
	"sync"
	"sync/atomic"
)

// InOrder calls f(worker, i) for i = 0, …, n-1 on min(workers, n) goroutines, 0 <= worker < workers, and waits for
// all calls. Calls start in the order of i. No call starts after an error or after ctx is done. InOrder returns
// ctx.Err(), or else the error of the smallest i.
func InOrder(ctx context.Context, workers, n int, f func(worker, i int) error) error {
	var group sync.WaitGroup
	var next atomic.Int64
	var mu sync.Mutex
	bad, failed := n, error(nil)
	for w := range min(workers, n) {
		group.Go(func() {
			for ctx.Err() == nil {
				i := int(next.Add(1) - 1)
				if i >= n {
					return
				}
				if err := f(w, i); err != nil {
					next.Store(int64(n))
					mu.Lock()
					if i < bad {
						bad, failed = i, err
					}
					mu.Unlock()
				}
			}
		})
	}
	group.Wait()
	if err := ctx.Err(); err != nil {
		return err
	}
	return failed
}

// Parallel is [InOrder] of what can't fail.
func Parallel(ctx context.Context, workers, n int, f func(i int)) error {
	return InOrder(ctx, workers, n, func(_, i int) error {
		f(i)
		return nil
	})
}

// Chunks is [InOrder] of f for lo <= i < hi, short runs of the numbers below n.
func Chunks(ctx context.Context, workers, n int, f func(worker, lo, hi int) error) error {
	const chunk = 256
	return InOrder(ctx, workers, (n+chunk-1)/chunk, func(worker, c int) error {
		return f(worker, c*chunk, min(n, (c+1)*chunk))
	})
}
