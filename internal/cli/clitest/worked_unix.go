//go:build unix

package clitest

import (
	"syscall"
	"testing"
	"time"
)

// Worked returns the processor time that this process has taken. Unlike the time on a clock it doesn't depend on what
// else the machine does.
func Worked(t testing.TB) time.Duration {
	t.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		t.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
