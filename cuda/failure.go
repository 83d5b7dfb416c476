package cuda

// Failure says that a device or its driver failed, or that the device has too little memory for
// what was asked of it: no fault of what was asked, which may be had elsewhere. Errors of this
// package that come of that have one among those that they wrap.
type Failure struct{ Err error }

func (f *Failure) Error() string { return "cuda: " + f.Err.Error() }

// Unwrap returns the cause: what the driver said.
func (f *Failure) Unwrap() error { return f.Err }
