package bench

import (
	"context"
	"fmt"
	"runtime"
	"time"

	"github.com/gramengine/gram/engine"
	"github.com/gramengine/gram/internal/backend"
)

// Because the speed of a computer varies over time, each round measures everything once. Ratios
// compare values of the same round, and reports contain medians over the rounds.

// runRounds calls measure once per round for each of n measurements.
func (b *bench) runRounds(n int, name func(i int) string, measure func(i int) error) error {
	for round := range b.rounds {
		for i := range n {
			b.progress.StartStage(fmt.Sprintf("round %d of %d, %s", round+1, b.rounds, name(i)))
			if err := measure(i); err != nil {
				return err
			}
		}
	}
	return nil
}

// timeRun returns the time of run in seconds, and e's statistics during the run. e may be nil.
func timeRun(
	ctx context.Context, e *engine.Engine, run func(context.Context) error,
) (seconds float64, did engine.Stats, err error) {
	runtime.GC() // collects earlier garbage, which would affect memory and time
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
