package host

import (
	"io/fs"
	"path"
	"strconv"
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

// Temperature returns the greatest temperature of the processor that a sensor tells, in degrees Celsius.
func Temperature(root fs.FS) (celsius float64, known bool) {
	t := &tree{FS: root}
	names, _ := fs.Glob(root, "sys/class/hwmon/hwmon*/name")
	for _, of := range names {
		if name := t.text(of); name != "coretemp" && name != "k10temp" {
			continue
		}
		sensors, _ := fs.Glob(root, path.Dir(of)+"/temp*_input")
		for _, s := range sensors {
			if milli, err := strconv.Atoi(t.text(s)); err == nil {
				celsius, known = max(celsius, float64(milli)/1e3), true
			}
		}
	}
	return celsius, known
}

// Energy is what each socket's counter (RAPL) says, in joules, and where it starts anew.
type Energy map[string]struct{ Joules, Range float64 }

// ReadEnergy reads the counters of the sockets; it returns false where there are none that the process may read.
func ReadEnergy(root fs.FS) (Energy, bool) {
	t, e := &tree{FS: root}, Energy{}
	counters, _ := fs.Glob(root, "sys/class/powercap/intel-rapl:*/energy_uj")
	for _, file := range counters {
		in := path.Dir(file)
		micro, err := strconv.ParseFloat(t.text(file), 64)
		if err != nil || !strings.HasPrefix(t.text(in+"/name"), "package") {
			continue // cores and memory are parts of the package
		}
		most, _ := strconv.ParseFloat(t.text(in+"/max_energy_range_uj"), 64)
		e[in] = struct{ Joules, Range float64 }{micro / 1e6, most / 1e6}
	}
	return e, len(e) > 0
}

// Since returns the joules since before, of all sockets. A counter may have started anew once.
func (e Energy) Since(before Energy) (joules float64) {
	for name, now := range e {
		d := now.Joules - before[name].Joules
		if d < 0 {
			d += now.Range
		}
		joules += d
	}
	return joules
}

// Counters are all that are read before and after a computation; what the system doesn't tell is nil, or 0.
type Counters struct {
	Load      *Load
	Energy    Energy
	Processor float64 // seconds of the process
}

// ReadCounters reads them.
func ReadCounters(root fs.FS) (c Counters) {
	if load, known := ReadLoad(root); known {
		c.Load = &load
	}
	c.Energy, _ = ReadEnergy(root)
	c.Processor, _ = ProcessorSeconds()
	return c
}
