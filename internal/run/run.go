// Package run contains code for long computations: the loop over workers ([Tasks]), progress
// ([Progress], [Reporter]), available memory ([AvailableBytes], [MemoryError]), and panics
// ([PanicError]). Public packages export these types under their own names. Package run is
// independent of the computation.
package run

import (
	"cmp"
	"context"
	"fmt"
	"runtime"
)

// CheckContext returns an error with the package name if ctx is nil, or the cause if ctx is done.
// Every exported function with a context first calls CheckContext or [Tasks], so that a nil context
// is always an error, never a panic or a background context.
func CheckContext(ctx context.Context, name string) error {
	if ctx == nil {
		return fmt.Errorf("%s: context is nil", name)
	}
	return context.Cause(ctx)
}

// NumWorkers returns workers, or GOMAXPROCS if workers is 0.
func NumWorkers(workers int) int { return cmp.Or(workers, runtime.GOMAXPROCS(0)) }
