package engine

import (
	"github.com/gramengine/gram/internal/run"
)

// Progress describes running work: Done of Total units, such as pairs or documents, are complete.
// Total is 0 if unknown. An engine sets neither Stage nor Details.
type Progress = run.Progress

// PanicError is the error for a panic in a caller's function. What names the function, Value is
// the panic value, and Stack the stack trace. Unwrap returns Value if it is an error.
type PanicError = run.PanicError
