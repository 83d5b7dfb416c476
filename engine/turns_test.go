package engine

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
)

// Tasks end in any order, and their sums are taken in task order. Each sum starts with zeros, in
// memory that no other task uses until the sum is taken.
func TestTurns(t *testing.T) {
	const tasks = 40
	for _, ahead := range []int{1, 2, 3, tasks, 2 * tasks} {
		turns := newOrderedSums(tasks, ahead)
		if want := min(ahead, tasks); len(turns.sums) != want {
			t.Errorf("%d ahead: memory for %d sums, expected %d", ahead, len(turns.sums), want)
		}
		var group sync.WaitGroup
		var taken []int
		for task := range tasks { // more tasks than sums in memory
			group.Go(func() {
				n := 1 + task%3
				sum, err := turns.begin(t.Context(), task, n)
				if err != nil || !slices.Equal(sum, make([]float64, n)) {
					t.Errorf("%d ahead: task %d begins with %v, %v, expected %d zeros", ahead, task, sum, err, n)
				}
				for i := range sum {
					sum[i] = float64(task)
				}
				turns.end(task, func() {
					for _, v := range sum {
						if v != float64(task) {
							t.Errorf("%d ahead: the sum of task %d is %v when it is taken", ahead, task, sum)
						}
					}
					taken = append(taken, task)
				})
			})
		}
		group.Wait()
		if !slices.IsSorted(taken) || len(taken) != tasks {
			t.Errorf("%d ahead: sums taken in the order %d", ahead, taken)
		}
	}
}

// A task that waits for memory gets an error when its context is done.
func TestTurnsCancelled(t *testing.T) {
	turns := newOrderedSums(3, 2)
	ended := errors.New("ended")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(ended)
	for task, want := range []error{nil, nil, ended} {
		if sum, err := turns.begin(ctx, task, 1); !errors.Is(err, want) || (sum == nil) != (want != nil) {
			t.Errorf("task %d begins with %v, %v, expected %v", task, sum, err, want)
		}
	}
	turns.end(1, func() { t.Error("the sum of task 1 is taken before that of task 0") })
	// The third task reuses the memory of the first task's sum.
	turns = newOrderedSums(3, 2)
	turns.end(0, func() {})
	if _, err := turns.begin(t.Context(), 2, 1); err != nil {
		t.Errorf("task 2, whose memory is free: %v", err)
	}
}
