package sparse

import (
	"encoding/binary"
	"fmt"
	"maps"
	"math"
	"slices"
)

// NearTokenizer cuts texts whose near copies are looked for: words may hold digits, since texts that differ in a number
// differ.
var NearTokenizer = Tokenizer{Digits: true}

// Space is one embedding for the documents of one or two corpora, in which the terms of either count.
type Space struct {
	Embedder *Embedder
	Columns  *CSR // documents that the embedding was fitted on
	Rows     *CSR // documents that are compared with them; nil for Columns themselves
	Terms    int  // columns that were fitted
	Blank    int  // texts without terms, or whose terms all weigh 0
}

// NewSpace fits an embedding on the documents of columns, to compare documents of rows with them; nil
// stands for columns.
// A term that only rows have counts as a term of one document of columns: with idf it weighs log D, learnt from labels
// next to nothing, and in scaled columns nothing. Both corpora must be text, cut by one tokenizer, or both
// vectors of as many columns; files in LIBSVM's format don't say how many, and may have fewer. Neither corpus
// changes.
//
// With apart, texts without terms are identical if they are equal, and else have nothing in common. Without it they are
// zero vectors, as kernels of norms want them, and so are vectors of zeros always.
func NewSpace(e Embedding, columns, rows *Corpus, apart bool) (*Space, error) {
	all := []*Corpus{columns}
	if rows != nil {
		all = append(all, rows)
	}
	var documents []*CSR
	for _, c := range all {
		if err := c.Validate(); err != nil {
			return nil, err
		}
		m := *c.Documents
		documents = append(documents, &m)
	}
	if rows != nil {
		if err := share(all, documents); err != nil {
			return nil, err
		}
	}
	fitted := *columns
	fitted.Documents, fitted.Vocabulary = documents[0], nil
	s := &Space{Embedder: e.FitCorpus(&fitted)}
	if err := s.Embedder.Validate(); err != nil {
		return nil, err
	}
	s.Terms = len(s.Embedder.Terms)
	if rows != nil {
		fresh := map[uint32]bool{}
		for _, t := range documents[1].Terms {
			if _, ok := s.Embedder.Column(t); !ok {
				fresh[t] = true
			}
		}
		if err := s.widen(slices.Sorted(maps.Keys(fresh)), s.Embedder.unseen()); err != nil {
			return nil, err
		}
	}
	if columns.Vocabulary != nil {
		if err := s.tellBlanks(all, documents, apart); err != nil {
			return nil, err
		}
	}
	if s.Columns = documents[0]; rows != nil {
		s.Rows = documents[1]
	}
	return s, nil
}

// unseen returns the weight of a term that the training documents lack.
func (f *Embedder) unseen() float64 {
	switch {
	case f.Weighting.IDF():
		return math.Log(float64(max(f.Documents, 1)))
	case f.Supervised():
		return leastDivergence
	}
	return 0
}

// widen adds terms of one document, ascending, to the embedder.
func (s *Space) widen(terms []uint32, weight float64) error {
	f := s.Embedder
	if len(terms) == 0 {
		return nil
	}
	wide := Embedder{Embedding: f.Embedding, Documents: max(f.Documents, 1), Views: f.Views, Open: f.Open}
	for j := 0; j < len(f.Terms) || len(terms) > 0; {
		if j < len(f.Terms) && (len(terms) == 0 || f.Terms[j] < terms[0]) {
			wide.Terms, wide.DF = append(wide.Terms, f.Terms[j]), append(wide.DF, f.DF[j])
			if f.Weights != nil {
				wide.Weights = append(wide.Weights, f.Weights[j])
			}
			if f.Shifts != nil {
				wide.Shifts = append(wide.Shifts, f.Shifts[j])
			}
			j++
			continue
		}
		wide.Terms, wide.DF = append(wide.Terms, terms[0]), append(wide.DF, 1)
		if f.Weighted() {
			wide.Weights = append(wide.Weights, weight)
		}
		if f.Scales() {
			wide.Shifts = append(wide.Shifts, 0)
		}
		terms = terms[1:]
	}
	var err error
	s.Embedder, err = RestoreEmbedder(wide)
	return err
}

