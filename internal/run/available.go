package run

import (
	"io/fs"
	"math"
	"path"
	"strconv"
	"strings"
)

// Bound says how many bytes of memory a process can still take, and what doesn't let it take more.
type Bound struct {
	Bytes int64
	By    string // such as "the machine", "ulimit -v" or "memory.max of a control group"; "" for no bound
	Limit int64  // the limit, in bytes, of which that is left; 0 for that of the machine
}

// unbounded bounds nothing.
var unbounded = Bound{Bytes: math.MaxInt64}

// least returns the tighter of two bounds, the first of equal ones.
func (b Bound) least(other Bound) Bound {
	if other.Bytes < b.Bytes {
		return other
	}
	return b
}

// available returns what bounds a process on a Linux system with the given root directory: what the
// kernel says is available, or less where a control group of the process leaves less below its
// limit. Pages of files that the kernel can drop don't count as taken.
func available(root fs.FS) Bound {
	least := unbounded
	if kib, ok := numberOf(root, "proc/meminfo", "MemAvailable:"); ok && kib <= math.MaxInt64>>10 {
		least = Bound{Bytes: kib << 10, By: "the machine"}
	}
	text, _ := fs.ReadFile(root, "proc/self/cgroup")
	for line := range strings.Lines(string(text)) {
		parts := strings.SplitN(strings.TrimSpace(line), ":", 3) // number, controllers, path
		switch {
		case len(parts) != 3:
		case parts[1] == "": // version 2; above memory.high the kernel slows a process down to a crawl
			for _, mount := range []string{"sys/fs/cgroup", "sys/fs/cgroup/unified"} {
				for _, limit := range []string{"memory.max", "memory.high"} {
					least = least.least(roomInGroups(root, mount, parts[2], limit, "memory.current",
						"inactive_file", "active_file"))
				}
			}
		case strings.Contains(","+parts[1]+",", ",memory,"):
			least = least.least(roomInGroups(root, "sys/fs/cgroup/memory", parts[2],
				"memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file", "total_active_file"))
		}
	}
	return least
}

// The runtime takes address space in pieces of arenaBytes, a list of them in another, and where
// threads are the C library's each takes a stack and room for what C allocates.
const (
	arenaBytes   = 64 << 20
	threadBytes  = 72 << 20
	moreThreads  = 8 // than run Go, at most: in calls of the system, and the runtime's own
	statusOfSelf = "proc/self/status"
)

// limited returns what the limits of the process (ulimit -v and -d) leave of what it has taken,
// less what the runtime takes beside what is asked for. It is below 0 where that isn't there.
// running is how many threads run Go at once; cThreads says that they are the C library's.
func limited(root fs.FS, running int, cThreads bool) Bound {
	least := unbounded
	beside := int64(2 * arenaBytes)
	if threads, ok := numberOf(root, statusOfSelf, "Threads:"); ok && cThreads {
		beside += max(int64(running)+moreThreads-threads, 0) * threadBytes
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
			limit, err := strconv.ParseInt(fields[0], 10, 64) // or "unlimited"
			taken, known := numberOf(root, statusOfSelf, l.taken)
			if err == nil && known {
				least = least.least(Bound{Bytes: limit - taken<<10 - beside, By: l.by, Limit: limit})
			}
		}
	}
	return least
}

// roomInGroups returns the least room that a group and the groups above it leave. limit and usage
// are names of files, pages the counts of pages that can be dropped. A group that isn't there says
// nothing, as in a container, where the host's names aren't.
func roomInGroups(root fs.FS, mount, group, limit, usage string, pages ...string) Bound {
	least := unbounded
	for dir := path.Join(mount, path.Clean("/"+group)); ; dir = path.Dir(dir) {
		most, ok := numberOf(root, path.Join(dir, limit), "")
		used, also := numberOf(root, path.Join(dir, usage), "")
		if ok && also && most < math.MaxInt64/2 { // version 1 writes about that for none, version 2 "max"
			for _, name := range pages {
				count, _ := numberOf(root, path.Join(dir, "memory.stat"), name)
				used -= count
			}
			least = least.least(Bound{Bytes: max(most-max(used, 0), 0), By: limit + " of a control group", Limit: most})
		}
		if dir == mount || len(dir) <= len(mount) {
			return least
		}
	}
}

// numberOf returns the number after a name at the beginning of a line of a file, or the first
// number where the name is empty.
func numberOf(root fs.FS, file, name string) (int64, bool) {
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
