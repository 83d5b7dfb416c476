package backend

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"strconv"
	"strings"
	"sync"

	"github.com/gramengine/gram/internal/cli"
	"github.com/gramengine/gram/internal/report"
	"github.com/gramengine/gram/internal/run"
)

// RuntimeBytes is the memory in bytes of the program without documents and matrices: code, stacks,
// and garbage between two collections.
const RuntimeBytes = 32 << 20

// defaultNonGoBytes is the memory that the Go runtime doesn't count: 18 MiB of mapped pages of the
// program's file, and an allowance for late garbage collections. With -m 100M on Zen 5, reading a
// million distinct words took 102 MiB if this constant was 20 MiB, and 88 MiB if it was 28 MiB.
const defaultNonGoBytes = 28 << 20

// Limits are the flags -m and -workers.
type Limits struct {
	Workers int // number of goroutines; 0 for one per CPU
	Memory  cli.ByteSize

	NonGoBytes int64 // memory in bytes that the Go runtime doesn't count; 0 means defaultNonGoBytes

	systemLimits func() (all, process run.MemoryLimit) // memory limits, read at the first call
}

// DeclareMemory declares -m, the memory limit.
func (l *Limits) DeclareMemory(f *cli.Flags) {
	l.systemLimits = sync.OnceValues(readSystemLimits)
	f.StartGroup("Computing", topicName)
	f.Var(&l.Memory, "m", "memory limit `SIZE`, such as 500M or 4G; a plain number is in MB "+
		"(default: 75% of the free memory)")
	f.AddCheck(func() error {
		if l.Memory > 0 && l.Memory < RuntimeBytes {
			return l.CheckMemory("any command", RuntimeBytes)
		}
		return nil
	})
}

// DeclareWorkers declares -workers, the number of goroutines.
func (l *Limits) DeclareWorkers(f *cli.Flags) {
	f.StartGroup("Computing", topicName)
	f.IntVar(&l.Workers, "workers", 0, "number `N` of worker goroutines (default: one per CPU)")
	f.AddCheck(func() error {
		if l.Workers < 0 {
			return cli.Usagef("-workers must not be negative, got %d", l.Workers)
		}
		return nil
	})
}

// NumWorkers returns Workers, or GOMAXPROCS if Workers is 0.
func (l *Limits) NumWorkers() int {
	if l.Workers == 0 {
		return runtime.GOMAXPROCS(0)
	}
	return l.Workers
}

// readSystemLimits returns the memory limit from the host, the control groups and the process, and
// the limit from the process alone.
func readSystemLimits() (all, process run.MemoryLimit) {
	return run.AvailableMemory(), run.ProcessMemory()
}

// Run runs the program p and returns its exit status. It fails if the process limits leave too
// little memory for Go's runtime.
func Run(p *cli.Program, args []string, stdout, stderr io.Writer) int {
	if err := checkProcessLimit(); err != nil {
		fmt.Fprintf(stderr, "%s: %v\n", p.Name, err)
		return cli.ExitFailure
	}
	return p.Run(args, stdout, stderr)
}

func checkProcessLimit() error {
	b := run.ProcessMemory()
	if b.Source == "" || b.FreeBytes >= RuntimeBytes {
		return nil
	}
	return fmt.Errorf("the program needs %s, mostly for Go's runtime, but %s allows %s",
		report.FormatBytes(b.TotalBytes-b.FreeBytes+RuntimeBytes), b.Source, report.FormatBytes(b.TotalBytes))
}

// memoryLimit returns the command's memory limit in bytes (0 for none) and a description of the
// limit. It is -m, reduced to the limits of the process, or by default three quarters of the free
// memory.
func (l *Limits) memoryLimit() (int64, string) {
	of := l.systemLimits
	if of == nil {
		of = readSystemLimits
	}
	all, process := of()
	switch {
	case process.Source != "" && l.Memory > 0 && int64(l.Memory) > process.FreeBytes:
		return max(process.FreeBytes, 1), fmt.Sprintf("%s leaves %s", process.Source,
			report.FormatBytes(max(process.FreeBytes, 0)))
	case l.Memory > 0:
		return int64(l.Memory), "-m allows " + report.FormatBytes(int64(l.Memory))
	case all.Source == "":
		return 0, ""
	}
	limit := max(all.FreeBytes/4*3, 1)
	what := "75% of the free memory is " + report.FormatBytes(limit)
	if all.TotalBytes > 0 {
		what = fmt.Sprintf("75%% of the memory that %s leaves is %s", all.Source, report.FormatBytes(limit))
	}
	return limit, what + " (use -m to override)"
}

