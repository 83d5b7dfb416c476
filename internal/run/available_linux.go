package run

import (
	"os"
	"runtime"
)

// AvailableBytes returns the number of bytes that this process can still allocate. It is the
// smallest amount that the host, the process's control groups (such as a container's) and its
// limits (ulimit -v and -d) allow, minus the memory that Go's runtime reserves. known is false if
// the system doesn't report available memory. Memory that the runtime caches is treated as used.
// AvailableBytes takes about 100 µs and may be called concurrently.
func AvailableBytes() (bytes int64, known bool) {
	b := AvailableMemory()
	return max(b.FreeBytes, 0), b.Source != ""
}

// AvailableMemory is like [AvailableBytes], and also returns the source of the limit. FreeBytes is
// negative if a limit is below the runtime's own needs, and math.MaxInt64 if no limit is known.
func AvailableMemory() MemoryLimit { return availableMemory(os.DirFS("/")).min(ProcessMemory()) }

// ProcessMemory is like [AvailableMemory], but only for the limits of the process.
func ProcessMemory() MemoryLimit {
	return processMemory(os.DirFS("/"), runtime.GOMAXPROCS(0), hasCThreads)
}
