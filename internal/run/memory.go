package run

import (
	"fmt"
	"math"
)

// MemoryError reports that a computation needs more memory than allowed or available. It is
// returned before that memory is allocated.
type MemoryError struct {
	Computation           string // computation, such as "engine: the Gram matrix"
	Source                string // source of documents being read, or file:line; "" for other computations
	NeedBytes, LimitBytes int64  // required and allowed memory in bytes
	LimitSource           string // source of the limit, such as "-m allows 60 MiB"; "" for an option of a call
	IsSystemLimit         bool   // true if the host, the container or a process limit (ulimit) leaves LimitBytes
	IsTotalNeed           bool   // true if NeedBytes suffices for the whole computation, not only for one step
}

// Error names the computation, the required memory and the limit.
func (e *MemoryError) Error() string {
	limit, more := "the limit is "+FormatBytes(e.LimitBytes), ""
	switch {
	case e.LimitSource != "":
		if limit = e.LimitSource; e.Source != "" && !e.IsTotalNeed {
			more = "more than "
		}
	case e.IsSystemLimit:
		limit = "the system leaves " + FormatBytes(e.LimitBytes)
	}
	return fmt.Sprintf("%s needs %s%s of memory, but %s", e.Computation, more, FormatBytesCeil(e.NeedBytes), limit)
}

// CheckMemory returns a MemoryError if need exceeds limit. need is the memory in bytes for the
// whole computation. A limit of 0 means no limit. what names the package and the computation.
func CheckMemory(need, limit int64, what string, args ...any) error {
	if limit == 0 || need <= limit {
		return nil
	}
	return &MemoryError{Computation: fmt.Sprintf(what, args...), NeedBytes: need, LimitBytes: limit, IsTotalNeed: true}
}

// AddBytes adds sizes, and returns math.MaxInt64 on overflow.
func AddBytes(a, b int64) int64 {
	if a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}

// FormatBytes formats a number of bytes with three digits and a binary unit, such as "1.5 GiB".
func FormatBytes(n int64) string {
	if n < 1024 {
		return fmt.Sprintf("%d B", n)
	}
	v, unit := float64(n), ""
	for _, unit = range []string{"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"} {
		v /= 1024
		if v < 999.5 {
			break
		}
	}
	return fmt.Sprintf("%.3g %s", v, unit)
}

// FormatBytesCeil is like [FormatBytes], but rounds up, so that the result is never too small.
func FormatBytesCeil(n int64) string { return FormatBytes(n + min(n/200, math.MaxInt64-n)) }
