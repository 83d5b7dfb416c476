//go:build unix

package svm

import (
	"syscall"
	"testing"
	"time"

	"github.com/gramengine/gram/internal/musttest"
)

// worked returns the processor time that this process has taken. Unlike the time on a clock it doesn't depend on what
// else the machine does.
func worked(t *testing.T) time.Duration {
	t.Helper()
	var u syscall.Rusage
	musttest.Do(t, syscall.Getrusage(syscall.RUSAGE_SELF, &u))
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
