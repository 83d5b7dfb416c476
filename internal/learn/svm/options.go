package svm

import (
	"context"

	"github.com/gramengine/gram/engine"
	"github.com/gramengine/gram/engine/kernel"
	"github.com/gramengine/gram/solver"
	"github.com/gramengine/gram/sparse"
)

// Options controls how a problem or a prediction is computed. The zero value works.
type Options struct {
	ISA     string // instruction set; default: the best that the CPU supports
	Workers int    // number of goroutines, which doesn't affect results; default: one per CPU

	// Device creates a device that computes c and kernel values instead of the CPU, see
	// engine.Options. Closing the problem's Engine closes the device. Default: none.
	Device func(ctx context.Context, x *sparse.Embedded) (engine.Device, error)

	// Kernels are user-defined kernels (kernel.New), for predictions. A model stores the result of
	// such a kernel's String method. Kernels that kernel.Parse supports need not be listed.
	// Default: none.
	Kernels []kernel.Kernel

	// MemoryBytes limits the memory of the problem: documents, engine, tiles, rows, gradients,
	// models. If HeldBytes is set, MemoryBytes limits the whole process. Default: none.
	MemoryBytes int64

	// HeldBytes is the memory in use by the rest of the process, such as the program and the
	// caller's corpus. It is subtracted from MemoryBytes.
	HeldBytes int64

	// PlannedRuns are the intended uses of the problem. Memory is divided so that all planned runs
	// fit, and errors of NewProblem name the memory that suffices for all planned runs.
	// [tune.Choose] fails at the start if PlannedRuns need more memory than MemoryBytes. Default:
	// any runs that fit.
	PlannedRuns []PlannedRun
	minBytes    int64 // minimum of MemoryBytes for a precomputed matrix, which is stored whole

	// CacheBytes limits tiles and rows together, for measurements and tests. Default: the remaining
	// MemoryBytes or, without a memory limit, as much as is useful.
	CacheBytes int64

	// SingleUse means that the problem serves only one training run. The problem then caches kernel
	// values instead of values of c. Results don't depend on SingleUse. By default, a problem serves
	// any number of training runs, validations and searches, and computes each dot product once if the
	// tiles fit into memory.
	SingleUse bool

	// AutomaticKernel means that the kernel may have been chosen automatically. Reports then don't
	// warn that the kernel may not be positive definite.
	AutomaticKernel bool

	// Progress is called at least once a second, never concurrently. If it panics, the work ends
	// with an *engine.PanicError. Default: none.
	Progress func(Progress)
}

// Progress is a snapshot of the work on a problem.
type Progress struct {
	Stage       string          // "computing tiles", "training", …
	Done, Total int64           // pairs of documents, solved problems or predicted documents; Total is 0 if unknown
	PartialWork float64         // estimated work done beyond Done
	Solver      solver.Progress // progress of the solver; zero in other stages
	HitRate     float64         // fraction of requested rows that were cached, NaN if none were requested
}
