package gram

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/internal/learn"
	"github.com/gramengine/gram/sparse"
	"gonum.org/v1/gonum/mat"
)

// ReadOptions are the options of [Read]. The zero value corresponds to the defaults of the program
// gram.
type ReadOptions struct {
	Options

	Format corpus.Format // format of a file; default detected from its name and its first bytes

	// If MinDF, MaxDF, Vocabulary and Tokenizer are zero, [Train] and [Search] choose the terms.
	// [Train] and [Search] also choose the width of number views without a width. For these
	// choices, [Read] keeps up to 256 MiB of texts, or MemoryBytes/16 if this is less.

	// MinDF and MaxDF are the minimum and the maximum document frequency of terms. Other terms are
	// dropped. By default MinDF is 2 for text and 1 for vectors, and MaxDF is unlimited. For
	// [Neighbours] and [Duplicates], set MinDF to 1, because rare words distinguish documents.
	MinDF, MaxDF int

	Vocabulary []string         // terms to count, for example from [Model.ReadOptions]; default: all terms
	Tokenizer  corpus.Tokenizer // tokenizer of texts; default lower-case words of letters

	KeepTexts bool // keep texts for TrainOptions.Terms even if MinDF, MaxDF, Vocabulary or Tokenizer is set

	Encoding string // encoding of text; default UTF-8, or UTF-16 if there is a byte order mark
	Strict   bool   // fail on bytes that are invalid in the encoding; by default they are dropped with a warning

	LabelColumn, TextColumn string // table columns or JSON keys; default: common names for labels, all columns for text
	IDColumn                string // column with document names; by default found by its name
	Columns                 string // kinds of columns, such as "zip=category, notes=ignore"; see [corpus.Kind]
	Labels                  string // file with one line of labels per document; default: the labels in the source
	Signed                  bool   // accept negative values
	GroupColumn             string // table column, JSON key, or qid; documents with equal values are in the same fold
	ZeroBased               string // "true": indices of svmlight files start from 0; default "false", or as in training

	trainingFormat corpus.FormatOptions // format of a model's training documents
}

func (o *ReadOptions) corpusOptions() corpus.Options {
	return corpus.Options{
		FormatOptions: corpus.FormatOptions{Format: o.Format, Encoding: o.Encoding, LabelColumn: o.LabelColumn,
			TextColumn: o.TextColumn,
			IDColumn:   o.IDColumn, Columns: o.Columns,
			ZeroBased: o.ZeroBased},
		Workers: o.Workers, MinDF: o.MinDF, MaxDF: o.MaxDF, Vocabulary: o.Vocabulary,
		Tokenizer: o.Tokenizer, Strict: o.Strict, Labels: o.Labels, Signed: o.Signed, GroupColumn: o.GroupColumn,
		TrainingFormat: o.trainingFormat, MemoryBytes: o.MemoryBytes,
		KeepTextBytes: o.maxTextBytes(), KeepRowBytes: learn.MaxKeptTextBytes(o.MemoryBytes),
		Progress: func(p corpus.Progress) { o.reportProgress("reading", p.Done, p.Total) },
	}
}

// maxTextBytes returns the maximum total size of texts that are kept for the choice of terms.
func (o *ReadOptions) maxTextBytes() int64 {
	if !o.KeepTexts && (o.Tokenizer != (corpus.Tokenizer{}) || o.MinDF != 0 || o.MaxDF != 0 || o.Vocabulary != nil) {
		return 0
	}
	return learn.MaxKeptTextBytes(o.MemoryBytes)
}

// Read reads the documents of a source: a file, a folder with a sub-folder per class, "goroot" (the
// local Go sources) or "synthetic:docs=…", see [corpus.Read]. The corpus stores all warnings.
//
// Errors about invalid contents state the file, the line, the invalid input and the expected input.
func Read(ctx context.Context, source string, o ReadOptions) (_ *corpus.Corpus, err error) {
	defer convertError(&err)
	c, err := corpus.Read(ctx, source, o.corpusOptions())
	return o.reportWarnings(c, err)
}

// ReadFrom is like [Read], for a stream. name is used in errors, and to detect the format.
func ReadFrom(ctx context.Context, r io.Reader, name string, o ReadOptions) (_ *corpus.Corpus, err error) {
	defer convertError(&err)
	c, err := corpus.ReadFrom(ctx, r, name, o.corpusOptions())
	return o.reportWarnings(c, err)
}

