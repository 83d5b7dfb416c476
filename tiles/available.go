package tiles

import (
	"io/fs"
	"math"
	"path"
	"strconv"
	"strings"
)

// available returns how many bytes a process can still take on a Linux system with the given root
// directory: what the kernel says is available, or less where a control group of the process leaves
// less below its limit. Pages of files that the kernel can drop don't count as taken. It returns
// false where the system doesn't say.
func available(root fs.FS) (bytes int64, known bool) {
	least := int64(math.MaxInt64)
	if kib, ok := numberOf(root, "proc/meminfo", "MemAvailable:"); ok && kib <= math.MaxInt64>>10 {
		least = kib << 10
	}
	text, _ := fs.ReadFile(root, "proc/self/cgroup")
	for line := range strings.Lines(string(text)) {
		parts := strings.SplitN(strings.TrimSpace(line), ":", 3) // number, controllers, path
		switch {
		case len(parts) != 3:
		case parts[1] == "": // version 2
			for _, mount := range []string{"sys/fs/cgroup", "sys/fs/cgroup/unified"} {
				least = min(least, roomInGroups(root, mount, parts[2], "memory.max", "memory.current",
					"inactive_file", "active_file"))
			}
		case strings.Contains(","+parts[1]+",", ",memory,"):
			least = min(least, roomInGroups(root, "sys/fs/cgroup/memory", parts[2],
				"memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file", "total_active_file"))
		}
	}
	return least, least < math.MaxInt64
}

// roomInGroups returns the least room that a group and the groups above it leave. limit and usage
// are names of files, pages the counts of pages that can be dropped. A group that isn't there says
// nothing, as in a container, where the host's names aren't.
func roomInGroups(root fs.FS, mount, group, limit, usage string, pages ...string) int64 {
	least := int64(math.MaxInt64)
	for dir := path.Join(mount, path.Clean("/"+group)); ; dir = path.Dir(dir) {
		most, ok := numberOf(root, path.Join(dir, limit), "")
		used, also := numberOf(root, path.Join(dir, usage), "")
		if ok && also && most < math.MaxInt64/2 { // version 1 writes about that for none, version 2 "max"
			for _, name := range pages {
				count, _ := numberOf(root, path.Join(dir, "memory.stat"), name)
				used -= count
			}
			least = min(least, max(most-max(used, 0), 0))
		}
		if dir == mount || len(dir) <= len(mount) {
			return least
		}
	}
}

// numberOf returns the number behind a name at the beginning of a line of a file, or the first
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
