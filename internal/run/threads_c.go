//go:build cgo

package run

// cThreads says that threads are the C library's.
const cThreads = true
