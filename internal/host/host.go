// Package host describes the machine: CPU, caches, sockets, memory nodes, container limits, load.
// It reads sysfs and procfs below a root that the caller passes, so that a recorded tree of another
// machine gives the same description. Unknown values are listed in Machine.Unknown, and never
// guessed.
//
// Package instrument measures the machine's speed.
package host

import (
	"cmp"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"
)

// Machine is the description of a machine. Unknown values are zero and listed in Unknown.
type Machine struct {
	Model       string  `json:"model"`
	Vendor      string  `json:"vendor"`
	Family      int     `json:"family"`
	Number      int     `json:"model_number"`
	Stepping    int     `json:"stepping"`
	Microcode   string  `json:"microcode"`
	Kernel      string  `json:"kernel"`
	Hypervisor  string  `json:"hypervisor"` // "none" on physical hardware
	Sockets     int     `json:"sockets"`
	Nodes       int     `json:"nodes"`
	Cores       int     `json:"cores"`
	Threads     int     `json:"threads"` // number of online logical CPUs
	Caches      []Cache `json:"caches"`
	Governor    string  `json:"governor"`
	MaxMHz      float64 `json:"max_mhz"`
	Allowed     string  `json:"allowed"`    // list of logical CPUs that the process may use
	QuotaCPUs   float64 `json:"quota_cpus"` // CPU limit of the control group; 0 for none
	MemoryBytes int64   `json:"memory_bytes"`
	LimitBytes  int64   `json:"memory_limit_bytes"` // memory limit of the control group; 0 for none
	UsedBytes   int64   `json:"memory_used_bytes"`  // memory used by all programs at the time

	Unknown []string `json:"unknown"` // names of unknown values

	CPUs []CPU `json:"-"` // CPUs that the process may use
}

// CPU is a logical CPU. Core is the core's index in the machine, and Thread the thread's index in
// the core.
type CPU struct{ ID, Node, Socket, Core, Thread int }

// Cache describes all caches of one level and kind.
type Cache struct {
	Level  int    `json:"level"`
	Kind   string `json:"kind"` // Data, Instruction or Unified
	Bytes  int64  `json:"bytes"`
	Count  int    `json:"count"`
	Shared int    `json:"shared_by"` // number of logical CPUs that share a cache
}

// tree reads files below a root, and records missing ones.
type tree struct {
	fs.FS
	unknown []string
}

const cpus = "sys/devices/system/cpu"

// Describe describes the machine whose files are below root. hypervisor is the name from the CPU,
// see [Hypervisor].
func Describe(root fs.FS, hypervisor string) *Machine {
	t := &tree{FS: root}
	first := t.fields("proc/cpuinfo")
	m := &Machine{Model: first["model name"], Vendor: first["vendor_id"], Microcode: first["microcode"],
		Family: atoi(first["cpu family"]), Number: atoi(first["model"]), Stepping: atoi(first["stepping"]),
		Kernel: t.text("proc/sys/kernel/osrelease"), Hypervisor: hypervisor}
	for name, value := range map[string]string{"model": m.Model, "vendor": m.Vendor, "microcode": m.Microcode,
		"stepping": first["stepping"], "kernel": m.Kernel} {
		t.need(name, value != "")
	}
	if virtual := strings.Contains(" "+first["flags"]+" ", " hypervisor "); m.Hypervisor == "" && virtual {
		m.Hypervisor = "unnamed"
	} else if m.Hypervisor == "" {
		m.Hypervisor = "none"
		t.need("hypervisor", first["flags"] != "")
	}
	t.topology(m)
	m.Caches = t.caches()
	t.need("caches", len(m.Caches) > 0)
	m.Governor = t.text(cpus + "/cpu0/cpufreq/scaling_governor")
	t.need("governor", m.Governor != "")
	m.MaxMHz = float64(atoi(t.text(cpus+"/cpu0/cpufreq/cpuinfo_max_freq"))) / 1e3
	t.need("maximum frequency", m.MaxMHz > 0)
	t.limits(m)
	memory := t.fields("proc/meminfo")
	kib := func(name string) int64 { return int64(atoi(strings.TrimSuffix(memory[name], " kB"))) << 10 }
	m.MemoryBytes = kib("MemTotal")
	m.UsedBytes = m.MemoryBytes - kib("MemAvailable")
	t.need("memory", m.MemoryBytes > 0)
	slices.Sort(t.unknown)
	m.Unknown = t.unknown
	return m
}