// FromTexts makes a corpus from texts in memory. labels[i] holds the classes of text i, separated
// by commas. "" and "-" mean no class. If labels is nil, the corpus has no labels.
//
// By default, terms that occur in only one text are dropped, as in [Read]. FromTexts warns if more
// than half of the texts keep no terms, which can happen with few texts.
func FromTexts(ctx context.Context, texts, labels []string, o ReadOptions) (_ *corpus.Corpus, err error) {
	defer convertError(&err)
	c, err := corpus.FromTexts(ctx, texts, labels, o.corpusOptions())
	if c, err = o.reportWarnings(c, err); err != nil {
		return nil, err
	}
	if empty := c.Documents.EmptyRowCount(); o.MinDF == 0 && o.Vocabulary == nil && 2*empty > len(texts) {
		o.warn("%d of %d texts share no term with another text and are now empty; MinDF 1 keeps all terms",
			empty, len(texts))
	}
	return c, nil
}

// FromRows makes a corpus from table rows. columns holds the names of the rows' fields. o.Tokenizer
// must have views of columns, such as "title=words + price=numbers". Columns without a view are
// ignored. labels is as for [FromTexts].
func FromRows(
	ctx context.Context, columns []string, rows [][]string, labels []string, o ReadOptions,
) (_ *corpus.Corpus, err error) {
	defer convertError(&err)
	c, err := corpus.FromRows(ctx, columns, rows, labels, o.corpusOptions())
	return o.reportWarnings(c, err)
}

func (o *ReadOptions) reportWarnings(c *corpus.Corpus, err error) (*corpus.Corpus, error) {
	if err != nil {
		return nil, err
	}
	for _, w := range c.Warnings {
		o.warn("%s: %s (%d times, first at %s)", c.Source, w.Message, w.Count, w.First)
	}
	return c, nil
}

// FromTerms makes a corpus from the terms of a user-defined tokenizer. labels is as for
// [FromTexts]. [Model.PredictTerms] predicts such documents.
func FromTerms(documents [][]string, labels []string) (_ *corpus.Corpus, err error) {
	defer convertError(&err)
	seen := map[string]bool{}
	for _, terms := range documents {
		for _, t := range terms {
			seen[t] = true
		}
	}
	vocabulary := make([]string, 0, len(seen))
	for t := range seen {
		vocabulary = append(vocabulary, t)
	}
	slices.Sort(vocabulary)
	column := columnsOf(vocabulary)
	r := NewCorpusBuilder(len(vocabulary))
	for i, terms := range documents {
		columns, counts := count(terms, column)
		if err := r.Add(columns, counts, labelOf(labels, i)...); err != nil {
			return nil, err
		}
	}
	c, err := r.checkedCorpus(len(documents), labels)
	if err == nil {
		c.Vocabulary = vocabulary
	}
	return c, err
}

func columnsOf(vocabulary []string) map[string]uint32 {
	column := make(map[string]uint32, len(vocabulary))
	for i, t := range vocabulary {
		column[t] = uint32(i)
	}
	return column
}

// count returns the columns of terms in ascending order, and their counts. It drops terms without a
// column.
func count(terms []string, column map[string]uint32) (columns []uint32, counts []float64) {
	for _, t := range terms {
		if at, ok := column[t]; ok {
			columns = append(columns, at)
		}
	}
	slices.Sort(columns)
	kept := columns[:0]
	for i, at := range columns {
		if i == 0 || at != columns[i-1] {
			kept, counts = append(kept, at), append(counts, 0)
		}
		counts[len(counts)-1]++
	}
	return kept, counts
}

// labelOf splits labels[i], which has the format of [FromTexts].
func labelOf(labels []string, i int) []string {
	if i >= len(labels) || strings.TrimSpace(labels[i]) == "" || strings.TrimSpace(labels[i]) == "-" {
		return nil
	}
	all := strings.Split(labels[i], ",")
	for k := range all {
		all[k] = strings.TrimSpace(all[k])
	}
	return all
}

