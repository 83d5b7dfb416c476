package corpus

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"sync/atomic"

	"github.com/cespare/xxhash/v2"

	"github.com/gramengine/gram/corpus/internal/intern"
	"github.com/gramengine/gram/corpus/token"
	"github.com/gramengine/gram/internal/run"
	"github.com/gramengine/gram/sparse"
)

// termCounter counts the terms of documents. Each worker has a counter, which assigns IDs to terms
// in order of occurrence. [Corpus.setDocuments] merges the counters into one sorted vocabulary.
type termCounter struct {
	terms        intern.Table
	states       []termState
	openTerms    []uint32    // terms of the open document
	columnTerms  []termCount // terms of columns in the open document
	counterIndex uint32
	closedCount  uint32        // number of closed documents
	pages        [][]termCount // terms of closed documents
	freePages    [][]termCount // unused pages
	scanner      token.Scanner
	done         <-chan struct{}
	memory       *allowance
	texts        *textStore
	text         []byte        // text of the open document, if texts are kept
	docs         []string      // texts of closed documents
	rows         [][]string    // rows of documents, if rows are kept
	fitsScales   bool          // true if scales of numbers are fitted to the rows
	numbers      [][]float64   // values of numeric columns, if fitsScales is set, in pages of pageRows rows
	hash         xxhash.Digest // hash of the open document
	rowText      []byte        // fields of the open row, each with a NUL
}

// termState holds the counts of a term.
type termState struct {
	df    uint32 // number of documents with the term
	count uint32 // count in the open document
}

// termCount is the count or value of a term in a document.
type termCount struct {
	term  uint32
	count float32
}

// pageTerms and pageRows are the number of terms in a page of documents, and the number of rows in
// a page of numbers.
const pageTerms, pageRows = 32 << 10, 4 << 10

func newCounters(ctx context.Context, opt *Options) ([]*termCounter, error) {
	if opt.Tokenizer.HasColumns() && !opt.mayHaveRows {
		return nil, fmt.Errorf("corpus: tokenizer %s has views of columns, but the texts have no columns; "+
			"use a CSV table or JSON objects", opt.Tokenizer)
	}
	keep, fits := *opt, opt.Tokenizer.NeedsScales()
	if opt.Tokenizer.NeedsWidth() && opt.Vocabulary == nil {
		keep.KeepTextBytes = max(keep.KeepTextBytes, keep.KeepRowBytes)
	}
	texts := newTextStore(&keep)
	counters := make([]*termCounter, opt.Workers)
	for w := range counters {
		scan, err := opt.Tokenizer.NewScanner()
		if err != nil {
			return nil, fmt.Errorf("corpus: Tokenizer: %w", err)
		}
		counters[w] = &termCounter{scanner: *scan, done: ctx.Done(), memory: opt.memory, texts: texts, fitsScales: fits,
			counterIndex: uint32(w), hash: *xxhash.New()}
	}
	return counters, nil
}

// Memory per value, per term without its text, and per document, in bytes. It includes the memory
// for one step of joining.
const (
	countedValueBytes    = 8 + 8/joinSteps
	countedTermBytes     = intern.MaxTermBytes + 32
	countedDocumentBytes = 160
)

// checkInterval is the number of terms between two checks for cancellation within a document,
// because a single document may take longer than a second.
const checkInterval = 1 << 16

// countedDocument is a closed document. It has no pointers, so that the garbage collector doesn't
// scan it.
type countedDocument struct {
	counter                    uint32 // index of its counter
	index                      uint32 // number of earlier documents of the counter
	page, firstTerm, termCount uint32 // page in the counter, index of the first term in the page, and number of terms
	hash                       uint64 // hash of the text or row
}

func (c *termCounter) termsOf(d *countedDocument) []termCount {
	return c.pages[d.page][d.firstTerm:][:d.termCount]
}

// add counts the terms of text in the open document. It returns early if done is closed or the
// memory limit is exceeded.
func (c *termCounter) add(text []byte) {
	if c.texts.reserve(int64(len(text))) {
		c.text = append(c.text, text...)
	}
	c.hash.Write(text)
	c.scanner.Feed(text)
	c.countScanned()
}

