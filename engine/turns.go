package engine

import (
	"context"
	"sync"
)

// turns have the sums of tasks taken in order, though the tasks end in any. Some may be ahead of those
// before them, until there is no more room for sums. Whoever waits has tasks before it that are under
// way.
type turns struct {
	sums  [][]float64     // that of task k is number k modulo their number
	taken []chan struct{} // closed once that of the task is taken

	mu   sync.Mutex
	next int      // task whose sum is taken next
	take []func() // what takes the sums that are ready, and nil
}

func newTurns(tasks, ahead int) *turns {
	ahead = min(ahead, tasks)
	t := &turns{sums: make([][]float64, ahead), taken: make([]chan struct{}, tasks), take: make([]func(), ahead)}
	for k := range t.taken {
		t.taken[k] = make(chan struct{})
	}
	return t
}

// begin returns n zeros for the sum of a task, when there is room.
func (t *turns) begin(ctx context.Context, task, n int) ([]float64, error) {
	if before := task - len(t.sums); before >= 0 {
		select {
		case <-t.taken[before]:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
	own := &t.sums[task%len(t.sums)]
	*own = cleared(*own, n)
	return *own, nil
}

// end has take called when those of the tasks before have been. The sum is taken then.
func (t *turns) end(task int, take func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for t.take[task%len(t.take)] = take; t.next < len(t.taken); t.next++ {
		at := t.next % len(t.take)
		if t.take[at] == nil {
			return
		}
		t.take[at]()
		t.take[at] = nil
		close(t.taken[t.next])
	}
}
