package sparse

import (
	"fmt"
	"slices"
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

// emptyMessage is the warning for documents that hold nothing, be it that nothing was there or that
// the limits left nothing.
const emptyMessage = "document without terms, kept as an empty row"

// emptyRows warns of rows without terms; at names the place of a row.
func (w *warnings) emptyRows(m *CSR, at func(row int) string) {
	count, first := m.emptyRows()
	if count > 0 {
		w.add(emptyMessage, int64(count), at(first))
	}
}

// EmptyRows returns the number of rows without a value other than zero. It panics where offsets
// aren't those of a row.
func (m *CSR) EmptyRows() int {
	count, _ := m.emptyRows()
	return count
}

// emptyRows also returns the first of them.
func (m *CSR) emptyRows() (count, first int) {
	for i := m.Rows() - 1; i >= 0; i-- {
		m.mustHaveRow(i)
		_, values := m.Row(i)
		if !slices.ContainsFunc(values, func(v float32) bool { return v != 0 }) {
			count, first = count+1, i
		}
	}
	return count, first
}

// limitVectors names the columns by Options.Vocabulary, or else takes out the terms whose document
// frequency is outside MinDF and MaxDF. Columns keep their numbers.
func limitVectors(c *Corpus, opt *Options) {
	m := c.Documents
	if opt.Vocabulary != nil {
		c.Vocabulary, m.Cols = opt.Vocabulary, len(opt.Vocabulary)
		return
	}
	if opt.MinDF <= 1 && opt.MaxDF == 0 {
		return
	}
	terms, df := m.TermFrequencies()
	var kept []uint32
	for j, n := range df {
		if int(n) >= opt.MinDF && (opt.MaxDF == 0 || int(n) <= opt.MaxDF) {
			kept = append(kept, terms[j])
		}
	}
	table := newTermTable(kept, m.NNZ())
	var to, from int64
	for i := range m.Rows() {
		end := m.Offsets[i+1]
		for ; from < end; from++ {
			if _, ok := table.find(m.Terms[from]); ok {
				m.Terms[to], m.Values[to] = m.Terms[from], m.Values[from]
				to++
			}
		}
		m.Offsets[i+1] = to
	}
	m.Terms, m.Values = m.Terms[:to:to], m.Values[:to:to]
}
