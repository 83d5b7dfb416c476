package host

import (
	"context"
	"os"
	"runtime"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/gramengine/gram/internal/run"
)

// Workers run on the CPUs to which they are pinned. Afterwards the threads' masks are restored.
func TestPin(t *testing.T) {
	m := Describe(os.DirFS("/"), "")
	for _, c := range m.CPUs {
		ctx := run.OnWorker(t.Context(), func(int) func() {
			release, err := Pin(c.ID)
			if err != nil {
				t.Error(err)
			}
			return release
		})
		err := run.Tasks(ctx, 2, 8, func(ctx context.Context, _, _ int) error {
			var set unix.CPUSet
			if err := unix.SchedGetaffinity(0, &set); err != nil {
				return err
			}
			if set.Count() != 1 || !set.IsSet(c.ID) {
				t.Errorf("a task runs on %v, expected processor %d alone", set, c.ID)
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	}
	if release, err := Pin(maxCPUs); err == nil {
		t.Error("pinned to a processor that isn't there")
		release()
	}
}

// Confine changes the number of concurrent goroutines at once, not when the runtime notices.
func TestConfine(t *testing.T) {
	ids := ParseList(Describe(os.DirFS("/"), "").Allowed)
	for _, to := range [][]int{ids[:1], ids} {
		if err := Confine(to); err != nil || runtime.GOMAXPROCS(0) != len(to) {
			t.Errorf("on processors %v: GOMAXPROCS is %d, %v", to, runtime.GOMAXPROCS(0), err)
		}
	}
}
