package repro

import (
	"context"
	"fmt"
	"runtime"
	"sync/atomic"

	"github.com/gramengine/gram/asm"
	"github.com/gramengine/gram/engine"
	"github.com/gramengine/gram/internal/run"
	"github.com/gramengine/gram/sparse"
)

// Run is the environment of an experiment. All fields except Data may be zero.
type Run struct {
	Data        string // data folder, with a sub-folder for each corpus
	Workers     int    // number of goroutines; 0 for the number of CPUs
	ISA         string // instruction set; empty for the best available
	MemoryBytes int64  // memory limit in bytes; 0 for no limit
	Seed        uint64 // seed for all random choices

	// Device creates the GPU device, see engine.Options. If nil, the experiment runs on the CPU.
	Device func(ctx context.Context, x *sparse.Embedded) (engine.Device, error)

	Tell func(stage string, done, total int64) // progress callback, called concurrently; may be nil
	Warn func(message string)                  // warning callback; may be nil
}

// Threads returns the number of goroutines to use.
func (r *Run) Threads() int {
	if r.Workers > 0 {
		return r.Workers
	}
	return runtime.GOMAXPROCS(0)
}

// Kernels returns the assembly routines for the instruction set.
func (r *Run) Kernels() (*asm.Kernels, error) {
	if r.ISA == "" {
		return asm.Best(), nil
	}
	return asm.For(asm.ISA(r.ISA))
}

// Progress reports the progress of a stage. total is 0 if unknown.
func (r *Run) Progress(stage string, done, total int64) {
	if r.Tell != nil {
		r.Tell(stage, done, total)
	}
}

// Counter returns a function that reports the progress of a stage. This function must be called
// after each step.
func (r *Run) Counter(stage string, total int) func() {
	var steps atomic.Int64
	r.Progress(stage, 0, int64(total))
	return func() { r.Progress(stage, steps.Add(1), int64(total)) }
}

// programBytes is the memory in bytes of a run without corpora, SVM problems and matrices.
const programBytes = 32 << 20

// Fits returns an error unless the program, engines for docs, and matrices of the given size in
// bytes fit into the memory limit.
func (r *Run) Fits(what string, matrices int64, docs ...*sparse.CSR) error {
	need := matrices + programBytes
	for _, m := range docs {
		terms, _ := m.TermFrequencies()
		need += engine.NewBytes(m.Rows(), len(terms)+1, m.NNZ()+int64(m.EmptyRows()))
	}
	if r.MemoryBytes > 0 && need > r.MemoryBytes {
		return fmt.Errorf("%s needs %s of memory, but the limit is %s", what, run.FormatBytes(need),
			run.FormatBytes(r.MemoryBytes))
	}
	return nil
}
