//go:build !unix

package clitest

import (
	"testing"
	"time"
)

var began = time.Now()

// Worked returns the time since the beginning: what the processors have taken isn't known here.
func Worked(testing.TB) time.Duration { return time.Since(began) }
