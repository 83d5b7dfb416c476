//go:build !linux

package tiles

// Available returns how many bytes of memory this process can still take, as far as the system
// says; on this one it doesn't.
func Available() (bytes int64, known bool) { return 0, false }
