package engine

import (
	"context"
	"sync"
)

// turns adds the sums of tasks in task order, even if tasks end in another order. Memory is
// allocated for a fixed number of sums. begin blocks while all of this memory is in use.
type turns struct {
	sums  [][]float64     // task k uses element k modulo the length
	taken []chan struct{} // closed after the task's sum is added

	mu   sync.Mutex
	next int      // task whose sum is added next
	take []func() // functions that add the sums of ended tasks; nil for other tasks
}

func newTurns(tasks, ahead int) *turns {
	ahead = min(ahead, tasks)
	t := &turns{sums: make([][]float64, ahead), taken: make([]chan struct{}, tasks), take: make([]func(), ahead)}
	for k := range t.taken {
		t.taken[k] = make(chan struct{})
	}
	return t
}

// begin returns n zeros for a task's sum. It waits until memory for the sum is free.
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

// end calls take, which adds a task's sum, after the take functions of all earlier tasks. The call
// may be in another goroutine.
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
