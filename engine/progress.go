package engine

import (
	"github.com/gramengine/gram/internal/run"
)

// Progress is how far the work is: the Stage, Done of a Total of pairs, documents or machines, which is 0
// where it isn't known, and Details in words. Learners report by it, too; an engine has no stages.
type Progress = run.Progress

// PanicError says that a function which the caller handed over panicked: What it was, the Value, which
// Unwrap returns where it is an error, and the Stack.
type PanicError = run.PanicError
