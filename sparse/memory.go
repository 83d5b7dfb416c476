package sparse

import (
	"fmt"
	"sync/atomic"
)

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

// MemoryError says that reading a source needs more memory than [Options].MemoryBytes: before
// anything is read where the size is known beforehand, else at the place where the bound was
// passed.
type MemoryError struct {
	Place string // the source, or file:line
	What  string // what needs the memory, such as "reading on"
	Need  int64  // bytes
	Limit int64  // bytes
}

// Error names the place and both numbers.
func (e *MemoryError) Error() string {
	return fmt.Sprintf(
		"sparse: %s: %s needs %s of memory, expected at most %s",
		e.Place,
		e.What,
		FormatBytes(e.Need),
		FormatBytes(e.Limit),
	)
}

// allowance counts what a reader holds, and will hold once it joins its pieces, against
// Options.MemoryBytes. It may be used concurrently; nil counts nothing and allows everything.
type allowance struct {
	limit int64
	held  atomic.Int64
}

// add counts bytes that stay until the end of reading.
func (a *allowance) add(bytes int64) {
	if a != nil {
		a.held.Add(bytes)
	}
}

// spent tells whether the bound is passed.
func (a *allowance) spent() bool { return a != nil && a.held.Load() > a.limit }

// check returns a MemoryError for the given place where the bound is passed.
func (a *allowance) check(place func() string) error {
	if !a.spent() {
		return nil
	}
	return &MemoryError{place(), "reading on", a.held.Load(), a.limit}
}

// fits returns a MemoryError where a whole source would need more than is allowed.
func (a *allowance) fits(source string, bytes int64) error {
	if a == nil || a.held.Load()+bytes <= a.limit {
		return nil
	}
	return &MemoryError{source, "the whole", a.held.Load() + bytes, a.limit}
}

// workerBytes is what a worker has in passing, a few blocks of text and what becomes of them: where
// memory is short there are fewer workers.
const workerBytes = 16 * blockBytes

// bound sets up the allowance, and divides it: a share for each worker, a quarter for the longest
// line.
func (o *Options) bound() {
	if o.MemoryBytes == 0 {
		return
	}
	o.memory = &allowance{limit: o.MemoryBytes}
	o.Workers = int(min(int64(o.Workers), max(o.MemoryBytes/workerBytes, 1)))
	o.MaxLineBytes = int(min(int64(o.MaxLineBytes), max(o.MemoryBytes/4, 1)))
}