// tellBlanks counts texts without terms. If apart is set, it adds a column for each distinct one of them, so that
// equal texts are equal and others are orthogonal.
func (s *Space) tellBlanks(all []*Corpus, documents []*CSR, apart bool) error {
	cols := documents[0].Cols
	place, key := map[string]uint32{}, []byte(nil)
	columns := make([]map[int]uint32, len(all)) // of blank documents
	for at, m := range documents {
		columns[at] = map[int]uint32{}
		w := weigher{f: s.Embedder}
		for i := range m.Rows() {
			terms, values := m.Row(i)
			blank := true
			for k, t := range terms {
				if column, ok := s.Embedder.Column(t); ok && w.weighted(column, values[k]) != 0 {
					blank = false
					break
				}
			}
			if !blank {
				continue
			}
			digest, known := all[at].Blank[i]
			key = append(key[:0], digest...)
			for k, t := range terms {
				key = binary.LittleEndian.AppendUint32(key, t)
				key = binary.LittleEndian.AppendUint32(key, math.Float32bits(values[k]))
			}
			if len(terms) == 0 && !known { // unlike any other
				key = fmt.Append(key, at, " ", i)
			}
			column, ok := place[string(key)]
			if !ok {
				column = uint32(cols + len(place))
				place[string(key)] = column
			}
			columns[at][i] = column
			s.Blank++
		}
	}
	if !apart || s.Blank < 2 {
		return nil
	}
	if int64(cols)+int64(len(place)) > mostCols {
		return fmt.Errorf("sparse: %d columns and %d different texts without terms, expected at most %d", cols, len(place),
			int64(mostCols))
	}
	for at, m := range documents {
		own := &CSR{Cols: cols + len(place), Offsets: []int64{0}, Views: m.Views}
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
	return s.widen(slices.Sorted(maps.Values(place)), 1)
}

// share maps the documents of two corpora to common columns. For text these are the sorted terms of both.
func share(all []*Corpus, documents []*CSR) error {
	a, b := all[0], all[1]
	if (a.Vocabulary == nil) != (b.Vocabulary == nil) {
		if a.Vocabulary != nil {
			a, b = b, a
		}
		return fmt.Errorf("sparse: %s has vectors and %s text, expected the same of both: columns say nothing about words",
			a.Source, b.Source)
	}
	if a.Vocabulary == nil {
		few, many := a, b
		if few.Documents.Cols > many.Documents.Cols {
			few, many = many, few
		}
		if few.Documents.Cols != many.Documents.Cols && few.Format != FormatSVMLight {
			return fmt.Errorf("sparse: %s has %d columns and %s %d, expected as many", b.Source, b.Documents.Cols, a.Source,
				a.Documents.Cols)
		}
		for _, m := range documents {
			m.Cols = many.Documents.Cols
		}
		return nil
	}
	if !a.Tokenizer.SameCut(b.Tokenizer) {
		return fmt.Errorf("sparse: the text of %s was cut by %s and that of %s by %s, expected one tokenizer", b.Source,
			b.Tokenizer, a.Source, a.Tokenizer)
	}
	if slices.Equal(a.Vocabulary, b.Vocabulary) && a.Documents.Cols == b.Documents.Cols {
		return nil
	}
	terms := slices.Concat(a.Vocabulary, b.Vocabulary)
	slices.Sort(terms)
	terms = slices.Compact(terms)
	views, err := ViewsOf(a.Tokenizer, terms)
	if err != nil {
		return err
	}
	var sorter rowSorter
	for at, c := range all {
		to, taken, column := make([]uint32, len(c.Vocabulary)), make([]bool, len(terms)), 0
		for j, term := range c.Vocabulary {
			for column < len(terms)-1 && terms[column] < term {
				column++
			}
			if terms[column] != term { // after a vocabulary that isn't sorted
				column, _ = slices.BinarySearch(terms, term)
			}
			if taken[column] {
				return fmt.Errorf("sparse: the vocabulary of %s holds %s twice, expected every term once", c.Source, quote(term))
			}
			to[j], taken[column] = uint32(column), true
		}
		m := documents[at]
		m.Cols, m.Views, m.Terms, m.Values = len(terms), views, slices.Clone(m.Terms), slices.Clone(m.Values)
		for k, t := range m.Terms {
			m.Terms[k] = to[t]
		}
		for i := range m.Rows() {
			sorter.sort(m.Row(i))
		}
	}
	return nil
}
