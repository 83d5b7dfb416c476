// Package space embeds the documents of two corpora in one space.
package space

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/internal/run"
	"github.com/gramengine/gram/sparse"
)

// Space is one embedding for the documents of one or two corpora.
type Space struct {
	Embedder   *sparse.Embedder
	Columns    *sparse.CSR // documents to which the embedding is fitted
	Rows       *sparse.CSR // documents to compare with Columns; nil to compare pairs of documents in Columns
	TermCount  int         // number of fitted columns
	BlankCount int         // number of texts without any term of nonzero weight
}

// New fits an embedding to the documents of columns, for comparison with the documents of rows. If
// rows is nil, pairs of documents of columns are compared. A term that occurs only in rows gets the
// weight of a term of one document of columns. Its idf weight is log D, where D is the number of
// documents in columns. Its weight from labels is almost 0. Embeddings that scale columns drop the
// term. Both corpora must be text with the same tokenizer, or vectors with the same number of
// columns. Files in LIBSVM's format may have fewer columns, because the format doesn't store the
// number of columns. Neither corpus is changed.
//
// If apart is true, texts without terms have equal vectors if the texts are equal, and orthogonal
// vectors otherwise. If apart is false, texts without terms are zero vectors, as kernels that
// depend on norms require. apart has no effect on corpora of vectors.
func New(e sparse.Embedding, columns, rows *corpus.Corpus, apart bool) (*Space, error) {
	all := []*corpus.Corpus{columns}
	if rows != nil {
		all = append(all, rows)
	}
	var documents []*sparse.CSR
	for _, c := range all {
		if err := c.Validate(); err != nil {
			return nil, err
		}
		m := *c.Documents
		documents = append(documents, &m)
	}
	if rows != nil {
		if err := shareColumns(all, documents); err != nil {
			return nil, err
		}
	}
	fitted := *columns
	fitted.Documents, fitted.Vocabulary = documents[0], nil
	s := &Space{Embedder: corpus.Fit(e, &fitted)}
	if err := s.Embedder.Validate(); err != nil {
		return nil, err
	}
	s.TermCount = len(s.Embedder.Terms)
	if rows != nil {
		fresh := map[uint32]bool{}
		for _, t := range documents[1].Terms {
			if _, ok := s.Embedder.Column(t); !ok {
				fresh[t] = true
			}
		}
		var err error
		if s.Embedder, err = addTerms(s.Embedder, slices.Sorted(maps.Keys(fresh)), s.Embedder.UnseenWeight()); err != nil {
			return nil, err
		}
	}
	if columns.Vocabulary != nil {
		if err := s.countBlanks(all, documents, apart); err != nil {
			return nil, err
		}
	}
	if s.Columns = documents[0]; rows != nil {
		s.Rows = documents[1]
	}
	return s, nil
}

// countBlanks sets BlankCount to the number of texts without terms. If apart is set, it adds a
// column for each distinct text without terms, so that different texts are orthogonal.
func (s *Space) countBlanks(all []*corpus.Corpus, documents []*sparse.CSR, apart bool) error {
	cols := documents[0].Cols
	type text struct {
		hash    uint64
		at, row int // indices of the corpus and of a document without a hash, counted from 1
	}
	place := map[text]uint32{}
	columns := make([]map[int]uint32, len(all)) // columns of texts without terms
	for at, m := range documents {
		columns[at] = map[int]uint32{}
		for i := range m.Rows() {
			terms, values := m.Row(i)
			blank := true
			for k, t := range terms {
				if column, ok := s.Embedder.Column(t); ok {
					if v, weight := s.Embedder.Factors(column, values[k]); v*weight != 0 {
						blank = false
						break
					}
				}
			}
			if !blank {
				continue
			}
			key := text{at: at + 1, row: i + 1}
			if hashes := all[at].Hashes; hashes != nil {
				key = text{hash: hashes[i]}
			}
			column, ok := place[key]
			if !ok {
				column = uint32(cols + len(place))
				place[key] = column
			}
			columns[at][i] = column
			s.BlankCount++
		}
	}
	if !apart || s.BlankCount < 2 {
		return nil
	}
	if int64(cols)+int64(len(place)) > sparse.MaxCols {
		return fmt.Errorf("corpus: %d columns and %d distinct texts without terms exceed the limit of %d", cols, len(place),
			int64(sparse.MaxCols))
	}
	for at, m := range documents {
		own := &sparse.CSR{Cols: cols + len(place), Offsets: []int64{0}, Views: m.Views}
		for i := range m.Rows() {
			terms, values := m.Row(i)
			if column, blank := columns[at][i]; blank {
				terms, values = []uint32{column}, []float32{1}
			}
			own.Terms, own.Values = append(own.Terms, terms...), append(own.Values, values...)
			own.Offsets = append(own.Offsets, int64(len(own.Terms)))
		}
		documents[at] = own
	}
	var err error
	s.Embedder, err = addTerms(s.Embedder, slices.Sorted(maps.Values(place)), 1)
	return err
}

