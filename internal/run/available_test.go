package run

import (
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"
)

// The result is the minimum for the host and all control groups of the process, in both versions of
// control groups.
func TestAvailable(t *testing.T) {
	const mem = "proc/meminfo=MemTotal:       1000 kB\nMemFree:        100 kB\nMemAvailable:    800 kB\n"
	for name, c := range map[string]struct {
		files string // lines name = text; @ is the folder of control groups
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
		"slowed down above": {mem + "|proc/self/cgroup=0::/a/b\n|@/a/b/memory.max=max\n|@/a/b/memory.high=5000\n" +
			"|@/a/b/memory.current=4000\n", 1000, true},
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
		got := availableMemory(root)
		if known := got.Source != ""; known != c.known || known && got.FreeBytes != c.want {
			t.Errorf("%s: %d bytes by %q, expected %d, %v", name, got.FreeBytes, got.Source, c.want, c.known)
		}
	}
	if got, known := AvailableBytes(); known && got < 1<<20 {
		t.Errorf("this machine has %d bytes left", got)
	}
}

// Limits of the process are reduced by the used memory and the runtime's reserve.
func TestLimited(t *testing.T) {
	const status = "Name:\tgram\nVmSize:\t 1000 kB\nVmData:\t  300 kB\nThreads:\t5\n"
	const mib = 1 << 20
	for name, c := range map[string]struct {
		limits string
		c      bool
		want   MemoryLimit
	}{
		"none":       {"Max address space  unlimited  unlimited  bytes\n", false, noMemoryLimit},
		"no numbers": {"Max address space  many\nMax data size\n", false, noMemoryLimit},
		"address space": {"Limit Soft Hard Units\nMax address space  1073741824  unlimited  bytes\n", false,
			MemoryLimit{1024*mib - 1000<<10 - 128*mib, "ulimit -v", 1 << 30}},
		"data, the less": {"Max data size 536870912 unlimited bytes\nMax address space 1073741824 1 bytes\n", false,
			MemoryLimit{512*mib - 300<<10 - 128*mib, "ulimit -d", 1 << 29}},
		"threads of C": {"Max address space  1073741824  unlimited  bytes\n", true,
			MemoryLimit{1024*mib - 1000<<10 - 128*mib - (4+8-5)*72*mib, "ulimit -v", 1 << 30}},
	} {
		root := fstest.MapFS{
			"proc/self/limits": &fstest.MapFile{Data: []byte(c.limits)},
			"proc/self/status": &fstest.MapFile{Data: []byte(status)},
		}
		if got := processMemory(root, 4, c.c); got != c.want {
			t.Errorf("%s: %+v, expected %+v", name, got, c.want)
		}
	}
	if got := processMemory(fstest.MapFS{}, 4, true); got != noMemoryLimit {
		t.Errorf("where nothing is known: %+v", got)
	}
}
