//go:build !linux

package tiles

// Available returns how many bytes of memory this process can still take. This system doesn't say.
func Available() (bytes int64, known bool) { return 0, false }