// need records an unknown value.
func (t *tree) need(name string, known bool) {
	if !known {
		t.unknown = append(t.unknown, name)
	}
}

// text returns the content of a file, or "" if it is missing.
func (t *tree) text(name string) string {
	text, err := fs.ReadFile(t, name)
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(text))
}

// fields returns the names and values of the first paragraph of a file.
func (t *tree) fields(name string) map[string]string {
	out := map[string]string{}
	for line := range strings.Lines(t.text(name)) {
		key, value, ok := strings.Cut(line, ":")
		if !ok {
			break
		}
		out[strings.TrimSpace(key)] = strings.TrimSpace(value)
	}
	return out
}

// atoi parses a number. It returns 0 for other text.
func atoi(text string) int {
	n, _ := strconv.Atoi(strings.TrimSpace(text))
	return n
}

// ParseList parses a list in the kernel's format, such as 0-3,8. Invalid parts are skipped.
func ParseList(text string) (list []int) {
	for part := range strings.SplitSeq(strings.TrimSpace(text), ",") {
		low, high, isRange := strings.Cut(part, "-")
		first, err := strconv.Atoi(low)
		last := first
		if isRange && err == nil {
			last, err = strconv.Atoi(high)
		}
		for i := first; err == nil && i <= last && i-first < maxCPUs; i++ {
			list = append(list, i)
		}
	}
	return list
}

// maxCPUs is larger than the kernel's maximum.
const maxCPUs = 1 << 14

// topology finds sockets, nodes, cores and their threads.
func (t *tree) topology(m *Machine) {
	online := ParseList(t.text(cpus + "/online"))
	m.Allowed = t.fields("proc/self/status")["Cpus_allowed_list"]
	allowed := ParseList(m.Allowed)
	if t.need("which processors the process may use", len(allowed) > 0); len(allowed) == 0 {
		allowed = online
	}
	node, nodes := map[int]int{}, ParseList(t.text("sys/devices/system/node/online"))
	for _, n := range nodes {
		for _, id := range ParseList(t.text("sys/devices/system/node/node" + strconv.Itoa(n) + "/cpulist")) {
			node[id] = n
		}
	}
	t.need("memory nodes", len(nodes) > 0)
	sockets, cores := map[int]bool{}, map[[3]int]int{}
	threads := map[int]int{} // number of threads by core
	for _, id := range online {
		in := cpus + "/cpu" + strconv.Itoa(id) + "/topology/"
		socket, core := t.text(in+"physical_package_id"), t.text(in+"core_id")
		if core == "" {
			core = strconv.Itoa(id) // each counts as a core and is listed in Unknown
		}
		key := [3]int{atoi(socket), atoi(t.text(in + "die_id")), atoi(core)}
		if _, seen := cores[key]; !seen {
			cores[key] = len(cores)
		}
		c := CPU{id, node[id], key[0], cores[key], threads[cores[key]]}
		threads[c.Core]++
		if sockets[c.Socket] = true; slices.Contains(allowed, id) {
			m.CPUs = append(m.CPUs, c)
		}
	}
	m.Sockets, m.Nodes, m.Cores, m.Threads = len(sockets), max(len(nodes), 1), len(cores), len(online)
	t.need("sockets and cores", len(online) > 0 && t.text(cpus+"/cpu"+strconv.Itoa(online[0])+"/topology/core_id") != "")
}

