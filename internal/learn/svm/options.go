package svm

import (
	"context"
	"fmt"

	"github.com/gramengine/gram/engine"
	"github.com/gramengine/gram/solver"
	"github.com/gramengine/gram/sparse"
)

// Options says how a problem is computed, not which. The zero value works.
type Options struct {
	ISA     string // instruction set; default the best that the processor can run
	Workers int    // goroutines; default one a processor. Results don't depend on it

	// Device makes the back end that computes c and kernels in place of the processor, see
	// engine.Options. The problem's Engine closes it. Default: none.
	Device func(ctx context.Context, x *sparse.Embedded) (engine.Device, error)

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

// validate checks what the layers below don't see as the caller has it.
func (o *Options) validate() error {
	if err := validateSizes(
		o.Workers, size{"MemoryBytes", o.MemoryBytes}, size{"HeldBytes", o.HeldBytes}, size{"CacheBytes", o.CacheBytes},
	); err != nil {
		return err
	}
	_, err := kernels(o.ISA)
	return err
}

// size is an option in bytes.
type size struct {
	name  string
	bytes int64
}

// mostBytes bounds options in bytes so that no sum of them overflows.
const mostBytes = 1 << 60

// validateSizes checks numbers of goroutines and of bytes, for each of which 0 is the default.
func validateSizes(workers int, sizes ...size) error {
	if workers < 0 {
		return fmt.Errorf("svm: %d workers, expected a positive number, or 0 for one a processor", workers)
	}
	for _, s := range sizes {
		if s.bytes < 0 || s.bytes > mostBytes {
			return fmt.Errorf("svm: %s is %d, expected 0 to %d", s.name, s.bytes, int64(mostBytes))
		}
	}
	return nil
}

// Progress is a moment of the work on a problem.
type Progress struct {
	Stage       string          // "computing tiles", "training", …
	Done, Total int64           // of the stage: pairs of documents, problems solved; Total is 0 where it isn't known
	Part        float64         // estimate of what is done beyond Done
	Solver      solver.Progress // while machines are trained
	HitRate     float64         // part of the rows asked for that were at hand, NaN where none were
}
