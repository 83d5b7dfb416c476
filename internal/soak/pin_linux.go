package soak

import (
	"errors"
	"fmt"
	"runtime"

	"golang.org/x/sys/unix"
)

func allowedCPUs() (ids []int, err error) {
	var set unix.CPUSet
	if err := unix.SchedGetaffinity(0, &set); err != nil {
		return nil, fmt.Errorf("soak: %w", err)
	}
	for id := range 64 * len(set) {
		if set.IsSet(id) {
			ids = append(ids, id)
		}
	}
	return ids, nil
}

// pinThread binds the calling goroutine to a logical CPU. The same goroutine must call release.
func pinThread(id int) (release func(), err error) {
	runtime.LockOSThread()
	var before, one unix.CPUSet
	one.Set(id)
	if err := errors.Join(unix.SchedGetaffinity(0, &before), unix.SchedSetaffinity(0, &one)); err != nil {
		runtime.UnlockOSThread()
		return func() {}, fmt.Errorf("soak: pinning to processor %d: %w", id, err)
	}
	return func() {
		if unix.SchedSetaffinity(0, &before) == nil {
			runtime.UnlockOSThread() // otherwise the thread ends with the goroutine
		}
	}, nil
}
