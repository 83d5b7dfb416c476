//go:build race

package musttest

// RaceEnabled reports whether the race detector is on.
const RaceEnabled = true
