// Package run has what long computations share: the loop over workers ([Tasks]), reports of progress
// ([Progress], [Reporter]), how much memory there is and the error of too little ([MemoryError]), and
// the error of a panic ([PanicError]). Public packages name these types as their own. It knows nothing
// of what is computed.
package run

import (
	"cmp"
	"context"
	"fmt"
	"runtime"
)

// Given returns an error, in the name of a package, where there is no context, and the cause of one that
// has ended. Every exported function with a context asks it, or [Tasks], before it does anything: a nil
// context is an error everywhere, and never a panic or a background context.
func Given(ctx context.Context, name string) error {
	if ctx == nil {
		return fmt.Errorf("%s: a nil context, expected one", name)
	}
	return context.Cause(ctx)
}

// Workers returns a number of goroutines, where 0 stands for one per processor.
func Workers(workers int) int { return cmp.Or(workers, runtime.GOMAXPROCS(0)) }
