package gram

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"

	"github.com/minio/sha256-simd"

	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/corpus/token"
	"github.com/gramengine/gram/engine"
	"github.com/gramengine/gram/internal/run"
	"github.com/gramengine/gram/sparse"
)

// IndexOptions are the options of [NewIndex]. The zero value works.
type IndexOptions struct {
	Options
	Tokenizer corpus.Tokenizer // tokenizer of texts; default lower-case words of letters and digits
	Embedding string           // embedding of the documents; default tf-l1-sqrt
}

// Match holds a document of an index and its float32 distance c = 1 − cosine from the query.
type Match = engine.Match

// Index is an exact nearest-neighbour index of texts. Documents can be added and removed. Documents
// are numbered from 0 in order of insertion. Numbers aren't reused.
//
// Only [NewIndex] and [Index.Refit] compute term weights, such as idf. Query results are the same
// as from a new index of the current documents with these weights. A term that is added later is
// weighted as if a single document contained it.
//
// A query is compared with each document added since the last build, in less than a microsecond per
// document. Add rebuilds an index of n documents when more than 1,024 + 8√n documents were added
// since the last build. A rebuild doesn't change query results. For a million short texts, a
// rebuild takes some seconds and happens once per 9,000 added texts. An index takes about 100 bytes
// per document, 8 bytes per distinct term of each document, 300 bytes per distinct term of the
// index, and the memory of an [engine.Index]. Remove frees the memory of removed documents when
// more than 1,024 documents, and more than half of all documents, are removed.
//
// An Index may be used concurrently. Queries run during changes, and each text of a query sees a
// call of Add or Remove completely or not at all.
type Index struct {
	o           IndexOptions
	embedding   sparse.Embedding
	tokenizer   corpus.Tokenizer
	scanners    sync.Pool // pool of *token.Scanner
	initialized bool

	writeMu    sync.Mutex   // held during a change
	mu         sync.RWMutex // guards the fields below
	column     map[string]uint32
	vocabulary []string // terms indexed by column
	state      *indexState
}

// indexState is an immutable state of an index. Each change creates a new state.
type indexState struct {
	index         *engine.Index    // index of documents[:builtCount]
	embedder      *sparse.Embedder // fitted embedder, with spare columns for new terms
	fittedColumns int              // number of columns with fitted term weights
	documents     []indexDocument  // documents in ascending order of number, including removed documents
	builtCount    int              // number of documents at the last build
	removed       []uint64         // bit set of removed documents, by index into documents
	removedCount  int
	nextNumber    int
	stats         IndexStats // statistics returned by Index.Stats; NewTerms isn't set
}

func (s *indexState) contains(at int) bool {
	return at/64 >= len(s.removed) || s.removed[at/64]>>(at%64)&1 == 0
}

func (s *indexState) currentDocuments() (documents []indexDocument) {
	for at, d := range s.documents {
		if s.contains(at) {
			documents = append(documents, d)
		}
	}
	return documents
}

func matrixOf(documents []indexDocument, columns int) *sparse.CSR {
	m := &sparse.CSR{Cols: columns, Offsets: []int64{0}}
	for _, d := range documents {
		m.Terms, m.Values = append(m.Terms, d.terms...), append(m.Values, d.counts...)
		m.Offsets = append(m.Offsets, int64(len(m.Terms)))
	}
	return m
}

type indexDocument struct {
	number int
	terms  []uint32
	counts []float32
	x      *sparse.Embedded // embedded document; nil if it is in indexState.index
}

// IndexStats counts documents, and changes since [NewIndex], [LoadIndex] or [Index.Refit].
type IndexStats struct {
	Documents      int // number of documents in the index
	Added, Removed int // numbers of documents added and removed
	NewTerms       int // number of terms added since term weights were computed
}

// blankTerm returns a term for a text without terms. Only equal texts get the same term.
func blankTerm(text string) string { return fmt.Sprintf("\x00%x", sha256.Sum256([]byte(text))) }

const (
	spareColumns     = 1 << 16 // minimum number of columns that build reserves for new terms
	rebuildThreshold = 1 << 10 // minimum number of added, or of removed, documents that causes a rebuild
)

func (s *indexState) fittedEmbedder() sparse.Embedder {
	e := s.embedder
	out := sparse.Embedder{Embedding: e.Embedding, Documents: e.Documents, DF: e.DF[:s.fittedColumns],
		Terms: e.Terms[:s.fittedColumns]}
	if e.Weights != nil {
		out.Weights = e.Weights[:s.fittedColumns]
	}
	return out
}

