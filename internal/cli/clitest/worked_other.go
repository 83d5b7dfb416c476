//go:build !unix

package clitest

import (
	"testing"
	"time"
)

var began = time.Now()

// Worked returns the elapsed time, because the CPU time isn't available on this system.
func Worked(testing.TB) time.Duration { return time.Since(began) }
