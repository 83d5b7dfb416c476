package main

import (
	"fmt"
	"os"
	"runtime/metrics"
	"strconv"
	"strings"
)

// runtimeBytes is what the program itself takes beside documents and matrices: code, stacks, garbage between two collections.
const runtimeBytes = 32 << 20

// budget returns the number of bytes that the command may use: what -m says, else three quarters of the memory that is free, or 0, for no
// bound, where that isn't known.
func (f *flags) budget() int64 {
	if f.memory > 0 {
		return int64(f.memory)
	}
	return procBytes("/proc/meminfo", "MemAvailable:") / 4 * 3
}

// fits holds that what is needed stays within the budget; what names the need.
func (f *flags) fits(what string, need int64) error {
	limit := f.budget()
	if limit == 0 || need <= limit {
		return nil
	}
	if f.memory > 0 {
		return fmt.Errorf("%s needs %s of memory, -m allows %s", what, formatBytes(need), formatBytes(limit))
	}
	return fmt.Errorf("%s needs %s of memory, three quarters of what is free are %s (set -m to go on)", what, formatBytes(need), formatBytes(limit))
}

// procBytes reads a line such as "MemTotal: 8000 kB" of a file below /proc, in bytes; 0 where there is none.
func procBytes(file, key string) int64 {
	text, err := os.ReadFile(file)
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, key); ok {
			if fields := strings.Fields(rest); len(fields) > 0 {
				kb, _ := strconv.ParseInt(fields[0], 10, 64)
				return kb << 10
			}
		}
	}
	return 0
}

// resetPeak lets peakBytes begin anew, where the system allows it.
func resetPeak() { _ = os.WriteFile("/proc/self/clear_refs", []byte("5"), 0) }

// peakBytes returns the greatest resident memory of the process since resetPeak where Linux tells it, elsewhere what the Go runtime
// holds now.
func peakBytes() int64 {
	if n := procBytes("/proc/self/status", "VmHWM:"); n > 0 {
		return n
	}
	s := []metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
	metrics.Read(s)
	return int64(s[0].Value.Uint64() - s[1].Value.Uint64())
}
