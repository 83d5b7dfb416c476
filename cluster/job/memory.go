package job

import (
	"fmt"

	"github.com/gramengine/gram/cluster/shards"
	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/internal/run"
)

// ProgramBytes is what a process takes beside documents, engines, models and results: up to 46 MiB of the
// program's file, which has the libraries of all stores, and the runtime with its garbage.
const ProgramBytes = 64 << 20

// Left returns what the bound leaves beside the program and these documents, nil for none: at least
// one byte, and 0 where there is no bound.
func (h *Host) Left(c *corpus.Corpus) int64 {
	if h.Memory == 0 {
		return 0
	}
	return max(h.Memory-heldBytes(c), 1)
}

// Fits checks that what is needed, beside the program and the documents, is within the bound. Its
// error says what is needed in all.
func (h *Host) Fits(c *corpus.Corpus, need int64, format string, args ...any) error {
	if h.Memory == 0 || heldBytes(c)+need <= h.Memory {
		return nil
	}
	of := "the program"
	if c != nil {
		of += " and the documents of " + c.Source
	}
	return fmt.Errorf("%s, with %s, needs %s of memory, -m allows %s", fmt.Sprintf(format, args...), of,
		run.FormatBytes(heldBytes(c)+need), run.FormatBytes(h.Memory))
}

func heldBytes(c *corpus.Corpus) int64 {
	if c == nil {
		return ProgramBytes
	}
	return ProgramBytes + shards.Bytes(c)
}