// rebuild rebuilds the index with the current term weights. It reserves newColumns columns for new
// terms, in addition to spareColumns.
func (x *Index) rebuild(ctx context.Context, s *indexState, newColumns int) (*indexState, error) {
	names, documents, err := x.compact(s, s.fittedColumns)
	if err != nil {
		return nil, err
	}
	weights, err := sparse.RestoreEmbedder(s.fittedEmbedder())
	if err != nil {
		return nil, err
	}
	if err := x.build(ctx, names, documents, weights, s.nextNumber, newColumns, s.stats); err != nil {
		return nil, err
	}
	return x.state, nil
}

// NewIndex returns an index of texts. If texts is empty, idf weights are 0, so embeddings with idf
// can't distinguish texts until [Index.Refit]. It fails if the embedding is unknown, scales columns
// or requires labels, if the tokenizer has views, or for the same reasons as [FromTexts].
func NewIndex(ctx context.Context, texts []string, o IndexOptions) (_ *Index, err error) {
	defer convertError(&err)
	x := &Index{o: o, embedding: sparse.SphereEmbedding, initialized: true}
	if o.Embedding != "" {
		if x.embedding, err = sparse.ParseEmbedding(o.Embedding); err != nil {
			return nil, err
		}
	}
	if x.embedding.Scales() {
		return nil, fmt.Errorf("gram: an index needs a text embedding, got %s", x.embedding)
	}
	if views, err := o.Tokenizer.SplitViews(); err != nil || views != nil {
		return nil, cmp.Or(err, errors.New("gram: an index cannot use a tokenizer with views"))
	}
	if o.Tokenizer == (corpus.Tokenizer{}) {
		o.Tokenizer = corpus.NearDuplicateTokenizer
	}
	x.tokenizer = o.Tokenizer.Canonical().WithPairs(true) // readers set Pairs, too
	c, documents := &corpus.Corpus{}, make([]indexDocument, len(texts))
	if len(texts) > 0 {
		c, err = FromTexts(ctx, texts, nil, ReadOptions{Options: o.Options, MinDF: 1, Tokenizer: o.Tokenizer})
	} else {
		err = errors.Join(run.CheckContext(ctx, "gram"), o.check(), o.Tokenizer.Validate())
	}
	if err != nil {
		return nil, err
	}
	column := columnsOf(c.Vocabulary)
	for i := range documents {
		terms, counts := c.Documents.Row(i)
		if len(terms) == 0 {
			name := blankTerm(texts[i])
			at, known := column[name]
			if !known {
				at = uint32(len(c.Vocabulary))
				column[name], c.Vocabulary = at, append(c.Vocabulary, name)
			}
			terms, counts = []uint32{at}, []float32{1}
		}
		documents[i] = indexDocument{number: i, terms: terms, counts: counts}
	}
	if err := x.build(ctx, c.Vocabulary, documents, nil, len(texts), 0, IndexStats{Documents: len(texts)}); err != nil {
		return nil, err
	}
	return x, nil
}

