//go:build !linux

package run

// Available returns how many bytes of memory this process can still take. This system doesn't say.
func Available() (bytes int64, known bool) { return 0, false }

// AvailableBound is [Available] with what bounds it.
func AvailableBound() Bound { return unbounded }

// ProcessBound is [AvailableBound] for the limits of the process alone.
func ProcessBound() Bound { return unbounded }