// FromMatrix makes a document from each row of a matrix. Element (i, j) is the count or value of
// term j in document i, rounded to float32. Zeros are dropped. labels is as for [FromTexts].
//
// It fails if x is nil, if a value isn't finite in float32, or if the number of labels differs from
// the number of rows.
func FromMatrix(x mat.Matrix, labels []string) (_ *corpus.Corpus, err error) {
	defer convertError(&err)
	if x == nil {
		return nil, errors.New("gram: matrix is nil")
	}
	rows, cols := x.Dims()
	r := NewCorpusBuilder(cols)
	for i := range rows {
		var columns []uint32
		var values []float64
		for j := range cols {
			if v := x.At(i, j); v != 0 {
				columns, values = append(columns, uint32(j)), append(values, v)
			}
		}
		if err := r.Add(columns, values, labelOf(labels, i)...); err != nil {
			return nil, err
		}
	}
	return r.checkedCorpus(rows, labels)
}

// CorpusBuilder builds a corpus row by row from counts or values. Create it with
// [NewCorpusBuilder]. A CorpusBuilder must not be used concurrently.
type CorpusBuilder struct {
	c          corpus.Corpus
	classIndex map[string]int32
}

// NewCorpusBuilder returns a builder for a corpus with the given number of columns.
func NewCorpusBuilder(columns int) *CorpusBuilder {
	return &CorpusBuilder{classIndex: map[string]int32{}, c: corpus.Corpus{
		Source: "rows", Documents: &sparse.CSR{Cols: columns, Offsets: []int64{0}},
	}}
}

// Add appends a document. Columns must be strictly increasing, with one value each. A document may
// have any number of classes. Values are rounded to float32.
//
// If the columns or values are invalid, or if r isn't from NewCorpusBuilder, Add returns an error
// and appends nothing. Errors number documents and columns from 0.
func (r *CorpusBuilder) Add(columns []uint32, values []float64, classes ...string) error {
	m := r.c.Documents
	if m == nil {
		return errors.New("gram: CorpusBuilder is not initialized; use NewCorpusBuilder")
	}
	if len(columns) != len(values) {
		return fmt.Errorf("gram: document %d has %d columns but %d values", m.Rows(), len(columns), len(values))
	}
	row := make([]float32, len(values))
	for k, v := range values {
		var bad string
		switch row[k] = float32(v); {
		case int64(columns[k]) >= int64(m.Cols):
			bad = fmt.Sprintf("the matrix has only %d columns", m.Cols)
		case k > 0 && columns[k] <= columns[k-1]:
			bad = fmt.Sprintf("column must be greater than the previous column %d", columns[k-1])
		case math.IsInf(float64(row[k]), 0) && !math.IsInf(v, 0):
			bad = fmt.Sprintf("value must be at most %.3g to fit in float32, got %v", math.MaxFloat32, v)
		case row[k]-row[k] != 0:
			bad = fmt.Sprintf("value must be finite, got %v", v)
		}
		if bad != "" {
			return fmt.Errorf("gram: document %d, column %d: %s", m.Rows(), columns[k], bad)
		}
	}
	m.Terms, m.Values = append(m.Terms, columns...), append(m.Values, row...)
	m.Offsets = append(m.Offsets, int64(len(m.Values)))
	var ids []int32
	for _, name := range classes {
		id, ok := r.classIndex[name]
		if !ok {
			id = int32(len(r.c.Classes))
			r.classIndex[name], r.c.Classes = id, append(r.c.Classes, name)
		}
		if !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	r.c.Labels.Add(ids...)
	return nil
}

// Corpus returns the documents and resets the builder. If no document was added, results such as a
// [Gram] matrix are empty.
func (r *CorpusBuilder) Corpus() *corpus.Corpus {
	if r.c.Documents == nil {
		*r = *NewCorpusBuilder(0)
	}
	c := r.c
	*r = *NewCorpusBuilder(c.Documents.Cols)
	return &c
}

// checkedCorpus is like Corpus, but checks that labels is nil or has one element per document.
func (r *CorpusBuilder) checkedCorpus(documents int, labels []string) (*corpus.Corpus, error) {
	if labels != nil && len(labels) != documents {
		return nil, fmt.Errorf("gram: %d labels, but %d documents", len(labels), documents)
	}
	return r.Corpus(), nil
}
