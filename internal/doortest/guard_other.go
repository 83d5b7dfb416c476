//go:build !linux

package doortest

// guards are plain memory where the system's calls differ.
type guards struct{}

func (guards) bytes(n int) []byte { return make([]byte, n) }

func (guards) free() {}
