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

// stopLists maps each language to a function that reports whether a lower-case word is a stop word.
var stopLists = map[string]func(word string) bool{
	"english": english.IsStopWord, "french": french.IsStopWord, "hungarian": hungarian.IsStopWord,
	"norwegian": norwegian.IsStopWord, "russian": russian.IsStopWord, "spanish": spanish.IsStopWord,
	"swedish": swedish.IsStopWord,
}

// StopLists returns the languages with lists of stop words, from package
// github.com/kljensen/snowball. [Tokenizer.StopWords] selects a list by @ and its language.
func StopLists() []string { return slices.Sorted(maps.Keys(stopLists)) }

// stopWords are the words to drop: single words and lists.
type stopWords struct {
	words map[string]bool
	lists []func(word string) bool
}

// newStopWords parses stop words and tokenises them by t.
func newStopWords(t Tokenizer) (stopWords, error) {
	out := stopWords{words: map[string]bool{}}
	var rest []string
	for word := range strings.FieldsSeq(t.StopWords) {
		if list := stopLists[strings.TrimPrefix(word, "@")]; list != nil && word[0] == '@' {
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
