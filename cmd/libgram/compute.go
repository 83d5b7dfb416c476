//go:build cgo

package main

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"unsafe"

	"github.com/gramengine/gram"
	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/engine"
	"github.com/gramengine/gram/sparse"
)

// options decodes options into a struct that is or embeds gram.Options, and sets the callbacks.
func (c *call) options(t text, into any) error {
	b, err := t.slice("options")
	if err != nil {
		return err
	}
	own := reflect.ValueOf(into).Elem()
	if own.Type() != reflect.TypeFor[gram.Options]() {
		own = own.FieldByName("Options")
	}
	common := own.Addr().Interface().(*gram.Options)
	common.Progress, common.Warn = c.progress, c.warn
	return decode(b, into)
}

// dataset is a corpus that shares no memory with the caller.
type dataset struct{ *corpus.Corpus }

func (*dataset) kind() string { return "corpus" }

func (o *dataset) about() any {
	return struct {
		Source, Tokenizer          string
		Table                      []corpus.TableColumn
		Documents, Columns, Stored int
		Text, TextsKept, Labelled  bool
		Classes                    []string
	}{o.Source, o.Tokenizer.String(), o.Table, o.Documents.Rows(), o.Documents.Cols, len(o.Documents.Values),
		o.Vocabulary != nil, o.HasRawDocuments(), len(o.Labels.IDs) > 0, o.Classes}
}

