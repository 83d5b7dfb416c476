package run

import (
	"errors"
	"fmt"
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
// called runtime.Goexit. The deferred function that recovers calls it, so that the stack is that of
// the panic.
func NewPanicError(what string, v any) *PanicError {
	if v == nil {
		v = errGoexit
	}
	return &PanicError{What: what, Value: v, Stack: debug.Stack()}
}

// Error names what panicked and the value, and gives the stack on lines of its own, since the line
// that panicked is what is looked for.
func (e *PanicError) Error() string {
	return fmt.Sprintf("%s panicked: %v\n\n%s", e.What, e.Value, e.Stack)
}

// Unwrap returns the value where that is an error, such as a runtime.Error.
func (e *PanicError) Unwrap() error {
	err, _ := e.Value.(error)
	return err
}

// aTask is what panicked where nothing more is known.
const aTask = "run: a task"

// Guard calls a function that the caller handed over, under the name that it has there, and makes an
// error of a panic.
func Guard(name string, f func() error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("%s: %w", name, NewPanicError(aTask, v))
		}
	}()
	return f()
}
