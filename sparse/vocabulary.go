package sparse

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"math/bits"
	"slices"

	"github.com/gramengine/gram/sparse/token"
)

// termCounter counts the terms of documents. Each worker has one, which numbers terms in the order
// in which it meets them. [Corpus.fillText] makes one sorted vocabulary.
type termCounter struct {
	index  map[string]uint32
	recent recentTerms
	terms  []string
	df     []uint32 // documents with the term
	count  []uint32 // of each term, in the open document
	opened []uint32 // terms of the open document
	ids    []uint32 // of all closed documents, one after another
	counts []float32
	scan   token.Scanner
	done   <-chan struct{}
	memory *allowance
}

// newCounters returns a counter for each worker.
func newCounters(ctx context.Context, opt *Options) ([]*termCounter, error) {
	if err := opt.askTokenizer(); err != nil {
		return nil, err
	}
	counters := make([]*termCounter, opt.Workers)
	for w := range counters {
		scan, err := opt.Tokenizer.NewScanner()
		if err != nil {
			return nil, fmt.Errorf("sparse: Tokenizer: %w", err)
		}
		counters[w] = &termCounter{scan: *scan, done: ctx.Done(), memory: opt.memory}
	}
	return counters, nil
}

// Memory of the counter and the joined matrix, in bytes: of a value, of a term beside its text, and
// of a document.
const (
	countedValueBytes    = 20
	countedTermBytes     = 96
	countedDocumentBytes = 64
)

// stopEvery is the number of words between two checks for cancellation: the words of one line may
// take longer than a second.
const stopEvery = 1 << 16

// countedDocument says where the terms of a document lie.
type countedDocument struct {
	counter *termCounter
	lo, hi  int64 // in ids and counts
}

// add counts the terms of text in the open document. It returns early once done is closed or memory
// is spent.
func (c *termCounter) add(text []byte) {
	if c.index == nil {
		c.index = map[string]uint32{}
	}
	t := &c.scan
	t.Feed(text)
	words := 0
	var taken int64 // bytes of new terms that memory doesn't know of yet
	for term := t.Next(); term != nil; term = t.Next() {
		if words++; words%stopEvery == 0 {
			c.memory.add(taken)
			if taken = 0; c.memory.spent() {
				return
			}
			select {
			case <-c.done:
				return
			default:
			}
		}
		slot := c.recent.slot(term)
		id := *slot - 1
		if *slot == 0 || c.terms[id] != string(term) {
			var ok bool
			if id, ok = c.index[string(term)]; !ok {
				s := string(term)
				id = uint32(len(c.terms))
				c.terms = append(c.terms, s)
				c.index[s] = id
				taken += countedTermBytes + int64(len(s))
				c.df = append(c.df, 0)
				c.count = append(c.count, 0)
			}
			*slot = id + 1
		}
		if c.count[id] == 0 {
			c.opened = append(c.opened, id)
		}
		c.count[id]++
	}
	c.memory.add(taken)
}

// endDocument closes the open document and opens the next.
func (c *termCounter) endDocument() countedDocument {
	lo := int64(len(c.ids))
	for _, id := range c.opened {
		c.ids = append(c.ids, id)
		c.counts = append(c.counts, float32(c.count[id]))
		c.count[id] = 0
		c.df[id]++
	}
	c.scan.End()
	c.memory.add(countedValueBytes*int64(len(c.opened)) + countedDocumentBytes)
	c.opened = c.opened[:0]
	return countedDocument{c, lo, int64(len(c.ids))}
}

// leftOut marks terms that the vocabulary doesn't hold.
const leftOut = math.MaxUint32

