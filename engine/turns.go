package engine

import (
	"context"
	"sync"
)

// orderedSums adds the sums of tasks in task order, even if tasks end in another order. Memory is
// allocated for a fixed number of sums. begin blocks while all of this memory is in use.
type orderedSums struct {
	sums  [][]float64     // task k uses element k modulo the length
	added []chan struct{} // closed after the task's sum is added

	mu      sync.Mutex
	next    int      // task whose sum is added next
	pending []func() // functions that add the sums of ended tasks; nil for other tasks
}

func newOrderedSums(tasks, ahead int) *orderedSums {
	ahead = min(ahead, tasks)
	t := &orderedSums{sums: make([][]float64, ahead), added: make([]chan struct{}, tasks), pending: make([]func(), ahead)}
	for k := range t.added {
		t.added[k] = make(chan struct{})
	}
	return t
}

func (t *orderedSums) begin(ctx context.Context, task, n int) ([]float64, error) {
	if before := task - len(t.sums); before >= 0 {
		select {
		case <-t.added[before]:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
	own := &t.sums[task%len(t.sums)]
	*own = resizeZero(*own, n)
	return *own, nil
}

// end calls take, which adds a task's sum, after the take functions of all earlier tasks. The call
// may be in another goroutine.
func (t *orderedSums) end(task int, take func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for t.pending[task%len(t.pending)] = take; t.next < len(t.added); t.next++ {
		at := t.next % len(t.pending)
		if t.pending[at] == nil {
			return
		}
		t.pending[at]()
		t.pending[at] = nil
		close(t.added[t.next])
	}
}
