package solver

import (
	"fmt"
	"math"
	"time"

	"github.com/gramengine/gram/asm"
	"github.com/gramengine/gram/internal/run"
)

// Options says how a problem is solved, not which. The zero value works.
type Options struct {
	// Tolerance is the greatest violation of the optimality conditions at the end: max over I_up of
	// -y∇f minus min over I_low, LIBSVM's -e. Default: 10⁻³.
	Tolerance float64

	// Workers is how many goroutines solve problems, or share one large problem. Results don't
	// depend on it. Default: GOMAXPROCS.
	Workers int

	// RowBytes bounds the rows of the matrix that are kept, for all workers together, and with them
	// the scores of problems that are solved at the same time over the same documents. Results
	// depend on it only through the size of the working set, which is smaller where fewer rows fit.
	// Rows that a matrix has in memory are used in place, as long as a problem's documents are a
	// few ranges of it. In a large problem a byte does more good here than in a cache below the
	// matrix, since rows become short when documents are left out. Default: 512 MiB.
	RowBytes int64

	// KeepAll turns shrinking off. Default: documents that can't move are left out for a while.
	KeepAll bool

	// MaxIterations ends each problem that hasn't reached the tolerance by then; its machine says
	// so. Default: the greater of 10 million and 100 times the number of variables, as in LIBSVM.
	MaxIterations int

	// Kernels are the innermost loops. All instruction sets give the same bits. Default:
	// asm.Best().
	Kernels *asm.Kernels

	// Progress is called with how far the work is, at least once a second and at most ten times,
	// never by two goroutines at a time. Meanwhile the other workers go on, and skip their own
	// reports. If it panics, the computation ends with a [*PanicError]. Default: none.
	Progress func(Progress)

	workingSet int // how many variables the inner level sees at a time, even; 0 for a choice by size
}

// PanicError says that a function of the caller's panicked: What it was, the Value, which Unwrap returns
// where it is an error, and the Stack.
type PanicError = run.PanicError

// Progress is a moment of a training run.
type Progress struct {
	Problems, Solved int     // how many problems there are, and how many are solved
	Done             float64 // Solved and an estimate of the parts of others that are done; it never falls
	Iterations       int64   // inner steps in all
	Rows             int64   // rows of the matrix that were asked for
	Hits             int64   // rows that were there already
	Gap              float64 // violation of the optimality conditions in the problem that reports
	Objective        float64 // its objective
	Active           int     // its documents that are not left out at present
	Documents        int     // its documents
}

const (
	defaultTolerance = 1e-3
	defaultRowBytes  = 512 << 20
)

// reportEvery is the least time between two reports of a run; a variable for the tests.
var reportEvery = 200 * time.Millisecond

// resolve checks the options and fills in the defaults.
func (o Options) resolve() (Options, error) {
	switch {
	case !(o.Tolerance >= 0) || math.IsInf(o.Tolerance, 0):
		return o, errUser("tolerance %v, expected a positive number, or 0 for %v", o.Tolerance, defaultTolerance)
	case o.Workers < 0 || o.RowBytes < 0 || o.MaxIterations < 0:
		return o, errUser("%d workers, %d bytes for rows, at most %d iterations, expected positive ones, or 0",
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

// errUser is an error in the caller's data.
func errUser(format string, args ...any) error { return fmt.Errorf("solver: "+format, args...) }
