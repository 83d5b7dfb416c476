package bench

import (
	"context"
	"fmt"
	"runtime"
	"time"

	"github.com/gramengine/gram/engine"
	"github.com/gramengine/gram/internal/backend"
)

// A machine changes its speed while it is measured. So all that is compared is measured once in
// each round, ratios are of figures of one round, and medians over the rounds are reported.

// rounds measures n things once in each round.
func (b *bench) rounds(n int, name func(i int) string, measure func(i int) error) error {
	for round := range b.count {
		for i := range n {
			b.progress.Stage(fmt.Sprintf("round %d of %d, %s", round+1, b.count, name(i)))
			if err := measure(i); err != nil {
				return err
			}
		}
	}
	return nil
}

// timed returns how long a computation takes, and what an engine, which may be nil, does for it.
func timed(
	ctx context.Context, e *engine.Engine, run func(context.Context) error,
) (seconds float64, did engine.Stats, err error) {
	runtime.GC() // what others left is no part of this one's memory or time
	var before engine.Stats
	if e != nil {
		before = e.Stats()
	}
	backend.ResetPeak()
	begin := time.Now()
	err = run(ctx)
	seconds = max(time.Since(begin).Seconds(), 1e-9)
	if e != nil {
		did = e.Stats().Sub(before)
	}
	return seconds, did, err
}
