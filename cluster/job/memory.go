package job

import (
	"fmt"

	"github.com/gramengine/gram/cluster/shards"
	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/internal/run"
)

// ProgramBytes is the memory of a process in bytes, excluding documents, engines, models and
// results. It includes up to 46 MiB for the executable, which contains the libraries of all stores.
const ProgramBytes = 64 << 20

// FreeMemory returns the memory left for a task in bytes: the limit minus [ProgramBytes] and the
// size of the documents c, which may be nil. The result is at least 1, or 0 if there is no limit.
func (h *Host) FreeMemory(c *corpus.Corpus) int64 {
	if h.MemoryLimit == 0 {
		return 0
	}
	return max(h.MemoryLimit-corpusBytes(c), 1)
}

// CheckMemory returns an error if the memory of the program and of the documents c, plus need
// bytes, exceeds the limit. The error contains this sum.
func (h *Host) CheckMemory(c *corpus.Corpus, need int64, format string, args ...any) error {
	if h.MemoryLimit == 0 || corpusBytes(c)+need <= h.MemoryLimit {
		return nil
	}
	of := "the program"
	if c != nil {
		of += " and the documents of " + c.Source
	}
	return fmt.Errorf("%s, with %s, needs %s of memory, but -m allows %s", fmt.Sprintf(format, args...), of,
		run.FormatBytes(corpusBytes(c)+need), run.FormatBytes(h.MemoryLimit))
}

func corpusBytes(c *corpus.Corpus) int64 {
	if c == nil {
		return ProgramBytes
	}
	return ProgramBytes + shards.CorpusBytes(c)
}
