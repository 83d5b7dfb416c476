package token

import (
	"maps"
	"slices"
	"strings"

	"github.com/kljensen/snowball/english"
	"github.com/kljensen/snowball/french"
	"github.com/kljensen/snowball/hungarian"
	"github.com/kljensen/snowball/norwegian"
	"github.com/kljensen/snowball/russian"
	"github.com/kljensen/snowball/spanish"
	"github.com/kljensen/snowball/swedish"
)

// lists say what is a stop word of a language, in lower case.
var lists = map[string]func(word string) bool{
	"english": english.IsStopWord, "french": french.IsStopWord, "hungarian": hungarian.IsStopWord,
	"norwegian": norwegian.IsStopWord, "russian": russian.IsStopWord, "spanish": spanish.IsStopWord,
	"swedish": swedish.IsStopWord,
}

// StopLists returns the languages whose stop words are known: those of package
// github.com/kljensen/snowball. [Tokenizer.StopWords] names such a list with @ before the language.
func StopLists() []string { return slices.Sorted(maps.Keys(lists)) }

// stopWords are words to leave out: some, and those of lists.
type stopWords struct {
	words map[string]bool
	lists []func(word string) bool
}

// newStopWords reads stop words, which are cut as t cuts text.
func newStopWords(t Tokenizer) (stopWords, error) {
	out := stopWords{words: map[string]bool{}}
	var rest []string
	for word := range strings.FieldsSeq(t.StopWords) {
		if list := lists[strings.TrimPrefix(word, "@")]; list != nil && word[0] == '@' {
			out.lists = append(out.lists, list)
		} else {
			rest = append(rest, word)
		}
	}
	t.StopWords, t.MinN, t.MaxN, t.Pairs = "", 0, 0, false
	words, err := t.NewScanner()
	if err != nil {
		return out, err
	}
	words.Feed([]byte(strings.Join(rest, " ")))
	for w := words.Next(); w != nil; w = words.Next() {
		out.words[string(w)] = true
	}
	return out, nil
}

// has reports whether a word is to be left out.
func (s *stopWords) has(word []byte) bool {
	if s.words[string(word)] {
		return true
	}
	for _, list := range s.lists {
		if list(string(word)) {
			return true
		}
	}
	return false
}
