//go:build !cgo

package run

// hasCThreads reports whether the C library creates threads.
const hasCThreads = false
