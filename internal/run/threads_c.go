//go:build cgo

package run

// cThreads reports whether the C library creates threads.
const cThreads = true
