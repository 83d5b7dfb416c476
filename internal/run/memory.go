package run

import (
	"fmt"
	"math"
)

// MemoryError says that a computation needs more memory than was allowed or than the system leaves
// to the program, before it takes that memory.
type MemoryError struct {
	What        string // what needs it, such as "engine: the Gram matrix"
	Source      string // of documents that are being read: where they come from, or file:line; "" for others
	Need, Limit int64  // bytes
	By          string // source of the limit in words, such as "-m allows 60 MiB"; "" for an option of a call
	Machine     bool   // Limit is what the machine, its container or a limit of the process (ulimit) leaves
	Enough      bool   // Need is enough for the whole work, not only for a step of it
}

// Error names what needs the memory and both numbers.
func (e *MemoryError) Error() string {
	limit, more := "expected at most "+FormatBytes(e.Limit), ""
	switch {
	case e.By != "":
		if limit = e.By; e.Source != "" && !e.Enough {
			more = "more than "
		}
	case e.Machine:
		limit = "the system leaves " + FormatBytes(e.Limit)
	}
	return fmt.Sprintf("%s needs %s%s of memory, %s", e.What, more, FormatNeed(e.Need), limit)
}

// Fits returns a MemoryError where what is enough for the whole work is above a limit, of which 0
// is none. what names the work, with its package.
func Fits(need, limit int64, what string, args ...any) error {
	if limit == 0 || need <= limit {
		return nil
	}
	return &MemoryError{What: fmt.Sprintf(what, args...), Need: need, Limit: limit, Enough: true}
}

// AddBytes adds numbers of bytes, up to the greatest int64.
func AddBytes(a, b int64) int64 {
	if a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}

// FormatBytes writes a number of bytes with three digits and a binary unit, such as "1.5 GiB".
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

// FormatNeed is [FormatBytes] of an amount that is to be enough: half a unit of the third digit
// more, at least, so that rounding never makes it less.
func FormatNeed(n int64) string { return FormatBytes(n + min(n/200, math.MaxInt64-n)) }
