package repro

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"

	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/sparse"
)

// TermSettings holds settings that select the terms of texts. A term is a sequence of lower-case
// letters, or of letters and digits if Digits is set.
type TermSettings struct {
	Digits    bool      `param:"digits" help:"allow digits in terms"`
	MinDF     int       `param:"min-df" min:"1" help:"minimum document frequency of terms"`
	StopWords StopWords `param:"stop-words" max:"2" help:"stop words; rainbow = the SMART list, except for WebKB"`
}

// StopWords selects a list of ignored words.
type StopWords int

// Lists of stop words. RainbowStopWords is the list used by Zhang, Chen and Lee: SMART's list, or
// an empty list for WebKB.
const (
	NoStopWords StopWords = iota
	SMARTStopWords
	RainbowStopWords
)

func (s StopWords) String() string { return []string{"none", "smart", "rainbow"}[s] }

// smartWords is SMART's list of 571 English stop words, as published by Cornell University
// (ftp.cs.cornell.edu/pub/smart/english.stop). One word occurs twice. 47 words contain an
// apostrophe, so they never occur as terms.
//
//go:embed smart.txt
var smartWords string

func (t TermSettings) String() string {
	parts := []string{"lower-cased runs of letters"}
	if t.Digits {
		parts[0] = "lower-cased runs of letters and digits"
	}
	if t.MinDF > 1 {
		parts = append(parts, fmt.Sprintf("in at least %d documents", t.MinDF))
	}
	stop := []string{"with stop words", "without SMART stop words",
		"without SMART stop words except in WebKB"}
	return strings.Join(append(parts, stop[t.StopWords]), ", ")
}

// Apply returns c without stop words and without terms that occur in fewer than MinDF documents.
// The vocabulary is unchanged.
func (t TermSettings) Apply(c *corpus.Corpus) *corpus.Corpus {
	var stop []string
	if t.StopWords != NoStopWords {
		stop = slices.Sorted(strings.FieldsSeq(smartWords))
	}
	df := c.Documents.DocumentFrequency()
	less := *c
	less.Documents = &sparse.CSR{Cols: c.Documents.Cols, Offsets: []int64{0}}
	appendRows(less.Documents, c.Documents, func(k uint32) (uint32, bool) {
		_, stopped := slices.BinarySearch(stop, c.Vocabulary[k])
		return k, int(df[k]) >= t.MinDF && !stopped
	})
	return &less
}

// appendRows appends all rows of the matrix from to the matrix to. The function column returns the
// new column of a term, or false to remove the term.
func appendRows(to, from *sparse.CSR, column func(term uint32) (uint32, bool)) {
	for i := range from.Rows() {
		terms, values := from.Row(i)
		for k, t := range terms {
			if at, ok := column(t); ok {
				to.Terms, to.Values = append(to.Terms, at), append(to.Values, values[k])
			}
		}
		to.Offsets = append(to.Offsets, int64(len(to.Terms)))
	}
}

// Concat returns a corpus with the documents of a and b. Its terms and classes are the unions of
// the terms and classes of a and b. Corpora without a vocabulary, such as images, must have the
// same columns.
func Concat(a, b *corpus.Corpus) *corpus.Corpus {
	both := slices.Concat(a.Vocabulary, b.Vocabulary)
	slices.Sort(both)
	both = slices.Compact(both)
	c := &corpus.Corpus{
		Source: a.Source + " and " + b.Source, Vocabulary: both, Classes: slices.Clone(a.Classes),
		Documents: &sparse.CSR{Cols: max(a.Documents.Cols, len(both)), Offsets: []int64{0}},
		Labels:    sparse.Labels{Offsets: []int64{0}}, Warnings: slices.Concat(a.Warnings, b.Warnings),
	}
	for _, class := range b.Classes {
		if !slices.Contains(a.Classes, class) {
			c.Classes = append(c.Classes, class)
		}
	}
	for _, from := range []*corpus.Corpus{a, b} {
		columns := make([]uint32, from.Documents.Cols)
		for t := range columns {
			columns[t] = uint32(t)
			if len(both) > 0 {
				at, _ := slices.BinarySearch(both, from.Vocabulary[t])
				columns[t] = uint32(at)
			}
		}
		appendRows(c.Documents, from.Documents, func(t uint32) (uint32, bool) { return columns[t], true })
		for i := range from.Documents.Rows() {
			var ids []int32
			for _, id := range from.Labels.Classes(i) {
				ids = append(ids, int32(slices.Index(c.Classes, from.Classes[id])))
			}
			c.Labels.Add(ids...)
		}
	}
	return c
}
