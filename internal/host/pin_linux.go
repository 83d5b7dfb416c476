package host

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"strconv"

	"golang.org/x/sys/unix"
)

// Pin binds the calling goroutine to a logical CPU. The same goroutine must call release.
func Pin(id int) (release func(), err error) {
	runtime.LockOSThread()
	var before, one unix.CPUSet
	one.Set(id)
	if err := errors.Join(unix.SchedGetaffinity(0, &before), unix.SchedSetaffinity(0, &one)); err != nil {
		runtime.UnlockOSThread()
		return func() {}, fmt.Errorf("host: pinning to processor %d: %w", id, err)
	}
	return func() {
		if unix.SchedSetaffinity(0, &before) == nil {
			runtime.UnlockOSThread() // otherwise the thread ends with the goroutine
		}
	}, nil
}

// ProcessorSeconds returns the CPU time of the process, or false if it is unknown.
func ProcessorSeconds() (seconds float64, known bool) {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_PROCESS_CPUTIME_ID, &t); err != nil {
		return 0, false
	}
	return float64(t.Nano()) / 1e9, true
}

// Confine binds all threads of the process, and threads that they start, to some logical CPUs. It
// sets GOMAXPROCS to their number, because the runtime follows the mask only after up to a second.
func Confine(ids []int) error {
	runtime.GOMAXPROCS(len(ids))
	var set unix.CPUSet
	for _, id := range ids {
		set.Set(id)
	}
	threads, err := os.ReadDir("/proc/self/task")
	for _, thread := range threads {
		id, _ := strconv.Atoi(thread.Name())
		if e := unix.SchedSetaffinity(id, &set); e != nil && !errors.Is(e, unix.ESRCH) { // the thread may have ended
			err = errors.Join(err, fmt.Errorf("host: confining to processors %v: %w", ids, e))
		}
	}
	return err
}