// shareColumns maps the documents of two corpora to common columns. For text, the columns are the
// sorted terms of both corpora.
func shareColumns(all []*corpus.Corpus, documents []*sparse.CSR) error {
	a, b := all[0], all[1]
	if (a.Vocabulary == nil) != (b.Vocabulary == nil) {
		if a.Vocabulary != nil {
			a, b = b, a
		}
		return fmt.Errorf("corpus: %s has vectors, but %s has text; their columns cannot be matched", a.Source, b.Source)
	}
	if a.Vocabulary == nil {
		few, many := a, b
		if few.Documents.Cols > many.Documents.Cols {
			few, many = many, few
		}
		if few.Documents.Cols != many.Documents.Cols && few.Format != corpus.FormatSVMLight {
			return fmt.Errorf("corpus: %s has %d columns, but %s has %d", b.Source, b.Documents.Cols, a.Source,
				a.Documents.Cols)
		}
		for _, m := range documents {
			m.Cols = many.Documents.Cols
		}
		return nil
	}
	if !a.Tokenizer.SameTerms(b.Tokenizer) {
		return fmt.Errorf("corpus: the text of %s was tokenised by %s, but the text of %s by %s", b.Source,
			b.Tokenizer, a.Source, a.Tokenizer)
	}
	if slices.Equal(a.Vocabulary, b.Vocabulary) && a.Documents.Cols == b.Documents.Cols {
		return nil
	}
	terms := slices.Concat(a.Vocabulary, b.Vocabulary)
	slices.Sort(terms)
	terms = slices.Compact(terms)
	views, err := corpus.TokenizerViews(a.Tokenizer, terms)
	if err != nil {
		return err
	}
	var sorter sparse.RowSorter
	for at, c := range all {
		to, taken := make([]uint32, len(c.Vocabulary)), make([]bool, len(terms))
		for j, term := range c.Vocabulary {
			column, _ := slices.BinarySearch(terms, term)
			if taken[column] {
				return fmt.Errorf("corpus: the vocabulary of %s has the term %s twice", c.Source, strconv.Quote(term))
			}
			to[j], taken[column] = uint32(column), true
		}
		m := documents[at]
		m.Cols, m.Views, m.Terms, m.Values = len(terms), views, slices.Clone(m.Terms), slices.Clone(m.Values)
		for k, t := range m.Terms {
			m.Terms[k] = to[t]
		}
		for i := range m.Rows() {
			sorter.Sort(m.Row(i))
		}
	}
	return nil
}

// addTerms returns the embedder with additional terms, in ascending order. Each additional term has
// the document frequency 1 and the given weight.
func addTerms(f *sparse.Embedder, terms []uint32, weight float64) (*sparse.Embedder, error) {
	if len(terms) == 0 {
		return f, nil
	}
	all := slices.Concat(f.Terms, terms)
	order := make([]int, len(all))
	for j := range order {
		order[j] = j
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(all[a], all[b]) })
	wide := sparse.Embedder{Embedding: f.Embedding, Documents: max(f.Documents, 1), Views: f.Views, Open: f.Open,
		Terms: run.Select(all, order), DF: run.Select(slices.Concat(f.DF, slices.Repeat([]int32{1}, len(terms))), order)}
	if f.HasColumnWeights() {
		wide.Weights = run.Select(slices.Concat(f.Weights, slices.Repeat([]float64{weight}, len(terms))), order)
	}
	if f.Scales() {
		wide.Shifts = run.Select(slices.Concat(f.Shifts, make([]float64, len(terms))), order)
	}
	return sparse.RestoreEmbedder(wide)
}
