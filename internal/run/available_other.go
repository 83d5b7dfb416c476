//go:build !linux

package run

// Available returns false, because this system doesn't report available memory.
func Available() (bytes int64, known bool) { return 0, false }

// AvailableBound is like [Available], and also returns the source of the limit.
func AvailableBound() Bound { return unbounded }

// ProcessBound is like [AvailableBound], but only for the limits of the process.
func ProcessBound() Bound { return unbounded }
