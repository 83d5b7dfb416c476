package corpus

import (
	"context"
	"fmt"
	"sync"

	"github.com/gramengine/gram/corpus/token"
	"github.com/gramengine/gram/sparse"
)

// Counter counts the terms of a fixed vocabulary, such as a model's, in texts or rows. The
// tokenizer and the index of terms are prepared only once. A Counter may be used concurrently.
type Counter struct {
	index     map[string]uint32      // column of each term
	isWord    func(term []byte) bool // see [token.Tokenizer.WordFunc]
	words     []bool                 // words[t] is true if term t is a word
	tokenizer Tokenizer
	pool      sync.Pool // pool of *countState
}

// countState holds the buffers of a call of [Counter.CountUnknown].
type countState struct {
	scanner token.Scanner
	count   map[uint32]float32
	unknown map[string]bool // set of the unknown words found so far
	text    []byte
	sorter  sparse.RowSorter
}

// NewCounter returns a counter of the vocabulary's terms in texts or rows tokenised by t. It fails
// if t is invalid or if the vocabulary repeats a term.
func NewCounter(t Tokenizer, vocabulary []string) (*Counter, error) {
	if err := t.Validate(); err != nil {
		return nil, fmt.Errorf("corpus: Tokenizer: %w", err)
	}
	c := &Counter{index: make(map[string]uint32, len(vocabulary)), isWord: t.WordFunc(),
		words:     make([]bool, len(vocabulary)),
		tokenizer: t}
	for t, term := range vocabulary {
		if _, twice := c.index[term]; twice {
			return nil, fmt.Errorf("corpus: the vocabulary has the term %s twice", quote(term))
		}
		c.index[term], c.words[t] = uint32(t), c.isWord([]byte(term))
	}
	c.pool.New = func() any {
		scan, _ := t.NewScanner()
		return &countState{scanner: *scan, count: map[uint32]float32{}, unknown: map[string]bool{}}
	}
	return c, nil
}

// Count counts the terms of texts. Row i of the matrix holds the term counts of text i. Terms
// outside the vocabulary are dropped. Invalid UTF-8 separates terms. Count returns within a second
// after ctx is done.
func (c *Counter) Count(ctx context.Context, texts []string) (*sparse.CSR, error) {
	m, _, err := c.CountUnknown(ctx, Raw{Texts: texts})
	return m, err
}

// CountUnknown is like Count, but accepts texts or rows, and also returns each document's number of
// distinct out-of-vocabulary words. [token.Tokenizer.WordFunc] defines words, and
// [Counter.KnownWords] counts known words.
func (c *Counter) CountUnknown(ctx context.Context, raw Raw) (m *sparse.CSR, unknown []int, err error) {
	if raw, err = raw.arrangeFor(c.tokenizer); err != nil {
		return nil, nil, err
	}
	m = &sparse.CSR{Cols: len(c.index), Offsets: make([]int64, 1, raw.Len()+1)}
	s := c.pool.Get().(*countState)
	for i := range raw.Len() {
		clear(s.count)
		clear(s.unknown)
		if raw.Rows == nil {
			s.text = append(s.text[:0], raw.Texts[i]...)
			s.scanner.Feed(s.text)
		} else if err := s.scanner.FeedRow(raw.Rows[i]); err != nil {
			return nil, nil, rowError(err).withPosition(fmt.Sprintf("row %d", i), 0)
		}
		for n, term := 1, s.scanner.Next(); term != nil; n, term = n+1, s.scanner.Next() {
			if n%checkInterval == 0 && ctx.Err() != nil {
				return nil, nil, ctx.Err()
			}
			c.add(s, term, 1)
		}
		for _, added := range s.scanner.RowTerms() {
			c.add(s, added.Term, added.Value)
		}
		s.scanner.End()
		if ctx.Err() != nil {
			return nil, nil, ctx.Err()
		}
		unknown = append(unknown, len(s.unknown))
		from := len(m.Terms)
		for t, n := range s.count {
			m.Terms, m.Values = append(m.Terms, t), append(m.Values, n)
		}
		s.sorter.Sort(m.Terms[from:], m.Values[from:])
		m.Offsets = append(m.Offsets, int64(len(m.Terms)))
	}
	c.pool.Put(s) // after an error, s may hold part of a text and isn't reused
	return m, unknown, nil
}

// add adds value to the count of a term. It collects unknown words in s.unknown.
func (c *Counter) add(s *countState, term []byte, value float32) {
	if t, ok := c.index[string(term)]; ok {
		s.count[t] += value
	} else if c.isWord(term) && !s.unknown[string(term)] {
		s.unknown[string(term)] = true
	}
}

// KnownWords returns the number of words among the terms of a document.
func (c *Counter) KnownWords(terms []uint32) (words int) {
	for _, t := range terms {
		if int(t) < len(c.words) && c.words[t] {
			words++
		}
	}
	return words
}
