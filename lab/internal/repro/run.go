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

// Env is the environment of an experiment. All fields except DataDir may be zero.
type Env struct {
	DataDir     string // data folder, with a sub-folder for each corpus
	Workers     int    // number of goroutines; 0 for GOMAXPROCS
	ISA         string // instruction set; empty for the best available
	MemoryBytes int64  // memory limit in bytes; 0 for no limit
	Seed        uint64 // seed for all random choices

	// Device creates the GPU device, see engine.Options. A nil Device selects the CPU.
	Device func(ctx context.Context, x *sparse.Embedded) (engine.Device, error)

	OnProgress func(stage string, done, total int64) // progress callback, called concurrently; may be nil
	OnWarning  func(message string)                  // warning callback; may be nil
}

// NumWorkers returns Workers, or GOMAXPROCS if Workers is 0.
func (r *Env) NumWorkers() int {
	if r.Workers > 0 {
		return r.Workers
	}
	return runtime.GOMAXPROCS(0)
}

// AsmKernels returns the assembly routines for the instruction set r.ISA.
func (r *Env) AsmKernels() (*asm.Kernels, error) {
	if r.ISA == "" {
		return asm.BestKernels(), nil
	}
	return asm.KernelsFor(asm.ISA(r.ISA))
}

// ReportProgress reports the progress of a stage. total is 0 if unknown.
func (r *Env) ReportProgress(stage string, done, total int64) {
	if r.OnProgress != nil {
		r.OnProgress(stage, done, total)
	}
}

// ProgressCounter returns a function to call after each of the total steps of a stage. The function
// reports the progress.
func (r *Env) ProgressCounter(stage string, total int) func() {
	var steps atomic.Int64
	r.ReportProgress(stage, 0, int64(total))
	return func() { r.ReportProgress(stage, steps.Add(1), int64(total)) }
}

// programBytes is the memory of a run in bytes, excluding corpora, SVM problems and matrices.
const programBytes = 32 << 20

// CheckMemory fails if the program, an engine for each of docs, and matrices (in bytes) together
// exceed the memory limit. what names the computation in the error.
func (r *Env) CheckMemory(what string, matrices int64, docs ...*sparse.CSR) error {
	need := matrices + programBytes
	for _, m := range docs {
		terms, _ := m.TermFrequencies()
		need += engine.MaxEngineBytes(m.Rows(), len(terms)+1, m.NNZ()+int64(m.EmptyRowCount()))
	}
	if r.MemoryBytes > 0 && need > r.MemoryBytes {
		return fmt.Errorf("%s needs %s of memory, but the limit is %s", what, run.FormatBytes(need),
			run.FormatBytes(r.MemoryBytes))
	}
	return nil
}
