package kernel

import (
	"fmt"
	"runtime/debug"
)

// PanicError says that a function of a kernel panicked while the engine mapped values by it: as a rule Eval or Row of a kernel from [New].
//
// Computations come back with it as with any other error, whatever goroutine the function ran on,
// and the engine, its caches and the kernel's other users go on as before: what a caller gives to a
// library to be called is user data to it, as a function of a template is to text/template, and a
// panic on a worker goroutine is one that no caller could recover from. [New] and [Apply]
// return it, too. Kernel.Eval and Kernel.Error, which have no error to return, panic in their
// caller's own goroutine. Go itself can't recover from everything, such as two goroutines that
// write to one map.
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

// newPanicError is for use in the deferred function that recovers v.
func newPanicError(kernel string, v any) *PanicError {
	return &PanicError{Kernel: kernel, Value: v, Stack: debug.Stack()}
}

// Caught makes an error of a panic. It is to be deferred by what calls functions of a kernel.
func Caught(k Kernel, err *error) {
	if v := recover(); v != nil {
		*err = newPanicError(k.String(), v)
	}
}
