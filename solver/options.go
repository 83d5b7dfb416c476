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
	// Tolerance is the maximum violation of the optimality conditions at the end (-e of LIBSVM).
	// The violation is max(-y∇f) over I_up minus min(-y∇f) over I_low. I_up and I_low are the
	// variables for which y·α may increase and decrease. Default: 10⁻³.
	Tolerance float64

	// Workers is the number of goroutines. They solve separate problems, or share the work for a
	// large problem. Results don't depend on Workers, with the exception stated for RowBytes.
	// Default: GOMAXPROCS.
	Workers int

	// RowBytes is the maximum memory of all workers for cached rows of the matrix, and for the
	// scores of problems that share working sets. If the rows of a working set don't fit, the
	// working set is smaller, which changes results within the tolerance. If Whole of the [Matrix]
	// returns false and not all rows fit, results depend on RowBytes and Workers, within the
	// tolerance. Otherwise they don't depend on RowBytes. Rows in memory aren't cached if they can
	// be used in place (see [Matrix]). For a large problem, increase RowBytes rather than cache
	// rows in the Matrix, because shrinking shortens the solver's rows. Default: 512 MiB.
	RowBytes int64

	// DisableShrinking disables shrinking. Default: shrinking is enabled.
	DisableShrinking bool

	// MaxIterations is the maximum number of steps for each problem. A problem that reaches it has
	// Converged false in its [DecisionFunction]. Default: the larger of 10 million and 100 times
	// the number of variables, as in LIBSVM.
	MaxIterations int

	// Kernels holds the vector functions for an instruction set. Results are bit-identical for all
	// instruction sets. Default: asm.BestKernels().
	Kernels *asm.Kernels

	// Progress is called from one goroutine at a time, at most five times per second, with the
	// state of the training run. During a call, other workers continue without reports. If Progress
	// panics, the computation ends with a [*PanicError]. Default: none.
	Progress func(Progress)

	workingSet int // even size of the working set, for tests; 0 = depends on the number of documents
}

// PanicError reports a panic in a function that the caller passed. Function is the name of this
// function, Value the panic value, and Stack the stack trace. Unwrap returns Value if Value is an
// error.
type PanicError = run.PanicError

// Progress is the state of a training run.
type Progress struct {
	Problems, Solved int     // total number of problems, and number of solved problems
	Done             float64 // Solved plus the estimated fractions of unfinished problems; never decreases
	Iterations       int64   // total number of inner steps
	RowRequests      int64   // number of requested rows of the matrix
	CacheHits        int64   // number of requested rows that were cached
	Gap              float64 // violation of the optimality conditions of the reported problem
	Objective        float64 // objective of the reported problem
	ActiveDocuments  int     // number of documents of the reported problem that remain after shrinking
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
