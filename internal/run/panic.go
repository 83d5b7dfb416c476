package run

import (
	"errors"
	"fmt"
	"io"
	"runtime/debug"
)

// PanicError says that a function which the caller handed over, or a task, panicked, on whichever
// goroutine: one of its own would end the program, and no caller could recover from it.
type PanicError struct {
	What  string // what panicked, such as "engine: kernel mine"
	Value any    // what recover returned, or an error that names runtime.Goexit where that was called
	Stack []byte // of the goroutine that panicked, as debug.Stack has it
}

// errGoexit is the value of a task that ended its goroutine.
var errGoexit = errors.New("runtime.Goexit called")

// NewPanicError returns the error of what ended with v, which recover returned; nil says that it
// called runtime.Goexit. A PanicError, as [Rethrow] panics with, stays as it is. The deferred function
// that recovers calls NewPanicError, so that the stack is that of the panic.
func NewPanicError(what string, v any) *PanicError {
	if named, ok := v.(*PanicError); ok {
		return named
	}
	if v == nil {
		v = errGoexit
	}
	return &PanicError{What: what, Value: v, Stack: debug.Stack()}
}

// Error names what panicked and the value, in one line, which may be shown to others than the program's
// authors. They look for the line that panicked: it is in the Stack, which the verb %+v prints, too.
func (e *PanicError) Error() string { return fmt.Sprintf("%s panicked: %v", e.What, e.Value) }

// Format implements [fmt.Formatter]: Error, and with %+v the stack on lines of its own.
func (e *PanicError) Format(f fmt.State, verb rune) {
	if io.WriteString(f, e.Error()); verb == 'v' && f.Flag('+') {
		fmt.Fprintf(f, "\n\n%s", e.Stack)
	}
}

// Unwrap returns the value where that is an error, such as a runtime.Error.
func (e *PanicError) Unwrap() error {
	err, _ := e.Value.(error)
	return err
}

// aTask is what panicked where nothing more is known.
const aTask = "run: a task"

// Guard calls a callback, name, and returns its error. A panic becomes a [PanicError] with that name.
func Guard(name string, f func() error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = NewPanicError(name, v)
		}
	}()
	return f()
}

// Rethrow is deferred where a callback, name, is called by a function that returns no error. A panic
// goes on as one with a [PanicError] that has the name.
func Rethrow(name string) {
	if v := recover(); v != nil {
		panic(NewPanicError(name, v))
	}
}
