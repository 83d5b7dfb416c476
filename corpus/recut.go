package corpus

import (
	"context"
	"fmt"
	"math"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/gramengine/gram/corpus/token"
	"github.com/gramengine/gram/internal/run"
)

// textStore keeps the texts of documents up to a limit. It may be used concurrently. A nil
// textStore keeps nothing.
type textStore struct {
	keepAll   bool // true if all texts are kept, regardless of size
	remaining atomic.Int64
	memory    *allowance
}

func newTextStore(opt *Options) *textStore {
	if opt.KeepTextBytes <= 0 {
		return nil
	}
	k := &textStore{keepAll: opt.KeepTextBytes == math.MaxInt64, memory: opt.memory}
	k.remaining.Store(opt.KeepTextBytes)
	return k
}

// reserve reserves memory for more text and reports whether this memory is available. If it returns
// false, all texts are dropped.
func (k *textStore) reserve(bytes int64) bool {
	if k == nil {
		return false
	}
	if k.remaining.Add(-bytes) < 0 || !k.keepAll && k.memory != nil && 2*k.memory.used.Load() > k.memory.limit {
		k.remaining.Store(math.MinInt64 / 2)
		return false
	}
	const copies = 2 // a text is in the counter's buffer, and is copied when its document is closed
	k.memory.add(copies * bytes)
	return true
}

// collect returns the texts or rows of all documents, or none if they exceeded the limit.
func (k *textStore) collect(counters []*termCounter, documents []countedDocument, columns []string) (raw Raw) {
	if k == nil || k.remaining.Load() < 0 {
		return raw
	}
	if columns == nil {
		raw.Texts = make([]string, len(documents))
		for i, d := range documents {
			raw.Texts[i] = counters[d.counter].docs[d.index]
		}
		return raw
	}
	raw.Columns, raw.Rows = columns, make([][]string, len(documents))
	for i, d := range documents {
		raw.Rows[i] = counters[d.counter].rows[d.index]
	}
	return raw
}

// Retokenize returns a corpus of the given documents of c, or of all documents if documents is nil.
// It tokenises their texts again according to opt.Tokenizer, MinDF, MaxDF and Vocabulary. If MinDF
// and MaxDF are both 0 and documents are rows of a table, the limits with which c was read apply.
// Workers, MemoryBytes and Progress of opt are also used, and other options are ignored. Classes
// are unchanged. It fails if c has no Texts or Rows.
func (c *Corpus) Retokenize(ctx context.Context, documents []int, opt Options) (*Corpus, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	if !c.HasRawDocuments() {
		return nil, fmt.Errorf("corpus: %s has no texts; read it with Options.KeepTextBytes", c.Source)
	}
	for _, i := range documents {
		if i < 0 || i >= c.Raw.Len() {
			return nil, fmt.Errorf("corpus: %s: document must be between 0 and %d, got %d", c.Source, c.Raw.Len()-1, i)
		}
	}
	out := *c
	if documents != nil {
		out = *c.Select(documents)
	}
	own := Options{Workers: opt.Workers, MemoryBytes: opt.MemoryBytes, Progress: opt.Progress, Tokenizer: opt.Tokenizer,
		MinDF: opt.MinDF, MaxDF: opt.MaxDF, Vocabulary: opt.Vocabulary, mayHaveRows: c.Rows != nil}
	if c.Rows != nil && own.MinDF == 0 && own.MaxDF == 0 {
		own.MinDF, own.MaxDF = c.minDF, c.maxDF
	}
	if err := own.validate(); err != nil {
		return nil, err
	}
	var err error
	if out.Raw, err = out.Raw.arrangeFor(opt.Tokenizer); err != nil {
		return nil, err
	}
	return own.readWith(ctx, func(ctx context.Context, opt *Options, m *progressMeter) (*Corpus, error) {
		cut, err := opt.tokenize(ctx, out.Raw, nil, m, c.Source, out.DocumentName)
		if err != nil {
			return nil, err
		}
		out.Documents, out.Vocabulary, out.Tokenizer, out.Scripts = cut.Documents, cut.Vocabulary, cut.Tokenizer, cut.Scripts
		out.Hashes, out.Warnings = cut.Hashes, cut.Warnings
		return &out, nil
	})
}

