//go:build !linux

package run

// AvailableBytes returns false, because this system doesn't report available memory.
func AvailableBytes() (bytes int64, known bool) { return 0, false }

// AvailableMemory is like [AvailableBytes], and also returns the source of the limit.
func AvailableMemory() MemoryLimit { return noMemoryLimit }

// ProcessMemory is like [AvailableMemory], but only for the limits of the process.
func ProcessMemory() MemoryLimit { return noMemoryLimit }