// Order returns the usable logical CPUs in the order in which workers are pinned to them: the cores
// of a node, then their second threads, then the next node.
func (m *Machine) Order() (order []CPU) {
	order = slices.Clone(m.CPUs)
	slices.SortFunc(order, func(a, b CPU) int {
		return cmp.Or(cmp.Compare(a.Node, b.Node), cmp.Compare(a.Thread, b.Thread), cmp.Compare(a.Socket, b.Socket),
			cmp.Compare(a.Core, b.Core), cmp.Compare(a.ID, b.ID))
	})
	return order
}

// caches returns the caches of all CPUs, each counted once.
func (t *tree) caches() (list []Cache) {
	seen := map[string]bool{}
	for _, id := range ParseList(t.text(cpus + "/online")) {
		for k := 0; ; k++ {
			in := path.Join(cpus, "cpu"+strconv.Itoa(id), "cache", "index"+strconv.Itoa(k)) + "/"
			shared := t.text(in + "shared_cpu_list")
			c := Cache{atoi(t.text(in + "level")), t.text(in + "type"), sizeOf(t.text(in + "size")), 1, len(ParseList(shared))}
			if c.Level == 0 {
				break
			}
			key := fmt.Sprint(c, shared)
			same := func(o Cache) bool { c.Count = o.Count; return o == c }
			if at := slices.IndexFunc(list, same); seen[key] {
				continue
			} else if at >= 0 {
				list[at].Count++
			} else {
				c.Count = 1
				list = append(list, c)
			}
			seen[key] = true
		}
	}
	return list
}

// sizeOf parses a size such as 48K.
func sizeOf(text string) int64 {
	shift := map[byte]int{'K': 10, 'M': 20, 'G': 30}
	if n := len(text); n > 0 && shift[text[n-1]] > 0 {
		return int64(atoi(text[:n-1])) << shift[text[n-1]]
	}
	return int64(atoi(text))
}

// limits reads the limits of the process's control groups, from its own group up to the root.
func (t *tree) limits(m *Machine) {
	groups := t.text("proc/self/cgroup")
	t.need("control groups", groups != "")
	for line := range strings.Lines(groups) {
		parts := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(parts) != 3 {
			continue
		}
		mount, controllers := "sys/fs/cgroup", ","+parts[1]+","
		for dir := path.Clean("/" + parts[2]); ; dir = path.Dir(dir) {
			switch {
			case parts[1] == "":
				in := path.Join(mount, dir)
				quota, period, _ := strings.Cut(t.text(in+"/cpu.max"), " ")
				m.limitTo(float64(atoi(quota)), float64(atoi(period)))
				m.limitMemory(t.text(in + "/memory.max"))
			case strings.Contains(controllers, ",cpu,"):
				in := path.Join(mount, "cpu", dir)
				m.limitTo(float64(atoi(t.text(in+"/cpu.cfs_quota_us"))), float64(atoi(t.text(in+"/cpu.cfs_period_us"))))
			case strings.Contains(controllers, ",memory,"):
				m.limitMemory(t.text(path.Join(mount, "memory", dir) + "/memory.limit_in_bytes"))
			}
			if dir == "/" {
				break
			}
		}
	}
}

// limitTo applies a CPU limit if it is lower than the current one.
func (m *Machine) limitTo(quota, period float64) {
	if quota > 0 && period > 0 && (m.QuotaCPUs == 0 || quota/period < m.QuotaCPUs) {
		m.QuotaCPUs = quota / period
	}
}

// limitMemory applies a memory limit if it is lower than the current one. Control groups of version
// 1 write about 2⁶³ for no limit, version 2 writes "max".
func (m *Machine) limitMemory(text string) {
	if n := int64(atoi(text)); n > 0 && n < 1<<60 && (m.LimitBytes == 0 || n < m.LimitBytes) {
		m.LimitBytes = n
	}
}
