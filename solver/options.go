package solver

import (
	"fmt"
	"math"
	"time"

	"github.com/gramengine/gram/asm"
	"github.com/gramengine/gram/internal/run"
)

// Options controls how a problem is solved. The zero value is valid.
type Options struct {
	// Tolerance is the maximum violation of the optimality conditions at the end. The violation is
	// the maximum of -y∇f over I_up minus the minimum over I_low. Tolerance is LIBSVM's -e.
	// Default: 10⁻³.
	Tolerance float64

	// Workers is the number of goroutines. The goroutines solve separate problems or share a large
	// problem. Results don't depend on Workers. Default: GOMAXPROCS.
	Workers int

	// RowBytes is the maximum memory of all workers for cached rows of the matrix, and for the
	// scores of problems that share working sets. If too few rows fit, the working set is smaller.
	// Otherwise RowBytes doesn't change results. Rows that a matrix has in memory are used in place
	// if a problem's documents form few ranges of rows. For a large problem, prefer a large
	// RowBytes to a cache of the matrix, because shrinking shortens cached rows. Default: 512 MiB.
	RowBytes int64

	// DisableShrinking disables shrinking. Default: shrinking is enabled.
	DisableShrinking bool

	// MaxIterations is the maximum number of steps for each problem. If it is reached, Converged is
	// false in the result. Default: the larger of 10 million and 100 times the number of variables,
	// as in LIBSVM.
	MaxIterations int

	// Kernels is the kernel table of an instruction set. All instruction sets give the same bits.
	// Default: asm.Best().
	Kernels *asm.Kernels

	// Progress is called from one goroutine at a time, at most five times per second, with the
	// state of the training run. Meanwhile other workers continue without reports. If Progress
	// panics, the computation ends with a [*PanicError]. Default: none.
	Progress func(Progress)

	workingSet int // size of the working set, an even number; 0 = chosen from the problem's size
}

// PanicError reports a panic in a function that the caller passed. Function names it. Value is the
// panic value, and Stack the stack trace. Unwrap returns Value if it is an error.
type PanicError = run.PanicError

// Progress is the state of a training run.
type Progress struct {
	Problems, Solved int     // total number of problems, and number of solved problems
	Done             float64 // Solved plus the estimated fractions of unfinished problems; never decreases
	Iterations       int64   // total number of inner steps
	RowRequests      int64   // number of requested rows of the matrix
	CacheHits        int64   // number of requested rows that were cached
	Gap              float64 // violation of the optimality conditions in the reported problem
	Objective        float64 // objective of the reported problem
	ActiveDocuments  int     // number of active documents of the reported problem after shrinking
	Documents        int     // total number of documents of the reported problem
}

const (
	defaultTolerance = 1e-3
	defaultRowBytes  = 512 << 20
)

// reportInterval is the minimum time between two reports of a run. Tests change it.
var reportInterval = 200 * time.Millisecond

func (o Options) resolve() (Options, error) {
	switch {
	case !(o.Tolerance >= 0) || math.IsInf(o.Tolerance, 0):
		return o, userError("tolerance must be positive and finite, or 0 for the default of %v, got %v",
			defaultTolerance, o.Tolerance)
	case o.Workers < 0 || o.RowBytes < 0 || o.MaxIterations < 0:
		return o, userError("Workers, RowBytes and MaxIterations must be positive, or 0 for the default, got %d, %d and %d",
			o.Workers, o.RowBytes, o.MaxIterations)
	}
	if o.Tolerance == 0 {
		o.Tolerance = defaultTolerance
	}
	o.Workers = run.NumWorkers(o.Workers)
	if o.RowBytes == 0 {
		o.RowBytes = defaultRowBytes
	}
	if o.Kernels == nil {
		o.Kernels = asm.BestKernels()
	}
	return o, nil
}

func userError(format string, args ...any) error { return fmt.Errorf("solver: "+format, args...) }
