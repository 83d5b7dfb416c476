package corpus

import (
	"cmp"
	"fmt"
	"math"
	"runtime/debug"
	"slices"
	"sync/atomic"

	"github.com/gramengine/gram/internal/run"
	"github.com/gramengine/gram/sparse"
)

// MemoryError reports that a computation exceeds a memory limit. Computation names the computation.
// NeedBytes is the required memory, and LimitBytes is the limit. LimitSource describes the limit,
// such as "-m allows 60 MiB", or is empty. IsSystemLimit is true if the computer, its container or
// ulimit leaves LimitBytes. IsTotalNeed is true if NeedBytes suffices for the whole computation.
// For reading, Source is the file, or file:line. If the size of the corpus is known, reading fails
// before it starts. Otherwise, reading fails when it exceeds the limit.
type MemoryError = run.MemoryError

func (a *allowance) newMemoryError(source, what string, need int64) error {
	return &MemoryError{Computation: fmt.Sprintf("corpus: %s: %s", source, what), Source: source, NeedBytes: need,
		LimitBytes: a.limit}
}

// allowance counts the memory of reading, including the final copy of the corpus, against
// Options.MemoryBytes. It may be used concurrently. A nil allowance is unlimited.
type allowance struct {
	limit int64
	used  atomic.Int64
	meter *progressMeter
	need  func(Size) int64 // Options.EstimateMemory

	documents, terms, values atomic.Int64 // counts of text sources; each worker counts a term once
}

// add counts bytes that stay allocated until the end of reading.
func (a *allowance) add(bytes int64) {
	if a != nil && bytes != 0 {
		a.used.Add(bytes)
	}
}

// count adds the numbers of documents, new terms and values that were read from text.
func (a *allowance) count(documents, terms, values int) {
	if a != nil {
		a.documents.Add(int64(documents))
		a.terms.Add(int64(terms))
		a.values.Add(int64(values))
	}
}

// Size holds the counts that determine the memory of a corpus.
type Size struct {
	Documents, Terms, Classes int
	Values                    int64 // number of values, including one for each document without terms
	LongestRow                int   // largest number of values of a document
}

// Size returns the counts of the corpus. Terms is the number of terms that occur in documents.
func (c *Corpus) Size() Size {
	m := c.Documents
	terms, _ := m.TermFrequencies()
	return Size{m.Rows(), len(terms), len(c.Classes), m.NNZ() + int64(m.EmptyRowCount()), m.MaxRowLen()}
}

// Bytes returns the size of the documents and their texts in bytes.
func (c *Corpus) Bytes() int64 {
	return c.Documents.Bytes() + fieldBytes*int64(c.Raw.Len()) + c.Raw.Bytes()
}

// Bytes returns the size of the document matrix in bytes.
func (s Size) Bytes() int64 { return 8*s.Values + 8*int64(s.Documents+1) }

// Assumptions about the unread part of a source.
const (
	termGrowthExponent = 0.6 // the number of distinct terms grows with this power of the fraction that was read
	commonTermFraction = 0.5 // fraction of terms in at least MinDF documents
	assumedClasses     = 16
	longestToMean      = 12 // length of the longest document divided by the mean length
	safetyFactor       = 1.15

	documentBytes = 40 // size of a vector in bytes without its values
)

// estimateTotal estimates the memory for reading the whole source, and the size of the corpus.
// share is the fraction of the source that was read. If the fraction is unknown, share is 0, and
// bytes is the memory used so far.
func (a *allowance) estimateTotal() (bytes int64, size Size, share float64) {
	if share = a.meter.parsedFraction(); share == 0 {
		return a.used.Load(), Size{}, 0
	}
	bytes = int64(float64(a.used.Load()) / share)
	size = Size{Documents: int(float64(max(a.documents.Load(), a.meter.documents.Load())) / share),
		Classes: assumedClasses,
		Values:  int64(float64(a.values.Load()) / share),
		Terms:   int(commonTermFraction * float64(a.terms.Load()) * math.Pow(share, -termGrowthExponent))}
	if size.Values == 0 { // vectors
		size.Values = max(bytes-documentBytes*int64(size.Documents), 0) / countedValueBytes
		size.Terms = int(min(size.Values, math.MaxInt32))
	}
	size.LongestRow = int(min(longestToMean*size.Values/int64(max(size.Documents, 1)), int64(size.Terms)))
	return bytes, size, share
}

// A large corpus is joined from its pieces in joinSteps steps. Joined pieces are freed after each
// step, so that at most 1/joinSteps of the corpus is in memory twice.
const (
	joinSteps  = 8
	largeBytes = 64 << 20
)

