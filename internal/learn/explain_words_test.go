package learn

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/corpus/token"
	"github.com/gramengine/gram/internal/musttest"
)

// Words are runs of letters, marks and digits, and single letters of scripts without spaces.
func TestWordsOf(t *testing.T) {
	text := "Don't PANIC, don't: 42 cafe\u0301s\u3001很好吃 กำ很"
	words, places := wordsOf(text)
	want := []string{"don", "t", "panic", "42", "cafe\u0301s", "很", "好", "吃", "ก", "ำ"}
	if !slices.Equal(words, want) {
		t.Errorf("words %q, expected %q", words, want)
	}
	var found []string
	for _, at := range places {
		found = append(found, text[at.start:at.end])
	}
	want = []string{"Don", "t", "PANIC", "don", "t", "42", "cafe\u0301s", "很", "好", "吃", "ก", "ำ", "很"}
	if !slices.Equal(found, want) {
		t.Errorf("places %q, expected %q", found, want)
	}
	if got, want := blankWord(text, places, 0), " 't PANIC,  't: 42 cafe\u0301s\u3001很好吃 กำ很"; got != want {
		t.Errorf("%q, expected %q", got, want)
	}
}

// Counts without a word, recounted around its occurrences, equal the counts of the shortened text.
func TestWithoutWords(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	parts := []string{"a", "the", "Engine", "don't", "x-ray", "42", "--", "é", "cafe\u0301s", "\xff", "stalls", "in.the"}
	gaps := []string{" ", " ", " ", "  ", "\n", " - ", "\u00a0", "\t"}
	for _, views := range []string{"words", "words:1..3", "chars:2..5", "words:1..2 + chars:2..4", "char:ngrams=3..6",
		"word:ngrams=2..2,digits", "words:1..3,case"} {
		tokenizer := musttest.Get(token.ParseViews(views))(t)
		compared := 0
		for range 100 {
			var b strings.Builder
			for range 1 + r.IntN(40) {
				b.WriteString(parts[r.IntN(len(parts))] + gaps[r.IntN(len(gaps))])
			}
			text := b.String()
			words, places := wordsOf(text)
			texts, near := []string{text}, make([][]occurrence, len(words))
			for j := range words {
				texts = append(texts, blankWord(text, places, j))
			}
			for _, at := range places {
				near[at.word] = append(near[at.word], at)
			}
			c, err := corpus.FromTexts(t.Context(), texts, nil, corpus.Options{Tokenizer: tokenizer})
			if err != nil {
				continue // not a term
			}
			counter := musttest.Get(corpus.NewCounter(tokenizer, c.Vocabulary))(t)
			whole := c.Documents.SelectRows([]int{0})
			got := musttest.Get(countWithoutWords(t.Context(), counter, whole, text, near, tokenizer.ContextWords()))(t)
			compared++
			for j := range words {
				terms, values := got.Row(j)
				wantTerms, wantValues := c.Documents.Row(1 + j)
				if !slices.Equal(terms, wantTerms) || !slices.Equal(values, wantValues) {
					t.Fatalf("%s: %q without %q: terms %v %v, expected %v %v", views, text, words[j], terms, values, wantTerms,
						wantValues)
				}
			}
		}
		if compared < 90 { // some texts have no terms
			t.Errorf("%s: %d texts compared", views, compared)
		}
	}
}
