package solver

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"sync/atomic"
)

// A job is some problems for one worker to solve, the largest of so many documents. It notes each one that is solved.
type job struct {
	documents int
	run       func(ctx context.Context, s *search, bytes int64) error
}

// runAll does jobs, each on one worker, the largest first; where there are fewer jobs than workers, these share a problem's updates. problems is how many
// there are in all jobs.
func runAll(ctx context.Context, m Matrix, jobs []job, problems int, opt *Options) error {
	if len(jobs) == 0 {
		return nil
	}
	slices.SortStableFunc(jobs, func(a, b job) int { return cmp.Compare(b.documents, a.documents) })
	largest := jobs[0].documents
	workers := min(opt.Workers, len(jobs))
	for workers > 1 && opt.RowBytes/int64(workers) < 4*int64(largest)*int64(opt.workingSet(largest)) {
		workers-- // each needs room for its working set
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	tell := newTeller(opt.Progress, problems)
	var next atomic.Int64
	var all sync.WaitGroup
	for range workers {
		all.Go(func() {
			s := &search{opt: opt, m: m, threads: max(1, opt.Workers/workers), tell: tell}
			for {
				at := int(next.Add(1)) - 1
				if at >= len(jobs) || ctx.Err() != nil {
					return
				}
				if err := jobs[at].run(ctx, s, opt.RowBytes/int64(workers)); err != nil {
					cancel(err)
					return
				}
			}
		})
	}
	all.Wait()
	return context.Cause(ctx)
}
