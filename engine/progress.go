package engine

import (
	"github.com/gramengine/gram/internal/run"
)

// Progress reports that Done of Total units, such as pairs or documents, are complete. Total is 0
// if unknown. An engine sets neither Stage nor Details.
type Progress = run.Progress

// PanicError reports a panic in a function that the caller passed. Function names this function.
// Value is the panic value, and Stack the stack trace. Unwrap returns Value if it is an error.
type PanicError = run.PanicError
