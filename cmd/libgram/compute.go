//go:build cgo

package main

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"unsafe"

	"github.com/gramengine/gram"
	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/engine"
	"github.com/gramengine/gram/sparse"
)

// options decodes a function's options and sets the callbacks in own.
func (c *call) options(t text, into any, own *gram.Options) error {
	b, err := t.bytes("options")
	if err != nil {
		return err
	}
	c.use(own)
	return decode(b, into)
}

// dataset is a corpus that shares no memory with the caller.
type dataset struct{ *corpus.Corpus }

func (*dataset) kind() string { return "corpus" }
func (*dataset) close() error { return nil }

func (o *dataset) about() any {
	return struct {
		Source, Tokenizer          string
		Table                      []corpus.TableColumn
		Documents, Columns, Stored int
		Text, TextsKept, Labelled  bool
		Classes                    []string
		Warnings                   []corpus.Warning
	}{o.Source, o.Tokenizer.String(), o.Table, o.Documents.Rows(), o.Documents.Cols, len(o.Documents.Values),
		o.Vocabulary != nil, o.Kept(), len(o.Labels.IDs) > 0, o.Classes, o.Warnings}
}

func (o *dataset) arrays() map[string]arrayMaker {
	m := o.Documents
	all := map[string]arrayMaker{"offsets": made(m.Offsets), "values": made(m.Values), "labels": made(o.firstLabels())}
	all["indices"] = func(*call) (*array, error) {
		if m.Cols > math.MaxInt32 {
			return nil, fmt.Errorf("gram: indices of %d columns, expected at most %d, which 32 bits hold", m.Cols, math.MaxInt32)
		}
		return column(unsafe.Slice((*int32)(unsafe.Pointer(unsafe.SliceData(m.Terms))), len(m.Terms))), nil
	}
	return withNames(all, "vocabulary", o.Vocabulary)
}

func (o *dataset) firstLabels() []int32 {
	if len(o.Labels.Offsets) == 0 {
		return nil
	}
	first := make([]int32, o.Documents.Rows())
	for i := range first {
		first[i] = -1
		if own := o.Labels.Of(i); len(own) > 0 {
			first[i] = own[0]
		}
	}
	return first
}

// withNames adds two arrays for names: their bytes, and the offset of each name.
func withNames(all map[string]arrayMaker, name string, names []string) map[string]arrayMaker {
	all[name] = func(*call) (*array, error) {
		var b []byte
		for _, s := range names {
			b = append(b, s...)
		}
		return column(b), nil
	}
	all[name+"_offsets"] = func(*call) (*array, error) {
		if names == nil {
			return nil, nil
		}
		offsets := make([]int64, 1, len(names)+1)
		for _, s := range names {
			offsets = append(offsets, offsets[len(offsets)-1]+int64(len(s)))
		}
		return column(offsets), nil
	}
	return all
}

type readArguments struct {
	options text
	result
	source text
}

// read implements gram_read.
func read(c *call, a *readArguments) (object, error) {
	var o gram.ReadOptions
	source, err := a.source.string("source")
	if err == nil {
		err = c.options(a.options, &o, &o.Options)
	}
	if err != nil {
		return nil, err
	}
	in, err := gram.Read(c.ctx, strings.Clone(source), o)
	return &dataset{in}, err
}

// corpusOptions are the options of gram_corpus, a subset of those for reading.
type corpusOptions struct {
	gram.Options
	MinDF, MaxDF int
	Vocabulary   []string
	Tokenizer    corpus.Tokenizer
	KeepTexts    bool
}

type makeArguments struct {
	options text
	result
	x *documents
}

// makeCorpus implements gram_corpus.
func makeCorpus(c *call, a *makeArguments) (object, error) {
	var o corpusOptions
	if err := c.options(a.options, &o, &o.Options); err != nil {
		return nil, err
	}
	if a.x != nil && a.x.texts == nil && a.x.table == nil {
		for name := range given(o) {
			if !slices.Contains([]string{"isa", "workers", "memory_bytes"}, name) {
				return nil, fmt.Errorf("gram: option %q of documents that aren't texts or a table, expected none", name)
			}
		}
	}
	in, err := c.corpusOf(a.x, "x", gram.ReadOptions{Options: o.Options, MinDF: o.MinDF, MaxDF: o.MaxDF,
		Vocabulary: o.Vocabulary, Tokenizer: o.Tokenizer, KeepTexts: o.KeepTexts})
	if err == nil && a.x.matrix != nil {
		in.Documents = copied(in.Documents)
	}
	return &dataset{in}, err
}

// copied returns a copy that shares no memory with the caller.
func copied(m *sparse.CSR) *sparse.CSR {
	return &sparse.CSR{Cols: m.Cols, Offsets: slices.Clone(m.Offsets), Terms: slices.Clone(m.Terms),
		Values: slices.Clone(m.Values)}
}

// likewise returns options to tokenise texts as in of, with min-df 1.
func likewise(of *corpus.Corpus, o gram.Options) gram.ReadOptions {
	return gram.ReadOptions{Options: o, Tokenizer: of.Tokenizer, MinDF: 1}
}

