//go:build cgo

package tiles

// cThreads says that threads are the C library's.
const cThreads = true
