package engine

import (
	"github.com/gramengine/gram/internal/run"
)

// Progress describes running work: its Stage, and how many of Total units are Done. Units are
// pairs, documents or classifiers. Total is 0 if unknown. An engine has no stages.
type Progress = run.Progress

// PanicError is the error for a panic in a caller's function. What names the function, Value is
// the panic value, and Stack the stack trace. Unwrap returns Value if it is an error.
type PanicError = run.PanicError
