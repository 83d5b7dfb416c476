package soak

import (
	"context"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/gramengine/gram/internal/musttest"
	"github.com/gramengine/gram/internal/run"
)

// Workers run on the CPUs to which they are pinned. Afterwards the threads' masks are restored.
func TestPin(t *testing.T) {
	ids := musttest.Get(allowedCPUs())(t)
	for _, id := range ids {
		ctx := newCore(id).pinnedContext(t.Context(), true)
		err := run.Tasks(ctx, 2, 8, func(ctx context.Context, _, _ int) error {
			var set unix.CPUSet
			if err := unix.SchedGetaffinity(0, &set); err != nil {
				return err
			}
			if set.Count() != 1 || !set.IsSet(id) {
				t.Errorf("a task runs on %v, expected processor %d alone", set, id)
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	}
	if after := musttest.Get(allowedCPUs())(t); len(after) != len(ids) {
		t.Errorf("processors %v after pinning, expected %v", after, ids)
	}
	if release, err := pinThread(1 << 14); err == nil {
		t.Error("pinned to a processor that isn't there")
		release()
	}
}
