package repro

import (
	_ "embed"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/sparse"
)

// Preparation says which terms of a text count. Papers are seldom exact about it. A term is a run
// of lower-cased letters, as package sparse reads it, or of letters and digits, if whoever reads it
// takes [Preparation.Tokenizer].
type Preparation struct {
	Digits     bool   // terms may have digits
	MinDF      int    // leave out terms that fewer documents have
	MinLetters int    // leave out shorter terms
	StopWords  string // leave out the words of this file, white space between them, or [SMART]
}

// What the StopWords of a [Preparation] name other than a file.
const (
	SMART   = "smart" // the list of the SMART retrieval system
	NoWords = "none"  // no words are left out; so is the empty string
)

// smart is SMART's list of 571 English stop words, one of them twice, as Cornell University
// published it (ftp.cs.cornell.edu/pub/smart/english.stop). The 47 with an apostrophe are no runs
// of letters, so they never match; the others are the stop words of Rainbow and MALLET.
//
//go:embed smart.txt
var smart string

// Flags declares the flags that set p. minDF is the default of -min-df, stop that of -stop-words.
func (p *Preparation) Flags(f *flag.FlagSet, minDF int, stop string) {
	f.IntVar(&p.MinDF, "min-df", minDF, "leave out terms that fewer than `N` documents have")
	f.IntVar(&p.MinLetters, "min-letters", 1, "leave out terms of fewer than `N` letters")
	f.StringVar(&p.StopWords, "stop-words", stop, "leave out the words of `FILE`, smart (SMART's list) or none")
}

// String names the choice for the settings of a report.
func (p Preparation) String() string {
	parts := []string{"runs of letters, lower-cased"}
	if p.Digits {
		parts[0] = "runs of letters and digits, lower-cased"
	}
	if p.MinLetters > 1 {
		parts = append(parts, fmt.Sprintf("of %d letters or more", p.MinLetters))
	}
	if p.MinDF > 1 {
		parts = append(parts, fmt.Sprintf("in %d documents or more", p.MinDF))
	}
	stop := "without the stop words of " + p.StopWords
	switch p.StopWords {
	case "", NoWords:
		stop = "no stop words left out"
	case SMART:
		stop = "without the stop words of SMART"
	}
	return strings.Join(append(parts, stop), ", ")
}

// Tokenizer cuts text into terms.
func (p Preparation) Tokenizer() corpus.Tokenizer { return corpus.Tokenizer{Digits: p.Digits} }

// Check reports numbers that make no sense.
func (p Preparation) Check() error {
	if p.MinDF < 1 || p.MinLetters < 1 {
		return Usagef("-min-df %d, -min-letters %d, expected at least 1", p.MinDF, p.MinLetters)
	}
	return nil
}

// Apply leaves terms out of a corpus of text, whose columns stay as they are. An error is that of
// reading the stop words.
func (p Preparation) Apply(c *corpus.Corpus) (*corpus.Corpus, error) {
	stop, err := p.stopWords()
	if err != nil {
		return nil, err
	}
	df := c.Documents.DocumentFrequency()
	keep := make([]bool, len(df))
	for t, term := range c.Vocabulary {
		_, stopped := slices.BinarySearch(stop, term)
		keep[t] = int(df[t]) >= p.MinDF && utf8.RuneCountInString(term) >= p.MinLetters && !stopped
	}
	if !slices.Contains(keep, false) {
		return c, nil
	}
	less := *c
	less.Documents = &sparse.CSR{Cols: c.Documents.Cols, Offsets: []int64{0}}
	appendRows(less.Documents, c.Documents, func(t uint32) (uint32, bool) { return t, keep[t] })
	return &less, nil
}

// stopWords returns the words to leave out, in order.
func (p Preparation) stopWords() ([]string, error) {
	words := smart
	switch p.StopWords {
	case "", NoWords:
		return nil, nil
	case SMART:
	default:
		read, err := os.ReadFile(p.StopWords)
		if err != nil {
			return nil, err
		}
		words = string(read)
	}
	return slices.Sorted(strings.FieldsSeq(strings.ToLower(words))), nil
}

// appendRows appends the rows of a matrix to another. column says where the values of a term go,
// if anywhere.
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

// Concat returns the documents of two corpora, one after the other. Its terms and classes are
// those of both; corpora without a vocabulary, such as images, have the same columns.
func Concat(a, b *corpus.Corpus) *corpus.Corpus {
	both := slices.Concat(a.Vocabulary, b.Vocabulary)
	slices.Sort(both) // as each of them is, so terms ascend in a row as before
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
			for _, id := range from.Labels.Of(i) {
				ids = append(ids, int32(slices.Index(c.Classes, from.Classes[id])))
			}
			c.Labels.Add(ids...)
		}
	}
	return c
}
