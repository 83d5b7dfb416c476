package host

import (
	"io/fs"
	"strings"
)

// Load is CPU time since the machine started, in seconds: of all processes, of this process, and
// the time that the hypervisor gave to other machines.
type Load struct{ All, Own, Stolen float64 }

// ticks is USER_HZ, the unit of procfs. It is 100 on all architectures that Go supports.
const ticks = 100

// ReadLoad reads the load. It returns false if the system doesn't provide it.
func ReadLoad(root fs.FS) (l Load, known bool) {
	t := &tree{FS: root}
	all := strings.Fields(t.text("proc/stat"))
	own := t.text("proc/self/stat")
	after := strings.Fields(own[strings.LastIndexByte(own, ')')+1:]) // the name may contain blanks; state is field 3
	if len(all) < 9 || all[0] != "cpu" || len(after) < 13 {
		return l, false
	}
	for _, k := range []int{1, 2, 3, 6, 7} { // user, nice, system, irq, softirq
		l.All += float64(atoi(all[k]))
	}
	l.All /= ticks
	l.Stolen = float64(atoi(all[8])) / ticks
	l.Own = float64(atoi(after[11])+atoi(after[12])) / ticks // fields 14 and 15
	return l, true
}

// Others returns the CPU time since before of other processes and of the hypervisor's other
// machines. Its unit is a hundredth of a second, so it may be slightly negative.
func (l Load) Others(before Load) float64 {
	return l.All - before.All - l.Own + before.Own + l.Stolen - before.Stolen
}

// Counters holds the counters read before and after a computation. Unknown values are nil or 0.
type Counters struct {
	Load      *Load
	Processor float64 // CPU seconds of the process
}

// ReadCounters reads the counters.
func ReadCounters(root fs.FS) (c Counters) {
	if load, known := ReadLoad(root); known {
		c.Load = &load
	}
	c.Processor, _ = ProcessorSeconds()
	return c
}
