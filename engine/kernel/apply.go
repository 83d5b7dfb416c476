package kernel

import (
	"errors"
	"fmt"

	"github.com/gramengine/gram/asm"
	"github.com/gramengine/gram/internal/run"
)

var errNil = errors.New("engine: a nil kernel, expected one of kernel.Parse or kernel.New")

// Apply maps a tile of c = 1 - cosine to kernel values,
//
//	dst[i*len(y)+j] = k.Eval(c[i*len(y)+j], x[i], y[j])
//
// for the norms x of its rows and y of its columns, within k.Error. dst and c have len(x)*len(y)
// values and may be the same slice; they must not overlap otherwise. x and y may both be empty
// if the kernel doesn't use norms. c lies in [0, 2], and norms are finite and not negative; results
// for other values are unspecified.
//
// Apply fails before it writes to dst if the lengths don't match, and with a [PanicError] if a
// user-defined kernel panics. Values are NaN if gamma isn't resolved, as in Eval. It may be called
// concurrently.
func Apply(k Kernel, table *asm.Kernels, dst, c, x, y []float32) (err error) {
	if k == nil {
		return errNil
	}
	plain := len(x) == 0 && len(y) == 0 && !UsesNorms(k)
	if len(dst) != len(c) || !plain && len(dst) != len(x)*len(y) {
		return fmt.Errorf("engine: kernel %s: tile of %d values of c and %d norms of rows by %d of columns, "+
			"destination of %d, expected as many values as rows times columns", k, len(c), len(x), len(y), len(dst))
	}
	defer Caught(k, &err)
	k.mapTo(table, dst, c, x, y)
	return nil
}

// PanicError reports that a function of a user-defined kernel panicked, with the stack. Computations,
// [New] and [Apply] return it like any other error, since no caller could recover from a panic of a worker
// goroutine. The engine and the kernel stay usable. Kernel.Eval and Kernel.Error panic in the goroutine of
// their caller. Go can't recover from fatal errors, such as concurrent writes to a map.
type PanicError = run.PanicError

// Caught turns a panic into an error. Callers of a kernel's functions defer it. If err is nil, Caught
// panics with the [PanicError].
func Caught(k Kernel, err *error) {
	if v := recover(); v != nil {
		failed := run.NewPanicError("engine: kernel "+k.String(), v)
		if err == nil {
			panic(failed)
		}
		*err = failed
	}
}
