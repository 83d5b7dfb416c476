package corpus

import (
	"cmp"
	"fmt"
	"math"
	"runtime/debug"
	"slices"
	"sort"
	"sync/atomic"

	"github.com/gramengine/gram/internal/run"
	"github.com/gramengine/gram/sparse"
)

// MemoryError says that a computation needs more memory than it may take: What needs it, and Need and Limit in bytes.
// Machine is true if Limit is what the machine, its container or ulimit leaves, and Enough if Need suffices for all of
// the work, not only for its next step. For documents that are read, Source is their file, or file:line; reading fails
// before it begins if the size is known by then, else when it passes the bound.
type MemoryError = run.MemoryError

// short returns a MemoryError of a source or a place in it.
func (a *allowance) short(source, what string, need int64) error {
	return &MemoryError{What: fmt.Sprintf("corpus: %s: %s", source, what), Source: source, Need: need, Limit: a.limit}
}

// allowance counts the memory of a reader, joining its pieces included, against
// Options.MemoryBytes. It may be used concurrently. nil counts nothing and allows everything.
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

// scarce reports whether more than half of what is allowed is held.
func (a *allowance) scarce() bool { return a != nil && a.limit > 0 && 2*a.held.Load() > a.limit }

// A corpus is joined of its pieces in joinSteps. What a large one has joined is given back after each
// step, so that all of it is in memory once and a step more.
const (
	joinSteps  = 8
	largeBytes = 64 << 20
)

// inSteps calls join for parts of n pieces in their order, after which nothing refers to them. The
// result has so many bytes.
func (o *Options) inSteps(n int, bytes int64, join func(lo, hi int) error) error {
	steps := 1
	if bytes >= largeBytes || o.memory != nil && bytes >= o.memory.limit/joinSteps {
		steps = joinSteps
	}
	for step := range steps {
		if err := join(n*step/steps, n*(step+1)/steps); err != nil {
			return err
		}
		if steps > 1 {
			debug.FreeOSMemory()
		}
	}
	return nil
}

// room reports whether bytes that are needed for a while are there, and passes the bound where they aren't.
func (a *allowance) room(bytes int64) bool {
	if a == nil || a.held.Load()+bytes <= a.limit {
		return true
	}
	a.add(bytes)
	return false
}

// spent reports whether the bound is passed.
func (a *allowance) spent() bool { return a != nil && a.held.Load() > a.limit }

// check returns a MemoryError for the given place if the bound is passed.
func (a *allowance) check(place string) error {
	if a.spent() {
		return a.short(place, "reading on", a.held.Load())
	}
	return nil
}

// fits returns a MemoryError if a whole source would pass the bound.
func (a *allowance) fits(source string, bytes int64) error {
	if a == nil || a.held.Load()+bytes <= a.limit {
		return nil
	}
	return a.short(source, "the whole", a.held.Load()+bytes)
}

// workerBytes is the memory of a worker: a few blocks of text and their pieces. Where memory is
// short there are fewer workers.
const workerBytes = 16 * blockBytes

// blockBytes is how much of a file a worker parses at a time: less where memory is short, since what a block of short
// lines takes is known only when it is parsed, and may be many times as much.
func (o *Options) blockBytes() int {
	if o.MemoryBytes == 0 {
		return blockBytes
	}
	return int(min(max(o.MemoryBytes/1024, blockBytes/16), blockBytes))
}

// bound makes the allowance, and bounds the workers and the longest line by it.
func (o *Options) bound() {
	if o.MemoryBytes == 0 {
		return
	}
	o.memory = &allowance{limit: o.MemoryBytes}
	o.Workers = int(min(int64(o.Workers), max(o.MemoryBytes/workerBytes, 1)))
	o.form.window = max(o.MemoryBytes/8/int64(o.Workers), 1)
	o.MaxLineBytes = int(min(int64(o.MaxLineBytes), max(o.MemoryBytes/8, 1)))
}

// rows warns of rows without terms, and of values that float32 may have rounded; at names the place of a row.
func (w *warnings) rows(m *sparse.CSR, at func(row int) string) {
	count, first := int64(0), 0
	for i := range m.Rows() {
		_, values := m.Row(i)
		if !slices.ContainsFunc(values, func(v float32) bool { return v != 0 }) {
			if count++; count == 1 {
				first = i
			}
		}
	}
	if count > 0 {
		w.add("document without terms, kept as an empty row", count, at(first))
	}
	const whole = 1 << 24 // the first whole number whose successor isn't a float32
	count = 0
	for k, v := range m.Values {
		if v >= whole || v <= -whole {
			if count++; count == 1 {
				first = sort.Search(m.Rows(), func(i int) bool { return m.Offsets[i+1] > int64(k) })
			}
		}
	}
	if count > 0 {
		w.add("value beyond ±16,777,215, where float32 rounds whole numbers", count, at(first))
	}
}

// vectorCorpus makes a corpus without labels of vectors. Errors and warnings call a column what, and
// row 0 by its name and a number: image 1, say.
func vectorCorpus(
	file string, m *sparse.CSR, opt *Options, warn warnings, what, row string, first int,
) (*Corpus, error) {
	if n := len(opt.Vocabulary); opt.Vocabulary != nil && n != m.Cols {
		expected := fmt.Sprintf("%d, one for each term of the vocabulary", n)
		return nil, fault(fmt.Sprintf("%d %s", m.Cols, what), expected).at(file, 0)
	}
	c := &Corpus{Source: file, Documents: m, Labels: sparse.Labels{Offsets: make([]int64, m.Rows()+1)}, Warnings: warn}
	limitVectors(c, opt)
	c.warn().rows(m, func(i int) string { return fmt.Sprintf("%s, %s %d", file, row, i+first) })
	return c, nil
}

// limitVectors names the columns by Options.Vocabulary. Without it, values of the terms whose
// document frequency is outside MinDF and MaxDF are removed; columns keep their numbers.
func limitVectors(c *Corpus, opt *Options) {
	m := c.Documents
	if opt.Vocabulary != nil {
		c.Vocabulary, m.Cols = opt.Vocabulary, len(opt.Vocabulary)
		return
	}
	if opt.MinDF > 1 || opt.MaxDF > 0 {
		m.LimitDF(opt.MinDF, cmp.Or(opt.MaxDF, math.MaxInt))
	}
}
