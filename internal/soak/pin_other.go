//go:build !linux

package soak

import (
	"errors"
	"runtime"

	"github.com/gramengine/gram/internal/run"
)

func allowedCPUs() ([]int, error) { return run.Range(0, runtime.NumCPU()), nil }

// pinThread returns an error, because pinning needs Linux.
func pinThread(int) (release func(), err error) {
	return func() {}, errors.New("soak: pinning threads to CPUs requires Linux")
}
