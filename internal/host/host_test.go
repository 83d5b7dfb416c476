package host

import (
	"fmt"
	"io/fs"
	"math"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

// fixture is the file tree of a machine with two sockets of 64 cores with two threads each. Linux
// numbers the cores of all sockets first, then their second threads.
func fixture(edit ...func(files map[string]string)) fs.FS {
	const sockets, cores = 2, 64
	files := map[string]string{
		"proc/cpuinfo": "processor\t: 0\nvendor_id\t: AuthenticAMD\ncpu family\t: 26\nmodel\t\t: 2\n" +
			"model name\t: AMD EPYC 9575F\nstepping\t: 1\nmicrocode\t: 0xb002116\nflags\t\t: fpu avx2\n" +
			"\nprocessor\t: 1\nmodel name\t: another\n",
		"proc/meminfo":              "MemTotal:       1000 kB\nMemAvailable:    600 kB\n",
		"proc/sys/kernel/osrelease": "6.12.0\n",
		"proc/self/status":          "Name:\tgrambench\nCpus_allowed_list:\t0-255\n",
		"proc/self/cgroup":          "0::/kubepods/pod1\n",
		"sys/fs/cgroup/cpu.max":     "max 100000\n", "sys/fs/cgroup/memory.max": "max\n",
		"sys/fs/cgroup/kubepods/cpu.max":         "12800000 100000\n",
		"sys/fs/cgroup/kubepods/pod1/cpu.max":    "3200000 100000\n",
		"sys/fs/cgroup/kubepods/pod1/memory.max": "512000\n",
		"sys/devices/system/cpu/online":          "0-255\n",
		"sys/devices/system/node/online":         "0-1\n",
		"sys/devices/system/node/node0/cpulist":  "0-63,128-191\n",
		"sys/devices/system/node/node1/cpulist":  "64-127,192-255\n",
		cpus + "/cpu0/cpufreq/scaling_governor":  "performance\n",
		cpus + "/cpu0/cpufreq/cpuinfo_max_freq":  "5000000\n",
		"proc/stat":                              "cpu  100 10 30 9999 5 4 6 50 0 0\ncpu0 1 1 1 1 1 1 1 1 0 0\n",
		"proc/self/stat":                         "7 (a b) c) S 1 7 7 0 -1 0 0 0 0 0 40 20 0 0 20 0 9 0 0 0\n",
	}
	for id := range 2 * sockets * cores {
		core, second := id%(sockets*cores), id/(sockets*cores)
		in := fmt.Sprintf("%s/cpu%d/", cpus, id)
		files[in+"topology/physical_package_id"] = fmt.Sprint(core / cores)
		files[in+"topology/core_id"] = fmt.Sprint(core % cores)
		_ = second
		threads := fmt.Sprintf("%d,%d", core, core+sockets*cores)
		block := core / 8 * 8 // eight cores share a third-level cache
		for k, c := range [][4]string{{"1", "Data", "48K", threads}, {"2", "Unified", "1024K", threads},
			{"3", "Unified", "32M", fmt.Sprintf("%d-%d,%d-%d", block, block+7, block+128, block+135)}} {
			for j, name := range []string{"level", "type", "size", "shared_cpu_list"} {
				files[fmt.Sprintf("%scache/index%d/%s", in, k, name)] = c[j] + "\n"
			}
		}
	}
	for _, e := range edit {
		e(files)
	}
	root := fstest.MapFS{}
	for name, text := range files {
		root[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return root
}

// A machine with two sockets is described. Workers are pinned to the cores of a node first, then to
// their second threads, then to the next node.
func TestTwoSockets(t *testing.T) {
	m := Describe(fixture(), "")
	got := *m
	got.CPUs, got.Caches = nil, nil
	want := Machine{Model: "AMD EPYC 9575F", Vendor: "AuthenticAMD", Family: 26, Number: 2, Stepping: 1,
		Microcode: "0xb002116", Kernel: "6.12.0", Hypervisor: "none", Sockets: 2, Nodes: 2, Cores: 128,
		Threads: 256, Governor: "performance", MaxMHz: 5000, Allowed: "0-255", QuotaCPUs: 32, MemoryBytes: 1000 << 10,
		LimitBytes: 512000, UsedBytes: 400 << 10}
	if fmt.Sprintf("%+v", got) != fmt.Sprintf("%+v", want) {
		t.Errorf("the machine is\n%+v, expected\n%+v", got, want)
	}
	caches := []Cache{{1, "Data", 48 << 10, 128, 2}, {2, "Unified", 1 << 20, 128, 2}, {3, "Unified", 32 << 20, 16, 16}}
	if !slices.Equal(m.Caches, caches) {
		t.Errorf("caches %+v, expected %+v", m.Caches, caches)
	}
	order := m.Order()
	for i, c := range order {
		node, within := i/128, i%128
		want := CPU{ID: within%64 + 64*node + within/64*128, Node: node, Socket: node, Core: within%64 + 64*node,
			Thread: within / 64}
		if c != want {
			t.Fatalf("worker %d is pinned to %+v, expected %+v", i, c, want)
		}
	}
	if len(order) != 256 {
		t.Errorf("%d processors, expected 256", len(order))
	}
}

// Workers are pinned to allowed CPUs only.
func TestAllowed(t *testing.T) {
	m := Describe(fixture(func(f map[string]string) {
		f["proc/self/status"] = "Cpus_allowed_list:\t2-3,64,130\n"
	}), "KVM")
	var ids []int
	for _, c := range m.Order() {
		ids = append(ids, c.ID)
	}
	if want := []int{2, 3, 130, 64}; !slices.Equal(ids, want) || m.Hypervisor != "KVM" || m.Threads != 256 {
		t.Errorf("pinned to %v, expected %v; %+v", ids, want, m)
	}
}

// A missing file doesn't prevent the description, and unknown values are listed by name.
func TestUnknown(t *testing.T) {
	for file, name := range map[string]string{
		"proc/cpuinfo": "microcode", "proc/meminfo": "memory", "proc/self/status": "which processors the process may use",
		"sys/devices/system/node": "memory nodes", "sys/devices/system/cpu/cpu0/cpufreq": "governor",
		"sys/devices/system/cpu/online": "sockets and cores", "proc/sys": "kernel",
	} {
		m := Describe(fixture(func(files map[string]string) {
			for f := range files {
				if f == file || strings.HasPrefix(f, file+"/") {
					delete(files, f)
				}
			}
		}), "")
		if !slices.Contains(m.Unknown, name) {
			t.Errorf("without %s unknown are %q, expected %q among them", file, m.Unknown, name)
		}
	}
	if m := Describe(fixture(), ""); len(m.Unknown) != 0 {
		t.Errorf("unknown of the whole tree are %q", m.Unknown)
	}
	if m := Describe(fstest.MapFS{}, ""); len(m.Unknown) < 10 || m.Hypervisor != "none" {
		t.Errorf("of no tree: %+v", m)
	}
	Describe(os.DirFS("/"), Hypervisor()) // any real machine
}

func TestCounters(t *testing.T) {
	root := fixture()
	load, known := ReadLoad(root)
	// 150 ticks of user, nice, system and irq, including 60 of this process, and 50 stolen.
	if want := (Load{1.5, 0.6, 0.5}); !known || load != want || !(math.Abs(load.Others(Load{})-1.4) < 1e-9) {
		t.Errorf("load %+v %v, expected %+v", load, known, want)
	}
	// Rounding below 0 compensates for rounding above.
	if got := (Load{1, 0.51, 0}).Others(Load{0.5, 0, 0}); !(math.Abs(got+0.01) < 1e-9) {
		t.Errorf("others took %v s, expected -0.01", got)
	}
	for _, missing := range []string{"proc/stat", "proc/self/stat"} {
		if _, known := ReadLoad(fixture(func(f map[string]string) { delete(f, missing) })); known {
			t.Errorf("a load without %s", missing)
		}
	}
}

// Interruptions make the measured frequency too low, never too high.
func TestMHz(t *testing.T) {
	mhz, known := MHz()
	if known != (runtime.GOARCH == "amd64") || known && !(mhz > 50 && mhz < 7000) {
		t.Errorf("%v MHz, known: %v", mhz, known)
	}
}

// FuzzDescribe checks that Describe doesn't panic on any tree.
func FuzzDescribe(f *testing.F) {
	f.Add("0-3,8", "0::/a/../b", "cpu 1 2", "(x", "48K")
	f.Fuzz(func(t *testing.T, list, groups, stat, own, size string) {
		root := fixture(func(files map[string]string) {
			clear(files)
			for name, text := range map[string]string{cpus + "/online": list, "proc/self/cgroup": groups, "proc/stat": stat,
				"proc/self/stat": own, cpus + "/cpu0/cache/index0/level": "1", cpus + "/cpu0/cache/index0/size": size,
				"proc/cpuinfo": groups, "proc/meminfo": stat, "proc/self/status": "Cpus_allowed_list: " + list} {
				files[name] = text
			}
		})
		Describe(root, "")
		ReadLoad(root)
	})
}