// pair returns the corpora of x and of; the second is nil if of is nil. Terms that occur in a
// single text of the second are removed from both, unless read.MinDF is 1.
func (c *call) pair(x, of *documents, name string, read gram.ReadOptions) (rows, columns *corpus.Corpus, err error) {
	if of == nil {
		rows, err = c.corpusOf(x, "x", read)
		return rows, nil, err
	}
	cut := of.texts != nil && read.MinDF != 1
	read.MinDF = 1
	if columns, err = c.corpusOf(of, name, read); err != nil {
		return nil, nil, err
	}
	if rows, err = c.corpusOf(x, "x", likewise(columns, read.Options)); err != nil {
		return nil, nil, err
	}
	if x.matrix != nil && of.matrix != nil { // so that errors name the matrix
		rows.Source, columns.Source = "the matrix x", "the matrix "+name
	}
	if !cut {
		return rows, columns, nil
	}
	rare := map[string]bool{}
	terms, df := columns.Documents.TermFrequencies()
	for k, t := range terms {
		rare[columns.Vocabulary[t]] = df[k] == 1
	}
	return without(rows, rare), without(columns, rare), nil
}

// without returns a copy of c without the given terms.
func without(c *corpus.Corpus, terms map[string]bool) *corpus.Corpus {
	out, m := *c, c.Documents
	out.Documents = &sparse.CSR{Cols: m.Cols, Offsets: []int64{0}, Views: m.Views}
	for i := range m.Rows() {
		columns, values := m.Row(i)
		for k, t := range columns {
			if !terms[c.Vocabulary[t]] {
				out.Documents.Terms = append(out.Documents.Terms, t)
				out.Documents.Values = append(out.Documents.Values, values[k])
			}
		}
		out.Documents.Offsets = append(out.Documents.Offsets, int64(len(out.Documents.Terms)))
	}
	return &out
}

type kernelArguments struct {
	options text
	x, y    *documents
	out     span[float32]
}

// kernelValues implements gram_gram.
func kernelValues(c *call, a *kernelArguments) error {
	var o struct {
		gram.Options
		Kernel string
	}
	if err := c.options(a.options, &o, &o.Options); err != nil {
		return err
	}
	rows, columns, err := c.pair(a.x, a.y, "y", gram.ReadOptions{Options: o.Options})
	if err != nil {
		return err
	}
	n := rows.Documents.Rows()
	m := n
	if columns != nil {
		m = columns.Documents.Rows()
	}
	if m > 0 && n > math.MaxInt/m {
		return fmt.Errorf("gram: a matrix of %d rows and %d columns, expected fewer", n, m)
	}
	out, err := a.out.exactly(int64(n*m), "out")
	if err != nil {
		return err
	}
	if columns == nil {
		return gram.GramTo(c.ctx, rows, o.Kernel, &engine.Symmetric{N: n, Data: out}, o.Options)
	}
	return gram.CrossTo(c.ctx, rows, columns, o.Kernel, &engine.Dense{Rows: n, Cols: m, Data: out}, o.Options)
}

type neighbourArguments struct {
	options   text
	x, of     *documents
	k         int64
	documents *int64
	values    span[float32]
}

// neighbours implements gram_neighbours.
func neighbours(c *call, a *neighbourArguments) error {
	var own struct {
		gram.Options
		Kernel string
		Min    *float64
	}
	if err := c.options(a.options, &own, &own.Options); err != nil {
		return err
	}
	if a.k < 1 || a.k > math.MaxInt32 {
		return fmt.Errorf("gram: k %d, expected 1 to %d", a.k, math.MaxInt32)
	}
	rows, columns, err := c.pair(a.x, a.of, "of", gram.ReadOptions{Options: own.Options, MinDF: 1})
	if err != nil {
		return err
	}
	n := int64(rows.Documents.Rows()) * a.k
	values, err := a.values.exactly(n, "out_values")
	if err != nil {
		return err
	}
	numbers, err := span[int64]{a.documents, n}.slice("out_documents")
	if err != nil {
		return err
	}
	found, err := gram.Neighbours(c.ctx, rows, gram.NeighbourOptions{Options: own.Options, K: int(a.k), Kernel: own.Kernel,
		Min: own.Min, Of: columns})
	if err != nil {
		return err
	}
	for i, near := range found {
		for j := range int(a.k) {
			at := i*int(a.k) + j
			numbers[at], values[at] = -1, 0
			if j < len(near) {
				numbers[at], values[at] = int64(near[j].Document), near[j].Value
			}
		}
	}
	return nil
}

type duplicateArguments struct {
	options text
	x       *documents
	out     span[int64]
}

// duplicates implements gram_duplicates.
func duplicates(c *call, a *duplicateArguments) error {
	var o gram.DuplicateOptions
	if err := c.options(a.options, &o, &o.Options); err != nil {
		return err
	}
	in, err := c.corpusOf(a.x, "x", gram.ReadOptions{Options: o.Options, MinDF: 1,
		Tokenizer: corpus.NearTokenizer})
	if err != nil {
		return err
	}
	out, err := a.out.exactly(int64(in.Documents.Rows()), "out_groups")
	if err != nil {
		return err
	}
	groups, err := gram.Duplicates(c.ctx, in, o)
	if err != nil {
		return err
	}
	for i := range out {
		out[i] = -1
	}
	for g, group := range groups {
		for _, i := range group {
			out[i] = int64(g)
		}
	}
	return nil
}
