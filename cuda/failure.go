package cuda

// DeviceError reports that a device or its driver failed, or that device memory was insufficient.
// The request is valid and may succeed on the CPU or another device. Use [errors.As], because
// returned errors may wrap a DeviceError.
type DeviceError struct{ Err error }

func (f *DeviceError) Error() string { return "cuda: " + f.Err.Error() }

// Unwrap returns f.Err, for [errors.Is] and [errors.As].
func (f *DeviceError) Unwrap() error { return f.Err }
