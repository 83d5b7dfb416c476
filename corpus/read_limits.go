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
	meter *meter
	need  func(Size) int64 // Options.Need

	half                     atomic.Uint64 // the share of the source that took half of limit, in bits
	documents, terms, values atomic.Int64  // of text; a term counts for each worker
}

// add counts bytes that stay until the end of reading.
func (a *allowance) add(bytes int64) {
	if a == nil {
		return
	}
	if held := a.held.Add(bytes); held > a.limit/2 && a.half.Load() == 0 {
		a.half.CompareAndSwap(0, math.Float64bits(a.meter.share()))
	}
}

// count counts documents, new terms and values of text.
func (a *allowance) count(documents, terms, values int) {
	if a != nil {
		a.documents.Add(int64(documents))
		a.terms.Add(int64(terms))
		a.values.Add(int64(values))
	}
}

// Size is the size of a corpus as far as memory depends on it.
type Size struct {
	Documents, Terms, Classes int
	Values                    int64 // with one for each document without terms
	Longest                   int   // values of a document
}

// Size returns the size of the corpus. Terms counts those that documents have.
func (c *Corpus) Size() Size {
	m := c.Documents
	terms, _ := m.TermFrequencies()
	return Size{m.Rows(), len(terms), len(c.Classes), m.NNZ() + int64(m.EmptyRows()), m.LongestRow()}
}

// Bytes returns the memory of the documents and their texts.
func (c *Corpus) Bytes() int64 {
	bytes := c.Documents.Bytes()
	for _, text := range c.Texts {
		bytes += 16 + int64(len(text))
	}
	return bytes
}

// Bytes returns the memory of the documents' matrix.
func (s Size) Bytes() int64 { return 8*s.Values + 8*int64(s.Documents+1) }

// What is assumed of a source of which a part was read.
const (
	newTerms    = 0.6 // the number of different terms grows with this power of the share that was read
	commonTerms = 0.5 // the part of the terms that are in MinDF documents
	someClasses = 16
	longest     = 12   // the longest document, in means
	margin      = 1.15 // of the estimate

	documentBytes = 40 // of vectors, beside the values
)

// whole estimates from the share of the source that was read what reading all of it takes and its size. The share is
// 0 if it isn't known; then bytes are those so far.
func (a *allowance) whole() (bytes int64, size Size, share float64) {
	held := float64(a.held.Load())
	if share = a.meter.share(); share == 0 {
		return a.held.Load(), Size{}, 0
	}
	power := 1.0 // of the share: the first texts have more new terms than the others
	if half := math.Float64frombits(a.half.Load()); half > 0 && half < share && a.values.Load() > 0 {
		power = min(max(math.Log(2*held/float64(a.limit))/math.Log(share/half), newTerms), 1)
	}
	bytes = int64(held * math.Pow(share, -power))
	size = Size{Documents: int(float64(max(a.documents.Load(), a.meter.documents.Load())) / share), Classes: someClasses,
		Values: int64(float64(a.values.Load()) / share),
		Terms:  int(commonTerms * float64(a.terms.Load()) * math.Pow(share, -newTerms))}
	if size.Values == 0 { // vectors
		size.Values = max(bytes-documentBytes*int64(size.Documents), 0) / countedValueBytes
		size.Terms = int(min(size.Values, math.MaxInt32))
	}
	size.Longest = int(min(longest*size.Values/int64(max(size.Documents, 1)), int64(size.Terms)))
	return bytes, size, share
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
	if !a.spent() {
		return nil
	}
	bytes, size, share := a.whole()
	if share == 0 {
		return a.short(place, "reading on", bytes)
	}
	what := fmt.Sprintf("the work, estimated from %.0f%% of the source,", max(100*share, 1))
	return a.refusal(place, what, bytes, size)
}

// fits returns a MemoryError if a whole source, of the size, would pass the bound.
func (a *allowance) fits(source string, bytes int64, size Size) error {
	if a == nil || a.held.Load()+bytes <= a.limit {
		return nil
	}
	return a.refusal(source, "the whole", a.held.Load()+bytes, size)
}

// refusal returns a MemoryError that names what reading and the work on the corpus need.
func (a *allowance) refusal(source, what string, bytes int64, size Size) error {
	if a.need != nil {
		bytes = max(bytes, a.need(size))
	}
	err := a.short(source, what, int64(margin*float64(bytes))).(*MemoryError)
	err.Enough = true
	return err
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
func (o *Options) bound(m *meter) {
	if o.MemoryBytes == 0 {
		return
	}
	o.memory = &allowance{limit: o.MemoryBytes, meter: m, need: o.Need}
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
