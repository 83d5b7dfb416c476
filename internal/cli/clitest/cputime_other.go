//go:build !unix

package clitest

import (
	"testing"
	"time"
)

var startTime = time.Now()

// CPUTime returns the elapsed time, because the CPU time isn't available on this system.
func CPUTime(testing.TB) time.Duration { return time.Since(startTime) }
