package run

import (
	"io/fs"
	"math"
	"path"
	"strconv"
	"strings"
)

// MemoryLimit is the memory that a process can still allocate, and the source of this limit.
type MemoryLimit struct {
	FreeBytes int64
	// source of the limit: "the machine", "ulimit -v", "memory.max of a control group", …; "" for
	// no limit
	Source     string
	TotalBytes int64 // limit in bytes, including used memory; 0 for the host
}

var noMemoryLimit = MemoryLimit{FreeBytes: math.MaxInt64}

func (b MemoryLimit) min(other MemoryLimit) MemoryLimit {
	if other.FreeBytes < b.FreeBytes {
		return other
	}
	return b
}

// availableMemory returns the memory that a process on Linux can still allocate: the kernel's
// MemAvailable, or the free memory of the process's control groups if that is smaller. root is the
// root directory. File pages are treated as free, because the kernel can drop them.
func availableMemory(root fs.FS) MemoryLimit {
	least := noMemoryLimit
	if kib, ok := readNumber(root, "proc/meminfo", "MemAvailable:"); ok && kib <= math.MaxInt64>>10 {
		least = MemoryLimit{FreeBytes: kib << 10, Source: "the machine"}
	}
	text, _ := fs.ReadFile(root, "proc/self/cgroup")
	for line := range strings.Lines(string(text)) {
		parts := strings.SplitN(strings.TrimSpace(line), ":", 3) // number, controllers, path
		switch {
		case len(parts) != 3:
		case parts[1] == "": // version 2; the kernel throttles a process above memory.high
			for _, mount := range []string{"sys/fs/cgroup", "sys/fs/cgroup/unified"} {
				for _, limit := range []string{"memory.max", "memory.high"} {
					least = least.min(cgroupMemory(root, mount, parts[2], limit, "memory.current",
						"inactive_file", "active_file"))
				}
			}
		case strings.Contains(","+parts[1]+",", ",memory,"):
			least = least.min(cgroupMemory(root, "sys/fs/cgroup/memory", parts[2],
				"memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file", "total_active_file"))
		}
	}
	return least
}

// The runtime reserves address space in arenas, and needs another arena for the arena index. Each
// thread of the C library reserves a stack and a malloc arena.
const (
	arenaBytes        = 64 << 20
	threadBytes       = 72 << 20
	maxRuntimeThreads = 8 // maximum number of threads that belong to the runtime or are in system calls
	statusPath        = "proc/self/status"
)

// processMemory returns the memory left below the limits of the process (ulimit -v and -d), minus
// the memory that the runtime reserves. The result may be negative. running is the number of
// threads that run Go code, and cThreads reports whether the C library creates threads.
func processMemory(root fs.FS, running int, cThreads bool) MemoryLimit {
	least := noMemoryLimit
	overhead := int64(2 * arenaBytes)
	if threads, ok := readNumber(root, statusPath, "Threads:"); ok && cThreads {
		overhead += max(int64(running)+maxRuntimeThreads-threads, 0) * threadBytes
	}
	text, _ := fs.ReadFile(root, "proc/self/limits")
	for line := range strings.Lines(string(text)) {
		for _, l := range []struct{ name, by, taken string }{
			{"Max address space", "ulimit -v", "VmSize:"}, {"Max data size", "ulimit -d", "VmData:"},
		} {
			rest, ok := strings.CutPrefix(line, l.name)
			fields := strings.Fields(rest)
			if !ok || len(fields) == 0 {
				continue
			}
			limit, err := strconv.ParseInt(fields[0], 10, 64) // the field is a number or "unlimited"
			taken, known := readNumber(root, statusPath, l.taken)
			if err == nil && known {
				least = least.min(MemoryLimit{FreeBytes: limit - taken<<10 - overhead, Source: l.by, TotalBytes: limit})
			}
		}
	}
	return least
}

// cgroupMemory returns the minimum free memory of a control group and its parents. limit and usage
// are file names, pages are the counters of droppable pages. A missing group has no limit: in a
// container, the host's group names don't exist.
func cgroupMemory(root fs.FS, mount, group, limit, usage string, pages ...string) MemoryLimit {
	least := noMemoryLimit
	for dir := path.Join(mount, path.Clean("/"+group)); ; dir = path.Dir(dir) {
		most, ok := readNumber(root, path.Join(dir, limit), "")
		used, also := readNumber(root, path.Join(dir, usage), "")
		if ok && also && most < math.MaxInt64/2 { // no limit: version 1 writes a number near MaxInt64, version 2 "max"
			for _, name := range pages {
				count, _ := readNumber(root, path.Join(dir, "memory.stat"), name)
				used -= count
			}
			least = least.min(MemoryLimit{FreeBytes: max(most-max(used, 0), 0), Source: limit + " of a control group",
				TotalBytes: most})
		}
		if dir == mount || len(dir) <= len(mount) {
			return least
		}
	}
}

// readNumber returns N from the first line of the form "name N ..." in a file. If name is empty, it
// returns the first number of the file.
func readNumber(root fs.FS, file, name string) (int64, bool) {
	text, err := fs.ReadFile(root, file)
	if err != nil {
		return 0, false
	}
	for line := range strings.Lines(string(text)) {
		fields := strings.Fields(line)
		if name != "" {
			if len(fields) == 0 || fields[0] != name {
				continue
			}
			fields = fields[1:]
		}
		if len(fields) == 0 {
			return 0, false
		}
		n, err := strconv.ParseInt(fields[0], 10, 64)
		return n, err == nil && n >= 0
	}
	return 0, false
}
