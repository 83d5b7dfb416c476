//go:build !linux

package soak

import (
	"errors"
	"runtime"

	"github.com/gramengine/gram/internal/run"
)

// allowed returns the logical CPUs that the process may use.
func allowed() ([]int, error) { return run.Numbers(0, runtime.NumCPU()), nil }

// pin returns an error, because pinning needs Linux.
func pin(int) (release func(), err error) {
	return func() {}, errors.New("soak: pinning threads to CPUs requires Linux")
}
