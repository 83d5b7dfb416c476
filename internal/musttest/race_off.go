//go:build !race

package musttest

// Race reports whether the race detector is on.
const Race = false
