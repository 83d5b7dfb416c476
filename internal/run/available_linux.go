package run

import (
	"os"
	"runtime"
)

// AvailableBytes returns the number of bytes that this process can still allocate: the minimum for
// the host, the control groups of the process (such as a container's) and the limits of the process
// (ulimit -v and -d), minus the memory that Go's runtime reserves. known is false if the system
// doesn't report the memory. Memory that the runtime caches is treated as used. AvailableBytes
// takes about 100 µs and may be called concurrently.
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