// fitScales sets the scales of numeric columns from the numbers of all rows, and adds the columns'
// terms to the documents.
func (o *Options) fitScales(
	ctx context.Context, source string, counters []*termCounter, documents []countedDocument,
) (err error) {
	columns := o.Tokenizer.Columns()
	values := make([][]float64, len(columns))
	err = run.Parallel(ctx, o.Workers, len(columns), func(k int) {
		if !columns[k].IsNumber {
			return
		}
		values[k] = make([]float64, 0, len(documents))
		for _, counter := range counters {
			for _, page := range counter.numbers {
				for at := k; at < len(page); at += len(values) {
					if x := page[at]; !math.IsNaN(x) {
						values[k] = append(values[k], x)
					}
				}
			}
		}
	})
	if err != nil {
		return err
	}
	if o.Tokenizer, err = o.Tokenizer.Fit(values); err != nil {
		return fmt.Errorf("corpus: %s: %w", source, err)
	}
	return run.Parallel(ctx, len(counters), len(counters), func(w int) {
		counter := counters[w]
		scan, _ := o.Tokenizer.NewScanner()
		for i := range documents {
			d := &documents[i]
			if d.counter != counter.counterIndex || ctx.Err() != nil {
				continue
			}
			row := int(d.index % pageRows)
			scan.FeedNumbers(counter.numbers[d.index/pageRows][row*len(values):][:len(values)])
			counter.addRowTerms(scan.RowTerms())
			page := d.page
			counter.closeTerms(d, counter.termsOf(d))
			if page > 0 && counter.pages[page-1] != nil {
				counter.freePages = append(counter.freePages, counter.pages[page-1][:0])
				counter.pages[page-1] = nil
			}
		}
		counter.numbers, counter.freePages = nil, nil
	})
}

// TermOptions is a tokenizer with a minimum document frequency.
type TermOptions struct {
	Tokenizer Tokenizer
	MinDF     int // minimum document frequency of a term; 0 for the default
}

// String returns the tokenizer's text form, and MinDF if it isn't the default. It omits the scales
// of numeric columns, which are fitted to training documents.
func (t TermOptions) String() string {
	tokenizer := t.Tokenizer.WithoutScales().String()
	if t.MinDF == 0 {
		return tokenizer
	}
	return fmt.Sprintf("%s, min-df %d", tokenizer, t.MinDF)
}

// ShortString is like String, but abbreviates long lists of columns, and omits MinDF if there are
// columns.
func (t TermOptions) ShortString() string {
	if !t.Tokenizer.HasColumns() {
		return t.String()
	}
	return t.Tokenizer.ShortString()
}

// ParseTermOptions parses the result of [TermOptions.String], including views such as "words:1..2 +
// chars:2..5" (see [Tokenizer]). "" is the default.
func ParseTermOptions(s string) (TermOptions, error) {
	text, least, ok := strings.Cut(s, ", min-df ")
	var t TermOptions
	var err error
	if ok {
		if t.MinDF, err = strconv.Atoi(least); err != nil || t.MinDF < 1 {
			return TermOptions{}, fmt.Errorf("corpus: terms %q: min-df must be a positive number, got %q", s, least)
		}
	}
	if text != "" {
		t.Tokenizer, err = token.ParseViews(text)
	}
	return t, err
}

// Tokenize returns a corpus whose texts are tokenised by t, without the texts. It uses the other
// fields of opt and returns errors as [Corpus.Retokenize] does.
func (t TermOptions) Tokenize(ctx context.Context, c *Corpus, opt Options) (*Corpus, error) {
	opt.Tokenizer, opt.MinDF = t.Tokenizer, t.MinDF
	cut, err := c.Retokenize(ctx, nil, opt)
	if err == nil {
		cut.Raw = Raw{}
	}
	return cut, err
}
