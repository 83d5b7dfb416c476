package kernel

import (
	"errors"
	"fmt"

	"github.com/gramengine/gram/asm"
	"github.com/gramengine/gram/engine/internal/shape"
	"github.com/gramengine/gram/internal/run"
)

var errNil = errors.New("engine: a nil kernel, expected one of kernel.Parse or kernel.New")

// Apply maps a tile of c = 1 - cosine to kernel values,
//
//	dst[i*len(y)+j] = k.Eval(c[i*len(y)+j], x[i], y[j])
//
// for the norms x of its rows and y of its columns, within k.Error. dst and c have len(x)*len(y)
// values and may be the same slice; they must not overlap otherwise. x and y may both be empty
// where the kernel doesn't look at norms. c lies in [0, 2] and norms are finite numbers from 0 on,
// as engines compute them; results are unspecified for others.
//
// It fails before it writes to dst where lengths don't fit, and with a [PanicError] where a function
// of a custom kernel panics. A gamma that [Resolve] has yet to set gives NaN, as in Eval. It may be
// called concurrently.
func Apply(k Kernel, table *asm.Kernels, dst, c, x, y []float32) (err error) {
	if k == nil {
		return errNil
	}
	plain := len(x) == 0 && len(y) == 0 && !UsesNorms(k)
	if len(dst) != len(c) || !plain && !shape.IsProduct(len(dst), len(x), len(y)) {
		return fmt.Errorf("engine: kernel %s: tile of %d values of c and %d norms of rows by %d of columns, "+
			"destination of %d, expected as many values as rows times columns", k, len(c), len(x), len(y), len(dst))
	}
	defer Caught(k, &err)
	k.mapTo(table, dst, c, x, y)
	return nil
}

// PanicError says that a function of a kernel panicked while the engine mapped values by it: as a
// rule Eval of a kernel from [New]. It has What panicked, the Value, which Unwrap returns where
// it is an error, and the Stack.
//
// Computations come back with it as with any other error, whatever goroutine the function ran on,
// and the engine, its caches and the kernel's other users go on as before: what a caller gives to a
// library to be called is user data to it, as a function of a template is to text/template, and a
// panic on a worker goroutine is one that no caller could recover from. [New] and [Apply] return
// it, too. Kernel.Eval and Kernel.Error, which have no error to return, panic in their caller's own
// goroutine. Go itself can't recover from everything, such as two goroutines that write to one map.
type PanicError = run.PanicError

// Caught makes an error of a panic. It is to be deferred by what calls functions of a kernel. A nil err
// is for functions that return no error: the panic goes on as one with a [PanicError].
func Caught(k Kernel, err *error) {
	if v := recover(); v != nil {
		failed := run.NewPanicError("engine: kernel "+k.String(), v)
		if err == nil {
			panic(failed)
		}
		*err = failed
	}
}