func (o *dataset) arrays() map[string]arrayMaker {
	m := o.Documents
	all := map[string]arrayMaker{"offsets": existingArray(m.Offsets), "values": existingArray(m.Values),
		"labels": existingArray(o.firstLabels())}
	all["indices"] = func(*call) (*array, error) {
		if m.Cols > math.MaxInt32 {
			return nil, fmt.Errorf("gram: indices have 32 bits, so %d columns exceed the limit of %d", m.Cols, math.MaxInt32)
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
		if own := o.Labels.Classes(i); len(own) > 0 {
			first[i] = own[0]
		}
	}
	return first
}

// withNames adds two arrays to the map: the concatenated names, and the byte offset of each name.
func withNames(all map[string]arrayMaker, name string, names []string) map[string]arrayMaker {
	all[name] = func(*call) (*array, error) { return column([]byte(strings.Join(names, ""))), nil }
	all[name+"_offsets"] = func(*call) (*array, error) {
		var offsets []int64
		if names != nil {
			offsets = make([]int64, len(names)+1)
		}
		for i, s := range names {
			offsets[i+1] = offsets[i] + int64(len(s))
		}
		return column(offsets), nil
	}
	return all
}

func read(c *call, a *arguments, o *gram.ReadOptions) (object, error) {
	source, err := a.name.string("source")
	if err != nil {
		return nil, err
	}
	in, err := gram.Read(c.ctx, strings.Clone(source), *o)
	return &dataset{in}, err
}

// corpusOptions holds the options of gram_corpus, a subset of gram.ReadOptions.
type corpusOptions struct {
	gram.Options
	MinDF, MaxDF int
	Vocabulary   []string
	Tokenizer    corpus.Tokenizer
	KeepTexts    bool
}

func newCorpus(c *call, a *arguments, o *corpusOptions) (object, error) {
	if a.x != nil && a.x.texts == nil && a.x.table == nil {
		for name := range nonzeroOptions(*o) {
			if !slices.Contains([]string{"isa", "workers", "memory_bytes"}, name) {
				return nil, fmt.Errorf("gram: option %q requires documents that are texts or a table", name)
			}
		}
	}
	in, err := c.corpusOf(a.x, "x", gram.ReadOptions{Options: o.Options, MinDF: o.MinDF, MaxDF: o.MaxDF,
		Vocabulary: o.Vocabulary, Tokenizer: o.Tokenizer, KeepTexts: o.KeepTexts})
	if err == nil && a.x.matrix != nil {
		in.Documents = cloneCSR(in.Documents)
	}
	return &dataset{in}, err
}

func cloneCSR(m *sparse.CSR) *sparse.CSR {
	return &sparse.CSR{Cols: m.Cols, Offsets: slices.Clone(m.Offsets), Terms: slices.Clone(m.Terms),
		Values: slices.Clone(m.Values)}
}

// sameTokenizer returns options that use the tokenizer of a corpus and keep rare terms.
func sameTokenizer(of *corpus.Corpus, o gram.Options) gram.ReadOptions {
	return gram.ReadOptions{Options: o, Tokenizer: of.Tokenizer, MinDF: 1}
}

// corpusPair converts two sets of documents to corpora. If the second set is nil, columns is nil.
// Unless read.MinDF is 1, terms that occur in only one text of the second set are removed from both
// corpora.
func (c *call) corpusPair(
	x, of *documents, name string, read gram.ReadOptions,
) (rows, columns *corpus.Corpus, err error) {
	if of == nil {
		rows, err = c.corpusOf(x, "x", read)
		return rows, nil, err
	}
	cut := of.texts != nil && read.MinDF != 1
	read.MinDF = 1
	if columns, err = c.corpusOf(of, name, read); err != nil {
		return nil, nil, err
	}
	if rows, err = c.corpusOf(x, "x", sameTokenizer(columns, read.Options)); err != nil {
		return nil, nil, err
	}
	if !cut {
		return rows, columns, nil
	}
	rare := map[string]bool{}
	terms, df := columns.Documents.TermFrequencies()
	for k, t := range terms {
		rare[columns.Vocabulary[t]] = df[k] == 1
	}
	return withoutTerms(rows, rare), withoutTerms(columns, rare), nil
}

func withoutTerms(c *corpus.Corpus, terms map[string]bool) *corpus.Corpus {
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

type kernelOptions struct {
	gram.Options
	Kernel string
}

func computeKernel(c *call, a *arguments, o *kernelOptions) (object, error) {
	rows, columns, err := c.corpusPair(a.x, a.y, "y", gram.ReadOptions{Options: o.Options})
	if err != nil {
		return nil, err
	}
	n := rows.Documents.Rows()
	m := n
	if columns != nil {
		m = columns.Documents.Rows()
	}
	if m > 0 && n > math.MaxInt/m {
		return nil, fmt.Errorf("gram: matrix must have at most %d values, got %d rows and %d columns", math.MaxInt, n, m)
	}
	out, err := a.floats.sliceN(int64(n*m), "out")
	if err != nil {
		return nil, err
	}
	if columns == nil {
		return nil, gram.GramTo(c.ctx, rows, o.Kernel, &engine.Symmetric{N: n, Data: out}, o.Options)
	}
	return nil, gram.CrossGramTo(c.ctx, rows, columns, o.Kernel, &engine.Dense{Rows: n, Cols: m, Data: out}, o.Options)
}

type neighbourOptions struct {
	gram.Options
	Kernel string
	Min    *float64
}

func findNeighbours(c *call, a *arguments, o *neighbourOptions) (object, error) {
	if a.k < 1 || a.k > math.MaxInt32 {
		return nil, fmt.Errorf("gram: k must be between 1 and %d, got %d", math.MaxInt32, a.k)
	}
	rows, columns, err := c.corpusPair(a.x, a.y, "of", gram.ReadOptions{Options: o.Options, MinDF: 1})
	if err != nil {
		return nil, err
	}
	n := int64(rows.Documents.Rows()) * a.k
	values, err := a.floats.sliceN(n, "out_values")
	if err != nil {
		return nil, err
	}
	numbers, err := a.numbers.slice("out_documents")
	if err != nil {
		return nil, err
	}
	found, err := gram.Neighbours(c.ctx, rows, gram.NeighbourOptions{Options: o.Options, K: int(a.k), Kernel: o.Kernel,
		Min: o.Min, Candidates: columns})
	if err != nil {
		return nil, err
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
	return nil, nil
}

func findDuplicates(c *call, a *arguments, o *gram.DuplicateOptions) (object, error) {
	in, err := c.corpusOf(a.x, "x", gram.ReadOptions{Options: o.Options, MinDF: 1,
		Tokenizer: corpus.NearDuplicateTokenizer})
	if err != nil {
		return nil, err
	}
	out, err := a.numbers.sliceN(int64(in.Documents.Rows()), "out_groups")
	if err != nil {
		return nil, err
	}
	groups, err := gram.Duplicates(c.ctx, in, *o)
	if err != nil {
		return nil, err
	}
	for i := range out {
		out[i] = -1
	}
	for g, group := range groups {
		for _, i := range group {
			out[i] = int64(g)
		}
	}
	return nil, nil
}
