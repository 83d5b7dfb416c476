package musttest

import (
	"runtime"
	"testing"
)

// SkipRace skips a slow test of a single goroutine under the race detector, because the detector
// can't find races in such a test.
func SkipRace(t testing.TB) {
	t.Helper()
	if RaceEnabled {
		t.Skip("a single goroutine")
	}
}

// SkipIfEmulated skips a slow test on arm64 with -short, because arm64 is emulated. It is for tests
// of code without floating-point arithmetic.
func SkipIfEmulated(t testing.TB) {
	t.Helper()
	if testing.Short() && runtime.GOARCH == "arm64" {
		t.Skip("no floating-point arithmetic")
	}
}
