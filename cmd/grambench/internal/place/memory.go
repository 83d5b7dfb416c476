package place

import (
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"strconv"
	"strings"

	"github.com/gramengine/gram/cmd/grambench/internal/cli"
	"github.com/gramengine/gram/cmd/grambench/internal/report"
)

// RuntimeBytes is what the program itself takes beside documents and matrices: code, stacks,
// garbage between two collections.
const RuntimeBytes = 32 << 20

// programBytes is the part of it that the collector doesn't know of: the pages of the program's own
// file that are in use (10 MiB were measured).
const programBytes = 12 << 20

// Limits are the flags that say how much of the machine a command may take.
type Limits struct {
	Workers int // goroutines, 0 for all processors
	Memory  cli.ByteSize
}

// DeclareMemory declares -m.
func (l *Limits) DeclareMemory(f *cli.Flags) {
	f.Group("Computing", topic)
	f.Var(&l.Memory, "m", "use at most `SIZE` of memory, such as 500M or 4G; a plain number means MB "+
		"(default: three quarters of what is free)")
}

// DeclareWorkers declares -workers.
func (l *Limits) DeclareWorkers(f *cli.Flags) {
	f.Group("Computing", topic)
	f.IntVar(&l.Workers, "workers", 0, "work with `N` goroutines (default: all processors)")
	f.Check(func() error {
		if l.Workers < 0 {
			return cli.Usagef("-workers %d is below 0", l.Workers)
		}
		return nil
	})
}

// NumWorkers returns the number of goroutines.
func (l *Limits) NumWorkers() int {
	if l.Workers == 0 {
		return runtime.GOMAXPROCS(0)
	}
	return l.Workers
}

// Budget returns the number of bytes that the command may use: what -m says, else three quarters of
// the memory that is free, or 0, for no bound, where that isn't known.
func (l *Limits) Budget() int64 {
	if l.Memory > 0 {
		return int64(l.Memory)
	}
	return ProcBytes("/proc/meminfo", "MemAvailable:") / 4 * 3
}

// Limit has the collector work harder before the budget is reached, which it returns. The limit is
// the program's; package cli takes it back when the command ends.
func (l *Limits) Limit() int64 {
	limit := l.Budget()
	if limit > 0 {
		debug.SetMemoryLimit(limit - min(programBytes, limit/4))
	}
	return limit
}

// Fits checks that what is needed stays within the budget; what names the need.
func (l *Limits) Fits(what string, need int64) error {
	limit := l.Budget()
	if limit == 0 || need <= limit {
		return nil
	}
	if l.Memory > 0 {
		return fmt.Errorf("%s needs %s of memory, -m allows %s", what, report.Bytes(need), report.Bytes(limit))
	}
	return fmt.Errorf("%s needs %s of memory, three quarters of what is free are %s (set -m to go on)", what,
		report.Bytes(need), report.Bytes(limit))
}

// ProcBytes reads a line such as "MemTotal: 8000 kB" of a file below /proc, in bytes; 0 where there
// is none.
func ProcBytes(file, key string) int64 {
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

// ResetPeak lets [PeakBytes] begin anew, where the system allows it.
func ResetPeak() { _ = os.WriteFile("/proc/self/clear_refs", []byte("5"), 0) }

// PeakBytes returns the greatest resident memory of the process since [ResetPeak] where Linux tells
// it, elsewhere what the Go runtime holds now.
func PeakBytes() int64 {
	if n := ProcBytes("/proc/self/status", "VmHWM:"); n > 0 {
		return n
	}
	s := []metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
	metrics.Read(s)
	return int64(s[0].Value.Uint64() - s[1].Value.Uint64())
}
