package host

import (
	"io/fs"
	"strings"
)

// Load is processor time, in seconds, since the machine started: of all that ran, of this process, and what the
// hypervisor gave to others.
type Load struct{ All, Own, Stolen float64 }

// ticks is USER_HZ, the unit of procfs; it is 100 on all architectures that Go knows.
const ticks = 100

// ReadLoad reads the load; it returns false where the system doesn't tell.
func ReadLoad(root fs.FS) (l Load, known bool) {
	t := &tree{FS: root}
	all := strings.Fields(t.text("proc/stat"))
	own := t.text("proc/self/stat")
	after := strings.Fields(own[strings.LastIndexByte(own, ')')+1:]) // the name may have blanks; state is field 3
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

// Others is the time, since before, of other processes and of other machines on the same processor. Counters have
// hundredths of seconds, so it may be a little below 0: only sums are worth a bound.
func (l Load) Others(before Load) float64 {
	return l.All - before.All - l.Own + before.Own + l.Stolen - before.Stolen
}

// Counters are all that are read before and after a computation; what the system doesn't tell is nil, or 0.
type Counters struct {
	Load      *Load
	Processor float64 // seconds of the process
}

// ReadCounters reads them.
func ReadCounters(root fs.FS) (c Counters) {
	if load, known := ReadLoad(root); known {
		c.Load = &load
	}
	c.Processor, _ = ProcessorSeconds()
	return c
}
