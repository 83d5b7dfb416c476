package host

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"strconv"

	"golang.org/x/sys/unix"
)

// Pin binds the calling goroutine to a logical processor until release, which the same goroutine must call.
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
			runtime.UnlockOSThread() // else the thread ends with the goroutine
		}
	}, nil
}

// ProcessorSeconds is the processor time of the process, and false where the system doesn't tell.
func ProcessorSeconds() (seconds float64, known bool) {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_PROCESS_CPUTIME_ID, &t); err != nil {
		return 0, false
	}
	return float64(t.Nano()) / 1e9, true
}

// Confine binds all threads of the process, and those that they start, to some logical processors, and sets GOMAXPROCS
// to their number: by itself the runtime follows the mask up to a second late.
func Confine(ids []int) error {
	runtime.GOMAXPROCS(len(ids))
	var set unix.CPUSet
	for _, id := range ids {
		set.Set(id)
	}
	threads, err := os.ReadDir("/proc/self/task")
	for _, thread := range threads {
		id, _ := strconv.Atoi(thread.Name())
		if e := unix.SchedSetaffinity(id, &set); e != nil && !errors.Is(e, unix.ESRCH) { // it may have ended
			err = errors.Join(err, fmt.Errorf("host: confining to processors %v: %w", ids, e))
		}
	}
	return err
}
