package main

import (
	"errors"
	"fmt"
	"os"
	"runtime/debug"
	"runtime/metrics"
	"strconv"
	"strings"

	"github.com/gramengine/gram/engine"
	"github.com/gramengine/gram/sparse"
)

// runtimeBytes is what the program itself takes beside documents and matrices: code, stacks, garbage between two collections.
const runtimeBytes = 32 << 20

// programBytes is the part of it that the collector doesn't know of: the pages of the program's own file that are in use (10 MiB were measured).
const programBytes = 12 << 20

// budget returns the number of bytes that the command may use: what -m says, else three quarters of the memory that is free, or 0, for no
// bound, where that isn't known.
func (f *flags) budget() int64 {
	if f.memory > 0 {
		return int64(f.memory)
	}
	return procBytes("/proc/meminfo", "MemAvailable:") / 4 * 3
}

// limitMemory has the collector work harder before the budget is reached, which it returns. The limit is the program's; [command.execute] takes it back.
func (f *flags) limitMemory() int64 {
	limit := f.budget()
	if limit > 0 {
		debug.SetMemoryLimit(limit - min(programBytes, limit/4))
	}
	return limit
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

// readingBytes returns the bound for reading, 0 for none: all that the program itself leaves of the budget where nothing follows, else half of it.
// Reading takes 16 bytes a value at its height, and what follows, the embedded documents and an engine, takes 40, so no run that could end is
// stopped here.
func (f *flags) readingBytes() int64 {
	limit := f.budget()
	if limit == 0 {
		return 0
	}
	limit -= runtimeBytes
	if !f.onlyReads {
		limit /= 2
	}
	return max(limit, 1)
}

// explainMemory adds to a bound that reading has passed where it comes from.
func (f *flags) explainMemory(err error) error {
	var memory *sparse.MemoryError
	if !errors.As(err, &memory) {
		return err
	}
	whole := "three quarters of what is free are " + formatBytes(f.budget()) + "; set -m to go on"
	if f.memory > 0 {
		whole = "-m allows " + formatBytes(int64(f.memory))
	}
	share := fmt.Sprintf("less %s for the program", formatBytes(runtimeBytes))
	if !f.onlyReads {
		share += " and as much again as reading takes for what follows"
	}
	return fmt.Errorf("%w (%s, %s)", err, whole, share)
}

// workBytes returns the most that the documents take once they are read: beside themselves in embedded form, and that form in an engine. The
// first counts while documents are embedded, the second while the engine is made.
func workBytes(m *sparse.CSR) (embedded, inEngine int64) {
	terms, _ := m.TermFrequencies()
	values := m.NNZ() + int64(m.EmptyRows()) // a document without terms gets one of its own
	return sparse.EmbeddedBytes(m.Rows(), values), engine.NewBytes(m.Rows(), len(terms)+1, values)
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
