package engine

import (
	"fmt"
	"runtime/debug"

	"github.com/gramengine/gram/asm"
)

// PanicError says that a function of a kernel panicked while the engine mapped values by it: as a rule Eval or Row of a kernel from [NewKernel].
//
// Computations come back with it as with any other error, whatever goroutine the function ran on, and the engine, its caches and the kernel's other users go on
// as before: what a caller gives to a library to be called is user data to it, as a function of a template is to text/template, and a panic on a worker goroutine is
// one that no caller could recover from. A function that is called without an engine, such as by Kernel.Eval or by NewKernel, panics in its caller's own
// goroutine, and nothing is made of that; nor of what Go itself can't recover from, such as two goroutines that write to one map.
type PanicError struct {
	Kernel string // String of the kernel
	Value  any    // what recover returned
	Stack  []byte // of the goroutine that panicked, as debug.Stack has it
}

// Error names the kernel and the value, and gives the stack on lines of its own, since the line that panicked is what is looked for.
func (e *PanicError) Error() string {
	return fmt.Sprintf("engine: kernel %s panicked: %v\n\n%s", e.Kernel, e.Value, e.Stack)
}

// Unwrap returns the value where that is an error, such as a runtime.Error.
func (e *PanicError) Unwrap() error {
	err, _ := e.Value.(error)
	return err
}

// caught makes an error of a panic. It is to be deferred by what calls functions of a kernel.
func caught(k Kernel, err *error) {
	if v := recover(); v != nil {
		*err = &PanicError{Kernel: k.String(), Value: v, Stack: debug.Stack()}
	}
}

// mapTile is k.Map with a panic as an error.
func mapTile(k Kernel, table *asm.Kernels, dst, c, x, y []float32) (err error) {
	defer caught(k, &err)
	k.Map(table, dst, c, x, y)
	return nil
}