func (c *termCounter) addRow(fields []string) error {
	if err := c.scanner.FeedRow(fields); err != nil {
		return err
	}
	if c.texts.reserve(rowSize(fields)) {
		c.rows = append(c.rows, slices.Clone(fields))
	}
	if c.fitsScales {
		x := c.scanner.Numbers()
		if c.closedCount%pageRows == 0 {
			c.numbers = append(c.numbers, make([]float64, 0, pageRows*len(x)))
		}
		c.numbers[c.closedCount/pageRows] = append(c.numbers[c.closedCount/pageRows], x...)
		c.memory.add(int64(8 * len(fields)))
	}
	c.countScanned()
	c.rowText = c.rowText[:0]
	for _, field := range fields {
		c.rowText = append(append(c.rowText, field...), 0)
	}
	c.hash.Write(c.rowText)
	return nil
}

func (c *termCounter) countScanned() {
	t, words := &c.scanner, 0
	known := len(c.states)
	var taken int64 // bytes of new terms that aren't yet counted against the limit
	for term := t.Next(); term != nil; term = t.Next() {
		if words++; words%checkInterval == 0 {
			c.memory.add(taken)
			if taken = 0; c.memory.exceeded() {
				return
			}
			select {
			case <-c.done:
				return
			default:
			}
		}
		id := c.id(term, &taken)
		met := &c.states[id]
		if met.count == 0 {
			c.openTerms = append(c.openTerms, id)
		}
		met.count++
	}
	c.memory.add(taken)
	c.addRowTerms(t.RowTerms())
	c.memory.count(0, len(c.states)-known, 0)
}

func (c *termCounter) addRowTerms(terms []token.RowTerm) {
	var taken int64
	for _, added := range terms {
		c.columnTerms = append(c.columnTerms, termCount{c.id(added.Term, &taken), added.Value})
	}
	c.memory.add(taken)
}

// id returns the ID of a term. If the term is new, it adds the term's memory to taken.
func (c *termCounter) id(term []byte, taken *int64) uint32 {
	id := c.terms.Intern(term)
	if int(id) == len(c.states) {
		if len(c.states) == cap(c.states) {
			c.states = slices.Grow(c.states, max(len(c.states), 1<<10))
		}
		c.states = append(c.states, termState{})
		*taken += countedTermBytes + int64(len(term))
	}
	return id
}

func (c *termCounter) openTermCount() int { return len(c.openTerms) + len(c.columnTerms) }

// closeTerms stores the terms in first, followed by the terms of the open document, as the terms of
// d. It empties the open document.
func (c *termCounter) closeTerms(d *countedDocument, first []termCount) {
	n := len(first) + c.openTermCount()
	last := len(c.pages) - 1
	if last < 0 || len(c.pages[last])+n > cap(c.pages[last]) {
		last++
		var page []termCount
		if k := len(c.freePages) - 1; k >= 0 && n <= cap(c.freePages[k]) {
			page, c.freePages = c.freePages[k], c.freePages[:k]
		} else {
			page = make([]termCount, 0, max(n, pageTerms))
		}
		c.pages = append(c.pages, page)
	}
	d.page, d.firstTerm, d.termCount = uint32(last), uint32(len(c.pages[last])), uint32(n)
	terms := append(c.pages[last], first...)
	for _, id := range c.openTerms {
		met := &c.states[id]
		terms = append(terms, termCount{id, float32(met.count)})
		met.count = 0
		met.df++
	}
	c.pages[last] = append(terms, c.columnTerms...)
	for _, t := range c.columnTerms {
		c.states[t.term].df++
	}
	c.memory.add(countedValueBytes * int64(c.openTermCount()))
	c.memory.count(0, 0, c.openTermCount())
	c.openTerms, c.columnTerms = c.openTerms[:0], c.columnTerms[:0]
}

// endDocument closes the open document and opens the next one.
func (c *termCounter) endDocument() countedDocument {
	d := countedDocument{counter: c.counterIndex, index: c.closedCount}
	c.closedCount++
	c.closeTerms(&d, nil)
	c.scanner.End()
	c.memory.add(countedDocumentBytes)
	c.memory.count(1, 0, 0)
	if c.texts != nil && c.rows == nil {
		c.docs = append(c.docs, string(c.text))
		c.text = c.text[:0]
	}
	d.hash = c.hash.Sum64()
	c.hash.Reset()
	return d
}

// droppedColumn is the column of a term outside the vocabulary. reportedColumn is the column of
// such a term after [Corpus.warnColumns] has reported it.
const droppedColumn, reportedColumn = math.MaxUint32, math.MaxUint32 - 1

