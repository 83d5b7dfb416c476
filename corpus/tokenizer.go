package corpus

import (
	"fmt"

	"github.com/gramengine/gram/corpus/token"
	"github.com/gramengine/gram/sparse"
)

// Tokenizer describes the terms of a text, see [github.com/gramengine/gram/corpus/token.Tokenizer].
// The zero value is the default: lower-case runs of letters.
type Tokenizer = token.Tokenizer

// NearDuplicateTokenizer is the tokenizer for finding near duplicates. Words may contain digits,
// because texts that differ in a number are different.
var NearDuplicateTokenizer = Tokenizer{Digits: true}

// Columns are the columns of a table that views use; see [token.Columns].
type Columns = token.Columns

// Script describes the letters of a script without spaces; see [token.CountScripts].
type Script = token.Script

// ParseTokenizer parses the text form of a tokenizer, such as "word:ngrams=1..2,digits"; see
// [token.Parse].
func ParseTokenizer(s string) (Tokenizer, error) { return token.Parse(s) }

const unknownMessage = "word outside the vocabulary, ignored"

// TokenizerViews returns a tokenizer's views as blocks of columns of a sorted vocabulary, for
// [sparse.CSR]. It returns nil if the tokenizer has no views, or if rows are vectors of
// measurements, which have scaled columns. It fails if the vocabulary doesn't match the tokenizer.
func TokenizerViews(t Tokenizer, vocabulary []string) ([]sparse.View, error) {
	first, err := t.ViewOffsets(vocabulary)
	if err != nil {
		return nil, fmt.Errorf("corpus: %w", err)
	}
	if t.HasValues() {
		return nil, nil
	}
	var views []sparse.View
	split, _ := t.SplitViews()
	for i, v := range split {
		views = append(views, sparse.View{First: uint32(first[i]), Weight: v.Weight,
			Vector: v.Analyzer == token.AnalyzerVector})
	}
	return views, nil
}
