package job

import (
	"fmt"

	"github.com/gramengine/gram/cluster/shards"
	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/internal/run"
)

// ProgramBytes is the memory of a process in bytes, without documents, engines, models and results.
// It includes up to 46 MiB for the program file, which contains the libraries of all stores.
const ProgramBytes = 64 << 20

// Left returns the memory left for a task in bytes. This is the limit minus the memory of the
// program and of the documents c. c may be nil. Left returns at least 1, or 0 if there is no limit.
func (h *Host) Left(c *corpus.Corpus) int64 {
	if h.Memory == 0 {
		return 0
	}
	return max(h.Memory-heldBytes(c), 1)
}

// Fits returns an error if the program, the documents c and need bytes exceed the memory limit. The
// error contains this sum.
func (h *Host) Fits(c *corpus.Corpus, need int64, format string, args ...any) error {
	if h.Memory == 0 || heldBytes(c)+need <= h.Memory {
		return nil
	}
	of := "the program"
	if c != nil {
		of += " and the documents of " + c.Source
	}
	return fmt.Errorf("%s, with %s, needs %s of memory, but -m allows %s", fmt.Sprintf(format, args...), of,
		run.FormatBytes(heldBytes(c)+need), run.FormatBytes(h.Memory))
}

func heldBytes(c *corpus.Corpus) int64 {
	if c == nil {
		return ProgramBytes
	}
	return ProgramBytes + shards.Bytes(c)
}
