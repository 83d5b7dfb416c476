package run

import (
	"errors"
	"fmt"
	"io"
	"runtime/debug"
)

// PanicError reports that a caller's function or a task panicked. Panics are recovered, because a
// panic on a worker's goroutine would end the program.
type PanicError struct {
	Function string // function that panicked, such as "engine: kernel mine"
	Value    any    // result of recover, or an error that names runtime.Goexit
	Stack    []byte // stack of the goroutine that panicked, see debug.Stack
}

// errGoexit is PanicError.Value for a task that called runtime.Goexit.
var errGoexit = errors.New("runtime.Goexit called")

// NewPanicError returns the error for a panic with value v, or for runtime.Goexit if v is nil. If v
// is a *PanicError, which [Rethrow] passes to panic, it returns v. The deferred function that
// recovers must itself call NewPanicError, so that Stack is the stack of the panic.
func NewPanicError(what string, v any) *PanicError {
	if named, ok := v.(*PanicError); ok {
		return named
	}
	if v == nil {
		v = errGoexit
	}
	return &PanicError{Function: what, Value: v, Stack: debug.Stack()}
}

// Error returns Function and Value in one line, for users. The verb %+v also prints Stack, for the
// program's authors.
func (e *PanicError) Error() string { return fmt.Sprintf("%s panicked: %v", e.Function, e.Value) }

// Format implements [fmt.Formatter]: %+v prints Error and the stack.
func (e *PanicError) Format(f fmt.State, verb rune) {
	if io.WriteString(f, e.Error()); verb == 'v' && f.Flag('+') {
		fmt.Fprintf(f, "\n\n%s", e.Stack)
	}
}

// Unwrap returns Value if it is an error, such as a runtime.Error.
func (e *PanicError) Unwrap() error {
	err, _ := e.Value.(error)
	return err
}

const taskFunction = "run: a task"

// CatchPanic calls f. It returns f's error, or a [PanicError] with the given name if f panics.
func CatchPanic(name string, f func() error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = NewPanicError(name, v)
		}
	}()
	return f()
}

// Rethrow must be deferred by functions that return no error and call a callback. It replaces the
// value of a panic by a [PanicError] with the callback's name.
func Rethrow(name string) {
	if v := recover(); v != nil {
		panic(NewPanicError(name, v))
	}
}
