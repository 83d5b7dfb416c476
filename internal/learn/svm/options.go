package svm

import (
	"context"

	"github.com/gramengine/gram/engine"
	"github.com/gramengine/gram/engine/kernel"
	"github.com/gramengine/gram/solver"
	"github.com/gramengine/gram/sparse"
)

// Options says how a problem or a prediction is computed, not which. The zero value works.
type Options struct {
	ISA     string // instruction set; default the best that the processor can run
	Workers int    // goroutines; default one a processor. Results don't depend on it

	// Device makes the back end that computes c and kernels in place of the processor, see
	// engine.Options. The problem's Engine closes it. Default: none.
	Device func(ctx context.Context, x *sparse.Embedded) (engine.Device, error)

	// Kernels are the program's own (kernel.New), for predictions: a model names such a kernel by its String. Default:
	// none, for models of kernels that kernel.Parse knows.
	Kernels []kernel.Kernel

	// MemoryBytes bounds what the problem holds at a time: documents, engine, tiles, rows,
	// gradients, models. With HeldBytes it bounds the whole process. Default: none.
	MemoryBytes int64

	// HeldBytes is what the process holds beside the problem, counted against MemoryBytes: the
	// program itself, a corpus that the caller keeps.
	HeldBytes int64

	// Tasks are what the problem is for: memory is shared out so that there is room for them, and
	// what NewProblem says is needed is enough for all of them. Choose refuses, before it begins,
	// documents whose Tasks need more. Default: any that there turns out to be room for.
	Tasks []Task
	least int64 // of MemoryBytes for a matrix that is given, and kept whole

	// CacheBytes bounds tiles and rows together, for measurements and tests. Default: what
	// MemoryBytes leaves, or as much as helps.
	CacheBytes int64

	// Once says that the problem serves one training only: it keeps values of that kernel instead
	// of those of c, from which others would be made. Results don't depend on it. Default: the
	// problem serves any number of trainings, validations and searches, and computes each dot
	// product once.
	Once bool

	// Unnamed is set if a program chose the kernel, or might have. Reports then don't warn that it may not be
	// positive definite.
	Unnamed bool

	// Progress is called with how far the work is, at least once a second, never concurrently. If
	// it panics, the work ends with an *engine.PanicError. Default: none.
	Progress func(Progress)
}

// Progress is a moment of the work on a problem.
type Progress struct {
	Stage       string          // "computing tiles", "training", …
	Done, Total int64           // of the stage: pairs of documents, problems solved; Total is 0 where it isn't known
	Part        float64         // estimate of what is done beyond Done
	Solver      solver.Progress // while machines are trained
	HitRate     float64         // part of the rows asked for that were at hand, NaN where none were
}
