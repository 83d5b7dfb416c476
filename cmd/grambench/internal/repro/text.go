package repro

import (
	"bufio"
	"fmt"
	"os"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/gramengine/gram/sparse"
)

// Preparation says which terms of a text count. Papers are seldom exact about it. A term is a run of lower-cased letters, as package sparse reads it.
type Preparation struct {
	MinDF      int    // terms that fewer documents have are left out
	MinLetters int    // and so are shorter ones
	StopWords  string // and those in this file, white space between them; empty for none
}

// String names the choice for the settings of a report.
func (p Preparation) String() string {
	parts := []string{"runs of letters, lower-cased"}
	if p.MinLetters > 1 {
		parts = append(parts, fmt.Sprintf("of %d letters or more", p.MinLetters))
	}
	if p.MinDF > 1 {
		parts = append(parts, fmt.Sprintf("in %d documents or more", p.MinDF))
	}
	if p.StopWords == "" {
		return strings.Join(append(parts, "no stop words left out"), ", ")
	}
	return strings.Join(append(parts, "without the stop words of "+p.StopWords), ", ")
}

// Check reports numbers that make no sense.
func (p Preparation) Check() error {
	if p.MinDF < 1 || p.MinLetters < 1 {
		return UsageError{fmt.Errorf("-min-df %d, -min-letters %d, expected at least 1", p.MinDF, p.MinLetters)}
	}
	return nil
}

// Apply leaves terms out of a corpus of text, whose columns stay as they are. Errors are those of reading the stop words.
func (p Preparation) Apply(c *sparse.Corpus) (*sparse.Corpus, error) {
	stop := map[string]bool{}
	if p.StopWords != "" {
		f, err := os.Open(p.StopWords)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		words := bufio.NewScanner(f)
		words.Split(bufio.ScanWords)
		for words.Scan() {
			stop[strings.ToLower(words.Text())] = true
		}
		if err := words.Err(); err != nil {
			return nil, fmt.Errorf("%s: %w", p.StopWords, err)
		}
	}
	df := c.Documents.DocumentFrequency()
	keep := make([]bool, len(df))
	all := true
	for t, term := range c.Vocabulary {
		keep[t] = int(df[t]) >= p.MinDF && utf8.RuneCountInString(term) >= p.MinLetters && !stop[term]
		all = all && keep[t]
	}
	if all {
		return c, nil
	}
	m := &sparse.CSR{Cols: c.Documents.Cols, Offsets: []int64{0}}
	for i := range c.Documents.Rows() {
		terms, values := c.Documents.Row(i)
		for k, t := range terms {
			if keep[t] {
				m.Terms, m.Values = append(m.Terms, t), append(m.Values, values[k])
			}
		}
		m.Offsets = append(m.Offsets, int64(len(m.Terms)))
	}
	less := *c
	less.Documents = m
	return &less, nil
}

// Concat returns the documents of two corpora of text, one behind the other, over the terms and classes of both.
func Concat(a, b *sparse.Corpus) *sparse.Corpus {
	both := slices.Concat(a.Vocabulary, b.Vocabulary)
	slices.Sort(both) // as each of them is, so terms ascend in a row as before
	both = slices.Compact(both)
	column := make(map[string]uint32, len(both))
	for t, term := range both {
		column[term] = uint32(t)
	}
	c := &sparse.Corpus{
		Source: a.Source + " and " + b.Source, Vocabulary: both, Classes: slices.Clone(a.Classes),
		Documents: &sparse.CSR{Cols: len(both), Offsets: []int64{0}}, Labels: sparse.Labels{Offsets: []int64{0}}, Warnings: slices.Concat(a.Warnings, b.Warnings),
	}
	class := map[string]int32{}
	for i, name := range a.Classes {
		class[name] = int32(i)
	}
	for _, name := range b.Classes {
		if _, ok := class[name]; !ok {
			class[name] = int32(len(c.Classes))
			c.Classes = append(c.Classes, name)
		}
	}
	m := c.Documents
	for _, from := range []*sparse.Corpus{a, b} {
		for i := range from.Documents.Rows() {
			terms, values := from.Documents.Row(i)
			for k, t := range terms {
				m.Terms, m.Values = append(m.Terms, column[from.Vocabulary[t]]), append(m.Values, values[k])
			}
			m.Offsets = append(m.Offsets, int64(len(m.Terms)))
			var ids []int32
			for _, id := range from.Labels.Of(i) {
				ids = append(ids, class[from.Classes[id]])
			}
			c.Labels.Add(ids...)
		}
	}
	return c
}
