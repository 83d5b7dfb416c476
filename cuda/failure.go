package cuda

// Failure reports that a device or its driver failed, or that device memory was insufficient. The
// request is valid and may succeed on the CPU or another device. All errors of this kind wrap a
// Failure.
type Failure struct{ Err error }

func (f *Failure) Error() string { return "cuda: " + f.Err.Error() }

// Unwrap returns the cause: the driver's error.
func (f *Failure) Unwrap() error { return f.Err }