// build replaces the contents of x with an index of documents. A document's columns are indices
// into names. If weights is nil, build fits the embedding. It reserves at least spareColumns +
// newColumns columns for new terms.
func (x *Index) build(
	ctx context.Context, names []string, documents []indexDocument, weights *sparse.Embedder, next, newColumns int,
	stats IndexStats,
) error {
	m, columns := matrixOf(documents, len(names)), 2*len(names)+spareColumns+newColumns
	// Memory outside the engine: up to two copies of the counts, and a term and a weight per
	// column.
	held := 2*m.Bytes() + 32*int64(columns)
	for _, name := range names {
		held += 80 + int64(len(name))
	}
	if err := run.CheckMemory(held, x.o.MemoryBytes, "gram: an index of %d documents", len(documents)); err != nil {
		return err
	}
	for i := range documents {
		documents[i].x = nil
	}
	s := &indexState{documents: documents, builtCount: len(documents), fittedColumns: len(names), nextNumber: next,
		stats: stats}
	if weights == nil {
		weights = x.embedding.Fit(m)
	}
	if err := weights.Validate(); err != nil {
		return err
	}
	s.fittedColumns = len(weights.Terms)
	wide := sparse.Embedder{Embedding: x.embedding, Documents: max(weights.Documents, 1),
		Terms: slices.Clone(weights.Terms), DF: slices.Clone(weights.DF), Weights: slices.Clone(weights.Weights)}
	for t := len(wide.Terms); t < columns; t++ {
		wide.Terms, wide.DF = append(wide.Terms, uint32(t)), append(wide.DF, 1)
		if weights.Weights != nil {
			wide.Weights = append(wide.Weights, math.Log(float64(wide.Documents)))
		}
	}
	var err error
	if s.embedder, err = sparse.RestoreEmbedder(wide); err != nil {
		return err
	}
	m.Cols = len(wide.Terms)
	embedded, err := s.embedder.TransformRows(ctx, m, nil, x.o.Workers)
	if err != nil {
		return err
	}
	o := x.o.engineOptions(embedded, "indexing")
	if o.MemoryBytes > 0 {
		o.MemoryBytes = max(o.MemoryBytes-held, 1)
	}
	if s.index, err = engine.NewIndex(ctx, embedded, o); err != nil {
		return err
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	x.vocabulary, x.column, x.state = names, columnsOf(names), s
	return nil
}

// count returns the distinct terms of a text in order of first occurrence, and the term counts.
func (x *Index) count(ctx context.Context, text string) (terms []string, counts []float32, err error) {
	scan, _ := x.scanners.Get().(*token.Scanner)
	if scan == nil {
		if scan, err = x.tokenizer.NewScanner(); err != nil {
			return nil, nil, err
		}
	}
	place := map[string]int{}
	scan.Feed([]byte(text))
	n := 0
	for term := scan.Next(); term != nil; term = scan.Next() {
		if n++; n%4096 == 0 && ctx.Err() != nil {
			return nil, nil, context.Cause(ctx) // the scanner isn't reused, because it is in the middle of a text
		}
		at, ok := place[string(term)]
		if !ok {
			at = len(terms)
			terms, counts = append(terms, string(term)), append(counts, 0)
			place[terms[at]] = at
		}
		counts[at]++
	}
	scan.End()
	x.scanners.Put(scan)
	if len(terms) == 0 {
		terms, counts = []string{blankTerm(text)}, []float32{1}
	}
	return terms, counts, nil
}

// sortByColumn returns the columns of terms in ascending order, and the corresponding counts.
func sortByColumn(terms []string, counts []float32, column func(term string) uint32) ([]uint32, []float32) {
	columns, own := make([]uint32, len(terms)), make(map[uint32]float32, len(terms))
	for k, term := range terms {
		columns[k] = column(term)
		own[columns[k]] = counts[k]
	}
	slices.Sort(columns)
	for k, t := range columns {
		counts[k] = own[t]
	}
	return columns, counts
}

func (s *indexState) embed(ctx context.Context, terms []uint32, counts []float32) (*sparse.Embedded, error) {
	m := &sparse.CSR{Cols: len(s.embedder.Terms), Offsets: []int64{0, int64(len(terms))}, Terms: terms, Values: counts}
	return s.embedder.TransformRows(ctx, m, nil, 1)
}

// Add adds texts and returns their document numbers. After an error none of the texts is added.
func (x *Index) Add(ctx context.Context, texts ...string) (numbers []int, err error) {
	defer convertError(&err)
	s, err := x.lockForChange(ctx)
	if err != nil {
		return nil, err
	}
	defer x.writeMu.Unlock()
	list, values, unseen := make([][]string, len(texts)), make([][]float32, len(texts)), map[string]bool{}
	for i, text := range texts {
		if list[i], values[i], err = x.count(ctx, text); err != nil {
			return nil, err
		}
		for _, term := range list[i] {
			if _, ok := x.column[term]; !ok { // x.writeMu guards x.column
				unseen[term] = true
			}
		}
	}
	added := len(s.documents) - s.builtCount
	if len(x.vocabulary)+len(unseen) > len(s.embedder.Terms) ||
		added > 0 && float64(added) > rebuildThreshold+8*math.Sqrt(float64(len(s.documents))) {
		if s, err = x.rebuild(ctx, s, len(unseen)); err != nil {
			return nil, err
		}
	}
	changed, names, fresh := *s, x.vocabulary, map[string]uint32{}
	column := func(term string) uint32 {
		at, ok := x.column[term]
		if !ok {
			if at, ok = fresh[term]; !ok {
				at = uint32(len(names))
				fresh[term], names = at, append(names, term)
			}
		}
		return at
	}
	for i := range texts {
		d := indexDocument{number: changed.nextNumber}
		d.terms, d.counts = sortByColumn(list[i], values[i], column)
		if d.x, err = s.embed(ctx, d.terms, d.counts); err != nil {
			return nil, err
		}
		changed.documents = append(changed.documents, d)
		changed.nextNumber++
		numbers = append(numbers, d.number)
	}
	changed.stats.Added += len(texts)
	changed.stats.Documents += len(texts)
	x.mu.Lock()
	defer x.mu.Unlock()
	for term, at := range fresh {
		x.column[term] = at
	}
	x.vocabulary, x.state = names, &changed
	return numbers, nil
}

func (x *Index) lockForChange(ctx context.Context) (*indexState, error) {
	if err := x.check(ctx); err != nil {
		return nil, err
	}
	x.writeMu.Lock()
	return x.state, nil
}

// check returns an error if x is nil or the zero Index, or if ctx is nil or done.
func (x *Index) check(ctx context.Context) error {
	if x == nil || !x.initialized {
		return errors.New("gram: Index is not initialized; use NewIndex or LoadIndex")
	}
	return run.CheckContext(ctx, "gram")
}

// Remove removes documents by number. It fails and removes nothing if a number isn't in the index.
func (x *Index) Remove(numbers ...int) error {
	s, err := x.lockForChange(context.Background())
	if err != nil {
		return err
	}
	defer x.writeMu.Unlock()
	changed := *s
	changed.removed = make([]uint64, (len(s.documents)+63)/64)
	copy(changed.removed, s.removed)
	for _, n := range numbers {
		at, ok := slices.BinarySearchFunc(s.documents, n, func(d indexDocument,
			n int) int {
			return cmp.Compare(d.number, n)
		})
		if !ok || !changed.contains(at) {
			return fmt.Errorf("gram: document %d is not in the index", n)
		}
		changed.removed[at/64] |= 1 << (at % 64)
		changed.removedCount++
	}
	changed.stats.Removed += len(numbers)
	changed.stats.Documents -= len(numbers)
	x.mu.Lock()
	x.state = &changed
	x.mu.Unlock()
	if changed.removedCount > rebuildThreshold && changed.removedCount > len(changed.documents)/2 {
		_, _ = x.rebuild(context.Background(), &changed, 0) // after an error the removed documents stay in memory
	}
	return nil
}

// Stats returns the current statistics.
func (x *Index) Stats() IndexStats {
	if x == nil || !x.initialized {
		return IndexStats{}
	}
	x.mu.RLock()
	defer x.mu.RUnlock()
	stats := x.state.stats
	stats.NewTerms = len(x.vocabulary) - x.state.fittedColumns
	return stats
}

// Refit rebuilds the index from its current documents with new term weights. Documents keep their
// numbers. Queries may run during the rebuild. After an error the index is unchanged.
func (x *Index) Refit(ctx context.Context) (err error) {
	defer convertError(&err)
	s, err := x.lockForChange(ctx)
	if err != nil {
		return err
	}
	defer x.writeMu.Unlock()
	names, documents, err := x.compact(s, 0)
	if err != nil {
		return err
	}
	return x.build(ctx, names, documents, nil, s.nextNumber, 0, IndexStats{Documents: len(documents)})
}

// compact returns the current documents, and the names of their columns: x.vocabulary[:first], and
// other terms that occur in the documents. If first is 0, the names are sorted.
func (x *Index) compact(s *indexState, first int) (names []string, documents []indexDocument, err error) {
	documents = s.currentDocuments()
	m, used := matrixOf(documents, len(x.vocabulary)), make([]bool, len(x.vocabulary))
	for _, t := range m.Terms {
		used[t] = true
	}
	for t, is := range used {
		if is || t < first {
			names = append(names, x.vocabulary[t])
		}
	}
	if first == 0 {
		slices.Sort(names)
	}
	if m, err = reorderColumns(&corpus.Corpus{Documents: m, Vocabulary: x.vocabulary}, columnsOf(names),
		len(names)); err != nil {
		return nil, nil, err
	}
	for i := range documents {
		documents[i].terms, documents[i].counts = m.Row(i)
	}
	return names, documents, nil
}