// setDocuments sets the document matrix and the vocabulary. The vocabulary is Options.Vocabulary if
// set, else the terms within MinDF and MaxDF in byte order. It warns about terms outside
// Options.Vocabulary, and frees the terms in counters. at returns a document's position.
func (c *Corpus) setDocuments(
	ctx context.Context, opt *Options, counters []*termCounter, documents []countedDocument, at func(i int) string,
) error {
	if err := opt.resolveVocabulary(); err != nil {
		return err
	}
	if counters[0].fitsScales {
		if err := opt.fitScales(ctx, c.Source, counters, documents); err != nil {
			return err
		}
	}
	c.Vocabulary, c.Tokenizer = opt.Vocabulary, opt.Tokenizer.Canonical()
	scanners := make([]*token.Scanner, len(counters))
	for w, counter := range counters {
		scanners[w] = &counter.scanner
	}
	c.Scripts = token.CountScripts(scanners...)
	c.Tokenizer = c.Tokenizer.WithPairs(len(c.Scripts) > 0)
	if c.Raw = counters[0].texts.collect(counters, documents, c.Tokenizer.Columns().Names()); c.Rows != nil {
		c.minDF, c.maxDF = opt.MinDF, opt.MaxDF
	}
	columns, err := c.assignColumns(opt, counters, documents, at)
	if err != nil {
		return err
	}
	views, err := TokenizerViews(c.Tokenizer, c.Vocabulary)
	if err != nil {
		return err
	}
	if opt.Vocabulary == nil {
		c.warnViews(views)
	}
	m := &sparse.CSR{Cols: len(c.Vocabulary), Offsets: make([]int64, len(documents)+1), Views: views}
	lost := make([]int64, len(documents)) // number of dropped words, or of dropped terms of a row
	rows := c.Tokenizer.HasColumns()
	var words atomic.Int64
	err = run.ForEachChunk(ctx, opt.Workers, len(documents), func(_, lo, hi int) error {
		var n int64
		defer func() { words.Add(n) }()
		for i := lo; i < hi; i++ {
			of := columns[documents[i].counter]
			for _, t := range counters[documents[i].counter].termsOf(&documents[i]) {
				count := int64(1)
				if !rows {
					count = int64(t.count)
				}
				switch n += count; of[t.term] {
				case reportedColumn:
				case droppedColumn:
					lost[i] += count
				default:
					m.Offsets[i+1]++
				}
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	m.Allocate()
	dense := make([]denseRow, opt.Workers)
	err = opt.joinInSteps(len(documents), 8*m.NNZ(), func(first, end int) error {
		err := run.ForEachChunk(ctx, opt.Workers, end-first, func(w, lo, hi int) error {
			row := &dense[w]
			row.grow(m.Cols)
			for i := first + lo; i < first+hi; i++ {
				d := &documents[i]
				of := columns[d.counter]
				for _, t := range counters[d.counter].termsOf(d) {
					if column := of[t.term]; column < reportedColumn {
						row.set(column, t.count)
					}
				}
				row.drain(m.Row(i))
			}
			return nil
		})
		for _, d := range documents[first:end] {
			if d.page > 0 { // the previous page can now be freed
				counters[d.counter].pages[d.page-1] = nil
			}
		}
		return err
	})
	if err != nil {
		return err
	}
	c.Documents, c.Hashes = m, make([]uint64, len(documents))
	for i, d := range documents {
		c.Hashes[i] = d.hash
	}
	warn := c.warningList()
	for i, n := range lost {
		if n > 0 && opt.Vocabulary != nil {
			warn.addWarning(Warning{Message: unknownMessage, Count: n, Of: words.Load(), First: at(i)})
		}
	}
	warn.addRowWarnings(m, at)
	if m.Cols == 0 && opt.Vocabulary == nil && slices.Max(lost) > 0 {
		warn.addWithOption("no term occurs in at least MinDF documents", 1, at(0), "MinDF", "1 keeps terms of one document")
	}
	return nil
}

// vocabularyColumns returns the column of each term in a table, or droppedColumn if the term isn't
// in the vocabulary. It adds the vocabulary to the table, and checks that the vocabulary's terms
// are distinct.
func vocabularyColumns(table *intern.Table, vocabulary []string) ([]uint32, error) {
	columns := slices.Repeat([]uint32{droppedColumn}, table.Len())
	var buf []byte
	for t, term := range vocabulary {
		buf = append(buf[:0], term...)
		id := table.Intern(buf)
		if int(id) == len(columns) {
			columns = append(columns, droppedColumn)
		}
		if columns[id] != droppedColumn {
			return nil, fmt.Errorf("corpus: the vocabulary has the term %s twice", quote(term))
		}
		columns[id] = uint32(t)
	}
	return columns, nil
}

// assignColumns sets c.Vocabulary if it is nil. For each counter, it returns the columns of the
// counter's terms, with droppedColumn for a term without a column. It frees the counters' terms.
func (c *Corpus) assignColumns(
	opt *Options, counters []*termCounter, documents []countedDocument, at func(i int) string,
) ([][]uint32, error) {
	all := &counters[0].terms // merged terms
	df := make([]uint64, all.Len())
	joined := make([][]uint32, len(counters)) // joined[w][i] is the ID in all of term i of counter w
	for at, counter := range counters {
		numbers := make([]uint32, len(counter.states))
		for id, met := range counter.states {
			n := uint32(id)
			if at > 0 {
				if n = all.Intern(counter.terms.Term(n)); int(n) == len(df) {
					df = append(df, 0)
				}
			}
			df[n] += uint64(met.df)
			numbers[id] = n
		}
		joined[at] = numbers
		if counter.states = nil; at > 0 {
			counter.terms = intern.Table{}
		}
	}
	if c.Vocabulary == nil {
		c.Vocabulary = opt.commonTerms(all, df)
	}
	column, err := vocabularyColumns(all, c.Vocabulary)
	if err != nil {
		return nil, err
	}
	if c.Tokenizer.HasColumns() {
		c.warnColumns(opt, all, column, counters, documents, joined, at)
	}
	for _, numbers := range joined {
		for id, n := range numbers {
			numbers[id] = column[n]
		}
	}
	*all = intern.Table{}
	return joined, nil
}

// warnColumns warns about missing numbers and vectors and, if Options.Vocabulary is set, about
// values that didn't occur in training. It sets the columns of such values to reportedColumn.
func (c *Corpus) warnColumns(
	opt *Options, all *intern.Table, column []uint32, counters []*termCounter, documents []countedDocument,
	joined [][]uint32, at func(i int) string,
) {
	var list []Warning
	index, known, remark := map[string]int{}, opt.Vocabulary != nil, c.Tokenizer.DescribeTerms()
	of := make([]int, len(column)) // of[n] is 1 + index in list for term n, or 0
	for n, to := range column {
		r := remark(string(all.Term(uint32(n))))
		if r == nil {
			continue
		}
		unseen := known && to == droppedColumn
		if unseen {
			column[n] = reportedColumn
		}
		message := "column " + r.Column + ": "
		switch {
		case r.IsMissing && r.IsVector && (known || opt.fromFile):
			message += "vector missing"
		case r.IsMissing && unseen:
			message += "missing value, but no value was missing in training"
		case r.IsMissing && r.IsNumber && (known || opt.fromFile):
			message += "number missing"
		case r.IsOutside() && unseen:
			message += fmt.Sprintf("number outside the training range %.6g to %.6g", r.Min, r.Max)
		case !r.IsNumber && unseen:
			message += "value not seen in training"
		default:
			continue
		}
		if _, ok := index[message]; !ok {
			index[message], list = len(list), append(list, Warning{Message: message})
		}
		of[n] = 1 + index[message]
	}
	if list == nil {
		return
	}
	for i, d := range documents {
		for _, t := range counters[d.counter].termsOf(&d) {
			n := joined[d.counter][t.term]
			if of[n] == 0 {
				continue
			}
			w := &list[of[n]-1]
			if w.Count++; w.Count == 1 {
				w.First = at(i)
				if r := remark(string(all.Term(n))); r.Value != "" {
					w.Message += ", such as " + quote(r.Value)
				}
			}
		}
	}
	slices.SortFunc(list, func(a, b Warning) int { return cmp.Compare(a.Message, b.Message) })
	c.Warnings = append(c.Warnings, list...)
}

// commonTerms returns the terms within MinDF and MaxDF, and all coordinates of vectors, in sorted
// order. It omits terms of numbers outside a scale's range.
func (o *Options) commonTerms(all *intern.Table, df []uint64) []string {
	least := uint64(cmp.Or(o.MinDF, defaultTextMinDF))
	terms, remark := []string{}, o.Tokenizer.DescribeTerms()
	for id, n := range df {
		term := string(all.Term(uint32(id)))
		r := remark(term)
		keep := n >= least && (o.MaxDF == 0 || n <= uint64(o.MaxDF))
		switch {
		case r != nil && r.IsVector:
			keep = !r.IsMissing // a missing vector is the zero vector
		case r != nil && r.IsOutside():
			keep = false
		}
		if keep {
			terms = append(terms, term)
		}
	}
	slices.Sort(terms)
	return terms
}
