//go:build !unix

package svm

import (
	"testing"
	"time"
)

var began = time.Now()

// worked returns the time since the beginning: what the processors have taken isn't known here.
func worked(*testing.T) time.Duration { return time.Since(began) }
