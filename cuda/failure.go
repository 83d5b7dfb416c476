package cuda

// Failure reports that a device or its driver failed, or that device memory was insufficient. The
// request itself is valid and may succeed elsewhere. Errors of this package with such a cause wrap
// a Failure.
type Failure struct{ Err error }

func (f *Failure) Error() string { return "cuda: " + f.Err.Error() }

// Unwrap returns the cause: the driver's error.
func (f *Failure) Unwrap() error { return f.Err }
