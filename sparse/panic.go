package sparse

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
)

// PanicError says that a function of [Options] panicked, be it on a goroutine whose panics nobody
// could recover from.
type PanicError struct {
	Function string // the field of Options
	Value    any    // what recover returned
	Stack    []byte // of the goroutine that panicked, as debug.Stack has it
}

// Error names the function and the value, and gives the stack on lines of its own.
func (e *PanicError) Error() string {
	return fmt.Sprintf("sparse: Options.%s panicked: %v\n\n%s", e.Function, e.Value, e.Stack)
}

// Unwrap returns the value where that is an error, such as a runtime.Error.
func (e *PanicError) Unwrap() error {
	err, _ := e.Value.(error)
	return err
}

// caught makes an error of a panic. It is to be deferred by what calls a function of Options.
func caught(function string, err *error) {
	if v := recover(); v != nil {
		*err = &PanicError{Function: function, Value: v, Stack: debug.Stack()}
	}
}

// given reports a context that isn't there.
func given(ctx context.Context) error {
	if ctx == nil {
		return errors.New("sparse: nil context, expected one")
	}
	return nil
}