// fillText makes the documents' matrix and its vocabulary: Options.Vocabulary if given, else the
// terms within MinDF and MaxDF, sorted byte by byte. It warns of what it left out; at names the
// place of a document.
func (c *Corpus) fillText(
	ctx context.Context, opt *Options, counters []*termCounter, documents []countedDocument, at func(i int) string,
) error {
	if err := opt.askVocabulary(); err != nil {
		return err
	}
	c.Vocabulary, c.Tokenizer = opt.Vocabulary, opt.Tokenizer.Canonical()
	if c.Vocabulary == nil {
		c.Vocabulary = commonTerms(opt, counters)
	}
	index, err := columnsOf(c.Vocabulary)
	if err != nil {
		return err
	}
	columns := make(map[*termCounter][]uint32, len(counters)) // column of each term of each counter
	for _, counter := range counters {
		columns[counter] = index.of(counter.terms)
		counter.index, counter.terms = nil, nil
	}

	m := &CSR{Cols: len(c.Vocabulary), Offsets: make([]int64, len(documents)+1)}
	lost := make([]int64, len(documents)) // words left out
	err = inChunks(ctx, opt.Workers, len(documents), func(lo, hi int) error {
		for i := lo; i < hi; i++ {
			d := documents[i]
			of := columns[d.counter]
			for p := d.lo; p < d.hi; p++ {
				if of[d.counter.ids[p]] != leftOut {
					m.Offsets[i+1]++
				} else {
					lost[i] += int64(d.counter.counts[p])
				}
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	m.allocate()
	err = inChunks(ctx, opt.Workers, len(documents), func(lo, hi int) error {
		var s rowSorter
		for i := lo; i < hi; i++ {
			d := documents[i]
			of := columns[d.counter]
			terms, values := m.Row(i)
			j := 0
			for p := d.lo; p < d.hi; p++ {
				if t := of[d.counter.ids[p]]; t != leftOut {
					terms[j], values[j] = t, d.counter.counts[p]
					j++
				}
			}
			s.sort(terms, values)
		}
		return nil
	})
	if err != nil {
		return err
	}
	c.Documents = m
	warn := warnings(c.Warnings)
	for i, n := range lost {
		if n > 0 && opt.Vocabulary != nil {
			warn.add(unknownMessage, n, at(i))
		}
	}
	warn.emptyRows(m, at)
	c.Warnings = warn
	return nil
}

// termIndex has the column of each term of a vocabulary.
type termIndex map[string]uint32

// columnsOf checks that a vocabulary has every term once.
func columnsOf(vocabulary []string) (termIndex, error) {
	index := make(termIndex, len(vocabulary))
	for t, term := range vocabulary {
		if _, twice := index[term]; twice {
			return nil, fmt.Errorf("sparse: the vocabulary holds %s twice, expected every term once", quote(term))
		}
		index[term] = uint32(t)
	}
	return index, nil
}

// of returns the columns of terms, leftOut for those that have none.
func (x termIndex) of(terms []string) []uint32 {
	columns := make([]uint32, len(terms))
	for i, term := range terms {
		column, ok := x[term]
		if !ok {
			column = leftOut
		}
		columns[i] = column
	}
	return columns
}

// rowSorter sorts rows by term.
type rowSorter struct {
	pairs []uint64 // term and bits of the value in one word, so that sorting moves both
}

func (s *rowSorter) sort(terms []uint32, values []float32) {
	if slices.IsSorted(terms) {
		return
	}
	s.pairs = s.pairs[:0]
	for k, t := range terms {
		s.pairs = append(s.pairs, uint64(t)<<32|uint64(math.Float32bits(values[k])))
	}
	slices.Sort(s.pairs)
	for k, x := range s.pairs {
		terms[k], values[k] = uint32(x>>32), math.Float32frombits(uint32(x))
	}
}

// commonTerms returns the terms within MinDF and MaxDF over all counters, sorted.
func commonTerms(opt *Options, counters []*termCounter) []string {
	least := uint64(defaultTextMinDF)
	if opt.MinDF > 0 {
		least = uint64(opt.MinDF)
	}
	df := map[string]uint64{}
	for _, c := range counters {
		for id, term := range c.terms {
			df[term] += uint64(c.df[id])
		}
	}
	terms := []string{}
	for term, n := range df {
		if n >= least && (opt.MaxDF == 0 || n <= uint64(opt.MaxDF)) {
			terms = append(terms, term)
		}
	}
	slices.Sort(terms)
	return terms
}

// Tokenizer says how text becomes terms; see package token. The zero value is the default: runs of
// letters in lower case.
type Tokenizer = token.Tokenizer

// ParseTokenizer reads the text form of a tokenizer, such as "word:ngrams=1..2,digits"; see
// [token.Parse].
func ParseTokenizer(s string) (Tokenizer, error) { return token.Parse(s) }

// unknownMessage is the warning for words outside Options.Vocabulary.
const unknownMessage = "word outside the vocabulary, left out"

// recentTerms holds, by hash, the last term with that hash. By Zipf's law nearly all words are
// found here with one comparison, without the map of all terms, which is scattered over memory. On
// 84 MB of program text that saves two fifths of the time of reading.
type recentTerms [1 << recentBits]uint32 // number of the term, from 1

const recentBits = 14

// slot returns the place of a term.
func (r *recentTerms) slot(term []byte) *uint32 { return &r[termHash(term)>>(64-recentBits)] }

// termHash mixes the first and the last eight bytes of a term and its length. Terms that agree in
// them share a place, which only costs time.
func termHash(term []byte) uint64 {
	var a, b uint64
	switch n := len(term); {
	case n >= 8:
		a, b = binary.LittleEndian.Uint64(term), binary.LittleEndian.Uint64(term[n-8:])
	case n >= 4:
		a, b = uint64(binary.LittleEndian.Uint32(term)), uint64(binary.LittleEndian.Uint32(term[n-4:]))
	default:
		for _, c := range term {
			a = a<<8 | uint64(c)
		}
	}
	// Odd constants near 2⁶⁴ divided by the golden ratio and by √2; the high bits of products
	// depend on all bits below.
	high, low := bits.Mul64(a^0x9e3779b97f4a7c15, b^uint64(len(term))^0xb504f333f9de6485)
	return (high ^ low) * 0x9e3779b97f4a7c15
}
