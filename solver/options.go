package solver

import (
	"fmt"
	"math"
	"time"

	"github.com/gramengine/gram/asm"
	"github.com/gramengine/gram/internal/run"
)

// Options controls how a problem is solved. The zero value works.
type Options struct {
	// Tolerance is the maximum violation of the optimality conditions at the end: the maximum of
	// -y∇f over I_up minus the minimum over I_low. It is LIBSVM's -e. Default: 10⁻³.
	Tolerance float64

	// Workers is the number of goroutines. They solve separate problems or share a large one.
	// Results don't depend on Workers. Default: GOMAXPROCS.
	Workers int

	// RowBytes bounds the memory of all workers for cached rows of the matrix, and for the scores
	// of problems that are solved together. If too few rows fit, the working set is smaller;
	// otherwise RowBytes doesn't change results. Rows that a matrix has in memory are used in place
	// if a problem's documents consist of few ranges of the matrix. For a large problem, give
	// memory to RowBytes rather than to a cache of the matrix, because shrinking shortens cached
	// rows. Default: 512 MiB.
	RowBytes int64

	// KeepAll disables shrinking. Default: shrinking is enabled.
	KeepAll bool

	// MaxIterations bounds the steps of each problem. If it is reached, Converged is false in the
	// result. Default: the larger of 10 million and 100 times the number of variables, as in
	// LIBSVM.
	MaxIterations int

	// Kernels are the innermost loops. All instruction sets give the same bits. Default:
	// asm.Best().
	Kernels *asm.Kernels

	// Progress is called from one goroutine at a time, one to ten times per second, with the state
	// of the work. Meanwhile the other workers continue and skip their own reports. If Progress
	// panics, the computation ends with a [*PanicError]. Default: none.
	Progress func(Progress)

	workingSet int // size of the inner level's working set, even; 0 = chosen from the problem's size
}

// PanicError reports that a caller's function panicked. What names the function, Value is the
// panic's value, and Stack is the stack trace. Unwrap returns Value if it is an error.
type PanicError = run.PanicError

// Progress is the state of a training run.
type Progress struct {
	Problems, Solved int     // number of problems, and of solved problems
	Done             float64 // Solved plus the estimated fractions of unfinished problems; never decreases
	Iterations       int64   // total number of inner steps
	Rows             int64   // number of requested rows of the matrix
	Hits             int64   // number of requested rows that were cached
	Gap              float64 // violation of the optimality conditions in the reporting problem
	Objective        float64 // objective of the reporting problem
	Active           int     // number of active documents of the reporting problem after shrinking
	Documents        int     // total number of documents of the reporting problem
}

const (
	defaultTolerance = 1e-3
	defaultRowBytes  = 512 << 20
)

// reportEvery is the minimum time between two reports of a run. Tests change it.
var reportEvery = 200 * time.Millisecond

// resolve checks the options and fills in the defaults.
func (o Options) resolve() (Options, error) {
	switch {
	case !(o.Tolerance >= 0) || math.IsInf(o.Tolerance, 0):
		return o, errUser("tolerance must be positive and finite, or 0 for %v, got %v", defaultTolerance, o.Tolerance)
	case o.Workers < 0 || o.RowBytes < 0 || o.MaxIterations < 0:
		return o, errUser("Workers, RowBytes and MaxIterations must be positive, or 0 for the default, got %d, %d and %d",
			o.Workers, o.RowBytes, o.MaxIterations)
	}
	if o.Tolerance == 0 {
		o.Tolerance = defaultTolerance
	}
	o.Workers = run.Workers(o.Workers)
	if o.RowBytes == 0 {
		o.RowBytes = defaultRowBytes
	}
	if o.Kernels == nil {
		o.Kernels = asm.Best()
	}
	return o, nil
}

// errUser returns an error about the caller's data.
func errUser(format string, args ...any) error { return fmt.Errorf("solver: "+format, args...) }