// Budget returns the command's memory limit in bytes. If -m is set, it is the minimum of -m and the
// process limits. Otherwise, it is three quarters of the memory that the host, the control groups
// and the process limits leave at the first call, or 0 if this amount is unknown.
func (l *Limits) Budget() int64 {
	limit, _ := l.memoryLimit()
	return limit
}

// BudgetSource returns a description of the budget, such as "-m allows 60 MiB".
func (l *Limits) BudgetSource() string {
	_, what := l.memoryLimit()
	return what
}

// SetMemoryLimit sets the runtime's memory limit to the budget minus NonGoBytes, but at least to
// half the budget. If the budget is 0, it sets no limit. It returns the budget. Package cli
// restores the limit when the command ends.
func (l *Limits) SetMemoryLimit() int64 {
	limit := l.Budget()
	if limit > 0 {
		debug.SetMemoryLimit(limit - min(cmp.Or(l.NonGoBytes, defaultNonGoBytes), limit/2))
	}
	return limit
}

// CheckMemory returns an error if need exceeds the budget. what names the computation. later holds
// lower bounds on the memory needs of later steps. The error names the largest need.
func (l *Limits) CheckMemory(what string, need int64, later ...int64) error {
	limit, says := l.memoryLimit()
	if limit == 0 || need <= limit {
		return nil
	}
	for _, more := range later {
		need = max(need, more)
	}
	return &run.MemoryError{Computation: what, NeedBytes: need, LimitBytes: limit, LimitSource: says, IsTotalNeed: true}
}

// ExplainMemoryError changes the memory error of a step so that it names a sufficient value of -m:
// the step's need plus the memory outside the step. The memory outside the step is the budget minus
// the step's limit. Other errors are unchanged.
func (l *Limits) ExplainMemoryError(err error) error {
	limit, says := l.memoryLimit()
	memory := (*run.MemoryError)(nil)
	if limit == 0 || !errors.As(err, &memory) || memory.LimitSource != "" || memory.IsSystemLimit {
		return err
	}
	text := err.Error()
	if at := strings.Index(text, memory.Computation+" needs "); at >= 0 {
		text = text[:at]
	}
	memory.NeedBytes += max(limit-memory.LimitBytes, 0)
	if memory.Source == "" {
		memory.NeedBytes += memory.NeedBytes / marginDivisor
	}
	memory.LimitBytes, memory.LimitSource = limit, says
	return rewordedError{text + memory.Error(), err}
}

// marginDivisor determines the margin NeedBytes/marginDivisor that ExplainMemoryError adds. Later
// steps may need more memory than the failed step, such as training on all documents after a fold.
const marginDivisor = 20

type rewordedError struct {
	text string
	err  error
}

func (r rewordedError) Error() string { return r.text }
func (r rewordedError) Unwrap() error { return r.err }

// ProcBytes returns the size in bytes on the line of a /proc file that starts with key, such as
// "MemTotal: 8000 kB". If no line starts with key, the result is 0.
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

// ResetPeak resets [PeakBytes] if the system supports this.
func ResetPeak() { _ = os.WriteFile("/proc/self/clear_refs", []byte("5"), 0) }

// PeakBytes returns the peak resident memory of the process in bytes since [ResetPeak]. On systems
// other than Linux, it returns the current memory of the Go runtime.
func PeakBytes() int64 {
	if n := ProcBytes("/proc/self/status", "VmHWM:"); n > 0 {
		return n
	}
	s := []metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
	metrics.Read(s)
	return int64(s[0].Value.Uint64() - s[1].Value.Uint64())
}
