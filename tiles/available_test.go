package tiles

import (
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"
)

// The least of what the machine has and every group above the process leaves, in both versions of
// control groups.
func TestAvailable(t *testing.T) {
	const machine = "MemTotal:       1000 kB\nMemFree:        100 kB\nMemAvailable:    800 kB\n"
	for name, c := range map[string]struct {
		files string // name = text, a line each
		want  int64
		known bool
	}{
		"nothing is known": {"", 0, false},
		"no group":         {"proc/meminfo=" + machine, 800 << 10, true},
		"not a number":     {"proc/meminfo=MemAvailable: many kB\n", 0, false},
		"no limit": {"proc/meminfo=" + machine + "|proc/self/cgroup=0::/a/b\n|sys/fs/cgroup/a/b/memory.max=max\n|sys/fs/cgroup/a/b/memory.current=5\n",
			800 << 10, true},
		"version 2": {"proc/meminfo=" + machine + "|proc/self/cgroup=0::/a/b\n|sys/fs/cgroup/a/b/memory.max=5000\n|sys/fs/cgroup/a/b/memory.current=4000\n" +
			"|sys/fs/cgroup/a/b/memory.stat=anon 1000\nactive_file 200\ninactive_file 100\n", 1300, true},
		"above": {"proc/meminfo=" + machine + "|proc/self/cgroup=0::/a/b\n|sys/fs/cgroup/a/b/memory.max=5000\n|sys/fs/cgroup/a/b/memory.current=4000\n" +
			"|sys/fs/cgroup/a/memory.max=4500\n|sys/fs/cgroup/a/memory.current=4400\n", 100, true},
		"a container's root": {"proc/meminfo=" + machine + "|proc/self/cgroup=0::/host/name\n|sys/fs/cgroup/memory.max=7000\n|sys/fs/cgroup/memory.current=6000\n", 1000, true},
		"full":               {"proc/meminfo=" + machine + "|proc/self/cgroup=0::/\n|sys/fs/cgroup/memory.max=7000\n|sys/fs/cgroup/memory.current=8000\n", 0, true},
		"version 1": {"proc/meminfo=" + machine + "|proc/self/cgroup=5:cpu:/x\n4:memory,hugetlb:/a\n0::/\n|sys/fs/cgroup/memory/a/memory.limit_in_bytes=9000\n" +
			"|sys/fs/cgroup/memory/a/memory.usage_in_bytes=8000\n|sys/fs/cgroup/memory/a/memory.stat=inactive_file 1\ntotal_inactive_file 500\n", 1500, true},
		"version 1 without a limit": {"proc/meminfo=" + machine + "|proc/self/cgroup=4:memory:/a\n|sys/fs/cgroup/memory/a/memory.limit_in_bytes=9223372036854771712\n" +
			"|sys/fs/cgroup/memory/a/memory.usage_in_bytes=8000\n", 800 << 10, true},
		"a path that leads out": {"proc/meminfo=" + machine + "|proc/self/cgroup=0::/../../..\n", 800 << 10, true},
	} {
		root := fstest.MapFS{}
		for file := range strings.SplitSeq(c.files, "|") {
			if name, text, ok := strings.Cut(file, "="); ok {
				root[name] = &fstest.MapFile{Data: []byte(text), Mode: fs.ModePerm}
			}
		}
		if got, known := available(root); known != c.known || known && got != c.want {
			t.Errorf("%s: %d bytes, known %v, expected %d, %v", name, got, known, c.want, c.known)
		}
	}
	if got, known := Available(); known && got < 1<<20 {
		t.Errorf("this machine has %d bytes left", got)
	}
}
