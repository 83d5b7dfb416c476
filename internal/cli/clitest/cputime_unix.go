//go:build unix

package clitest

import (
	"syscall"
	"testing"
	"time"
)

// CPUTime returns the CPU time of this process. Unlike elapsed time it doesn't depend on other
// programs.
func CPUTime(t testing.TB) time.Duration {
	t.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		t.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
