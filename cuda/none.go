//go:build !(cuda && cgo && linux)

package cuda

// Probe returns what is known of the device that [Open] takes, or why there is none: here, ErrNotBuilt.
func Probe() (Info, error) { return Info{}, ErrNotBuilt }
