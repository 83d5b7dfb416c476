package repro

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gramengine/gram/asm"
	"github.com/gramengine/gram/engine"
	"github.com/gramengine/gram/internal/run"
	"github.com/gramengine/gram/sparse"
)

// Run is what an experiment is given to work with. The zero value works, but for Data.
type Run struct {
	Data        string // the folder of corpora, one sub-folder each
	Workers     int    // goroutines; 0 for as many as there are processors
	ISA         string // instruction set; empty for the best
	MemoryBytes int64  // bound on the memory in use; 0 for none
	Seed        uint64 // of every random choice
	Plot        bool   // learning curves are asked for; no curve is then a [UsageError]

	// Device makes the device that computes in place of the processor, see engine.Options; nil for
	// none.
	Device func(ctx context.Context, x *sparse.Embedded) (engine.Device, error)

	Tell func(stage string, done, total int64) // progress, called from any goroutine; nil for none
	Warn func(message string)                  // warnings; nil for none

	mu   sync.Mutex
	told time.Time
}

// Threads is the number of goroutines to work with.
func (r *Run) Threads() int {
	if r.Workers > 0 {
		return r.Workers
	}
	return runtime.GOMAXPROCS(0)
}

// Kernels are the innermost loops of the instruction set of the run.
func (r *Run) Kernels() (*asm.Kernels, error) {
	if r.ISA == "" {
		return asm.Best(), nil
	}
	return asm.For(asm.ISA(r.ISA))
}

// tellEvery is the least time between two reports of progress.
const tellEvery = 100 * time.Millisecond

// Progress reports how far a stage is, in any unit. A total of 0 means that it isn't known. It may
// be called concurrently, as often as one likes.
func (r *Run) Progress(stage string, done, total int64) {
	if r.Tell == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if now := time.Now(); done == 0 || done == total || now.Sub(r.told) >= tellEvery {
		r.told = now
		r.Tell(stage, done, total)
	}
}

// Counter returns a function that counts one more step of a stage each time it is called, from done
// on.
func (r *Run) Counter(stage string, done, total int64) func() {
	var steps atomic.Int64
	steps.Store(done)
	r.Progress(stage, done, total)
	return func() { r.Progress(stage, steps.Add(1), total) }
}

// Notice passes a warning on.
func (r *Run) Notice(format string, args ...any) {
	if r.Warn != nil {
		r.Warn(fmt.Sprintf(format, args...))
	}
}

// programBytes is the memory that a run takes beside corpora, problems and matrices: the program
// itself, and garbage between two collections.
const programBytes = 32 << 20

// Fits checks that matrices of so many bytes, documents in an engine and the program stay within
// the bound of memory. what names the need in the error.
func (r *Run) Fits(what string, matrices int64, docs ...*sparse.CSR) error {
	need := matrices + programBytes
	for _, m := range docs {
		terms, _ := m.TermFrequencies()
		need += engine.NewBytes(m.Rows(), len(terms)+1, m.NNZ()+int64(m.EmptyRows()))
	}
	if r.MemoryBytes > 0 && need > r.MemoryBytes {
		return fmt.Errorf("%s needs %s of memory, expected at most %s", what, run.FormatBytes(need),
			run.FormatBytes(r.MemoryBytes))
	}
	return nil
}
