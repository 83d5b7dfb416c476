package kernel

import (
	"errors"
	"fmt"
	"math"
	"unsafe"

	"github.com/gramengine/gram/asm"
	"github.com/gramengine/gram/engine/internal/shape"
	"github.com/gramengine/gram/internal/run"
)

// Apply maps a tile of c = 1 - cosine to kernel values,
//
//	dst[i*len(y)+j] = k.Eval(c[i*len(y)+j], x[i], y[j])
//
// for the norms x of its rows and y of its columns, within k.Error. dst and c have len(x)*len(y)
// values and may be the same slice; they must not overlap otherwise. x and y may both be empty
// where the kernel doesn't look at norms.
//
// It fails before it writes to dst where lengths don't fit, a c isn't in [0, 2] or a norm isn't a
// finite number from 0 on, and with a [PanicError] where a function of a custom kernel panics. A
// gamma that [Resolve] has yet to set gives NaN, as in Eval. It may be called concurrently.
func Apply(k Kernel, table *asm.Kernels, dst, c, x, y []float32) error {
	if err := Check(k); err != nil {
		return err
	}
	if table == nil {
		return fmt.Errorf("engine: kernel %s: a nil table, expected one of asm.For or asm.Best", k)
	}
	for i, v := range c {
		if !(v >= 0 && v <= 2) {
			return fmt.Errorf("engine: kernel %s: c[%d] is %v, expected a number from 0 to 2", k, i, v)
		}
	}
	for _, norms := range [...]struct {
		name string
		of   []float32
	}{{"x", x}, {"y", y}} {
		for i, v := range norms.of {
			if !(v >= 0 && v <= math.MaxFloat32) {
				return fmt.Errorf("engine: kernel %s: norm %s[%d] is %v, expected a finite number not below 0",
					k, norms.name, i, v)
			}
		}
	}
	same := unsafe.SliceData(dst) == unsafe.SliceData(c)
	if !same && shape.Overlap(dst, c) || shape.Overlap(dst, x) || shape.Overlap(dst, y) {
		return fmt.Errorf("engine: kernel %s: dst overlaps another slice, expected c itself or memory of its own", k)
	}
	return Map(k, table, dst, c, x, y)
}

var errNil = errors.New("engine: a nil kernel, expected one of kernel.Parse or kernel.New")

// Map applies a kernel to a tile, with a panic as an error: the one place where a kernel meets
// memory. It checks lengths; that c and norms are numbers of the right range is known of those that
// an engine computes.
func Map(k Kernel, table *asm.Kernels, dst, c, x, y []float32) (err error) {
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
// rule Eval or Row of a kernel from [New]. It has What panicked, the Value, which Unwrap returns where
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
