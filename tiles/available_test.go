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
	const mem = "proc/meminfo=MemTotal:       1000 kB\nMemFree:        100 kB\nMemAvailable:    800 kB\n"
	for name, c := range map[string]struct {
		files string // name = text, a line each; @ is the folder of control groups
		want  int64
		known bool
	}{
		"nothing is known": {"", 0, false},
		"no group":         {mem, 800 << 10, true},
		"not a number":     {"proc/meminfo=MemAvailable: many kB\n", 0, false},
		"no limit": {mem + "|proc/self/cgroup=0::/a/b\n|@/a/b/memory.max=max\n|@/a/b/memory.current=5\n",
			800 << 10, true},
		"version 2": {mem + "|proc/self/cgroup=0::/a/b\n|@/a/b/memory.max=5000\n|@/a/b/memory.current=4000\n" +
			"|@/a/b/memory.stat=anon 1000\nactive_file 200\ninactive_file 100\n", 1300, true},
		"above": {mem + "|proc/self/cgroup=0::/a/b\n|@/a/b/memory.max=5000\n|@/a/b/memory.current=4000\n" +
			"|@/a/memory.max=4500\n|@/a/memory.current=4400\n", 100, true},
		"a container's root": {mem + "|proc/self/cgroup=0::/host/name\n|@/memory.max=7000\n|@/memory.current=6000\n",
			1000, true},
		"full": {mem + "|proc/self/cgroup=0::/\n|@/memory.max=7000\n|@/memory.current=8000\n", 0, true},
		"version 1": {mem + "|proc/self/cgroup=5:cpu:/x\n4:memory,hugetlb:/a\n0::/\n" +
			"|@/memory/a/memory.limit_in_bytes=9000\n" +
			"|@/memory/a/memory.usage_in_bytes=8000\n" +
			"|@/memory/a/memory.stat=inactive_file 1\ntotal_inactive_file 500\n", 1500, true},
		"version 1 without a limit": {mem + "|proc/self/cgroup=4:memory:/a\n" +
			"|@/memory/a/memory.limit_in_bytes=9223372036854771712\n" +
			"|@/memory/a/memory.usage_in_bytes=8000\n", 800 << 10, true},
		"a path that leads out": {mem + "|proc/self/cgroup=0::/../../..\n", 800 << 10, true},
	} {
		root := fstest.MapFS{}
		for file := range strings.SplitSeq(c.files, "|") {
			if name, text, ok := strings.Cut(file, "="); ok {
				name = strings.Replace(name, "@", "sys/fs/cgroup", 1)
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