// joinInSteps calls join for consecutive ranges of n pieces. join must release joined pieces. bytes
// is the size of the result.
func (o *Options) joinInSteps(n int, bytes int64, join func(lo, hi int) error) error {
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

// canAllocate reports whether bytes can be allocated. If not, it marks the limit as exceeded.
func (a *allowance) canAllocate(bytes int64) bool {
	if a == nil || a.used.Load()+bytes <= a.limit {
		return true
	}
	a.add(bytes)
	return false
}

func (a *allowance) exceeded() bool { return a != nil && a.used.Load() > a.limit }

// check returns a MemoryError if the limit is exceeded. place names the position in the source.
func (a *allowance) check(place string) error {
	if !a.exceeded() {
		return nil
	}
	bytes, size, share := a.estimateTotal()
	if share == 0 {
		return a.newMemoryError(place, "reading on", bytes)
	}
	what := fmt.Sprintf("the work, estimated from %.0f%% of the source,", max(100*share, 1))
	return a.limitError(place, what, bytes, size)
}

// checkFits returns a MemoryError if allocating bytes would exceed the limit. size is the size of
// the whole corpus.
func (a *allowance) checkFits(source string, bytes int64, size Size) error {
	if a == nil || a.used.Load()+bytes <= a.limit {
		return nil
	}
	return a.limitError(source, "the whole", a.used.Load()+bytes, size)
}

// limitError returns a MemoryError. NeedBytes is safetyFactor times the maximum of bytes and the
// memory of the planned computation.
func (a *allowance) limitError(source, what string, bytes int64, size Size) error {
	if a.need != nil {
		bytes = max(bytes, a.need(size))
	}
	err := a.newMemoryError(source, what, int64(safetyFactor*float64(bytes))).(*MemoryError)
	err.IsTotalNeed = true
	return err
}

// workerBytes is the memory of a worker in bytes: a few blocks of text and their pieces. If memory
// is scarce, fewer workers run.
const workerBytes = 16 * blockBytes

// blockBytes returns the block size of a worker. It is smaller if memory is scarce, because a
// parsed block of short lines may be many times larger than its text.
func (o *Options) blockBytes() int {
	if o.MemoryBytes == 0 {
		return blockBytes
	}
	return int(min(max(o.MemoryBytes/1024, blockBytes/16), blockBytes))
}

// limitMemory creates the allowance, and limits the number of workers and the line length
// accordingly.
func (o *Options) limitMemory(m *progressMeter) {
	if o.MemoryBytes == 0 {
		return
	}
	o.memory = &allowance{limit: o.MemoryBytes, meter: m, need: o.EstimateMemory}
	o.Workers = int(min(int64(o.Workers), max(o.MemoryBytes/workerBytes, 1)))
	o.decoding.window = max(o.MemoryBytes/8/int64(o.Workers), 1)
	o.MaxLineBytes = int(min(int64(o.MaxLineBytes), max(o.MemoryBytes/8, 1)))
}

// addRowWarnings warns about rows without terms, and about values that float32 may round. at
// returns the position of a row.
func (w *warnings) addRowWarnings(m *sparse.CSR, at func(row int) string) {
	const whole = 1 << 24 // the first integer whose successor isn't a float32
	var empty, rounded tally
	for i := range m.Rows() {
		_, values := m.Row(i)
		if !slices.ContainsFunc(values, func(v float32) bool { return v != 0 }) {
			empty.add(1, int32(i))
		}
		for _, v := range values {
			if v >= whole || v <= -whole {
				rounded.add(1, int32(i))
			}
		}
	}
	w.add("document without terms, kept as an empty row", empty.count, at(int(empty.first)))
	w.add("value beyond ±16,777,215, rounded to float32", rounded.count, at(int(rounded.first)))
}

// newVectorCorpus makes a corpus of vectors without labels. what and row are the nouns for columns
// and a row in messages, such as pixels and image. first is the number of the first row.
func newVectorCorpus(
	file string, m *sparse.CSR, opt *Options, what, row string, first int,
) (*Corpus, error) {
	if n := len(opt.Vocabulary); opt.Vocabulary != nil && n != m.Cols {
		expected := fmt.Sprintf("%d, one for each term of the vocabulary", n)
		return nil, newSyntaxError(fmt.Sprintf("%d %s", m.Cols, what), expected).withPosition(file, 0)
	}
	c := &Corpus{Source: file, Documents: m, Labels: sparse.Labels{Offsets: make([]int64, m.Rows()+1)}}
	limitVectors(c, opt)
	c.warningList().addRowWarnings(m, func(i int) string { return fmt.Sprintf("%s, %s %d", file, row, i+first) })
	return c, nil
}

// limitVectors sets the vocabulary to Options.Vocabulary. If Options.Vocabulary is nil, it removes
// values of columns whose document frequency is outside [MinDF, MaxDF]; column indices don't
// change.
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
