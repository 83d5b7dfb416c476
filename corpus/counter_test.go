package corpus

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/gramengine/gram/internal/musttest"
)

// countedAs checks that a counter and FromTexts give the same documents.
func countedAs(t *testing.T, tokenizer Tokenizer, vocabulary, texts []string) {
	t.Helper()
	ctx := context.Background()
	want := musttest.Get(FromTexts(ctx, texts, nil, Options{Tokenizer: tokenizer, Vocabulary: vocabulary, Workers: 1}))(t)
	c := musttest.Get(NewCounter(tokenizer, vocabulary))(t)
	var group sync.WaitGroup
	for range 3 {
		group.Go(func() {
			for range 2 {
				got, err := c.Count(ctx, texts)
				if err != nil {
					t.Error(err)
					return
				}
				if m := want.Documents; got.Cols != m.Cols || !slices.Equal(got.Offsets, m.Offsets) ||
					!slices.Equal(got.Terms, m.Terms) || !slices.Equal(got.Values, m.Values) {
					t.Errorf("%v of %.80q: other counts than in a corpus", tokenizer, texts[0])
				}
			}
		})
	}
	group.Wait()
}

func TestCounter(t *testing.T) {
	texts := []string{"Rain, rain! go away", "", "no word of it \xff away\x00rain", strings.Repeat("go away ", 100)}
	for _, text := range []string{"", "word:ngrams=1..2", "word:digits,case", "char_wb:ngrams=2..3", `word:stop="go"`} {
		tokenizer := musttest.Get(ParseTokenizer(text))(t)
		c := musttest.Get(FromTexts(context.Background(), texts, nil, Options{Tokenizer: tokenizer, MinDF: 2}))(t)
		countedAs(t, tokenizer, c.Vocabulary, texts)
	}
	countedAs(t, Tokenizer{}, []string{"rain", "away"}, texts) // an unsorted vocabulary
	// These documents fill several pages of terms, and the vocabulary has several words of bits.
	words, many := make([]string, pageTerms/3), make([]string, 12)
	for i := range words {
		words[i] = strings.Map(func(r rune) rune { return r + 'a' - '0' }, strconv.Itoa(i))
	}
	for d := range many {
		var text strings.Builder
		for i := 0; i < len(words); i += 1 + d%5 {
			text.WriteString(strings.Repeat(words[i]+" ", 1+(i+d)%3))
		}
		many[d] = text.String()
	}
	countedAs(t, Tokenizer{}, words, many)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	c := musttest.Get(NewCounter(Tokenizer{}, []string{"a"}))(t)
	musttest.WantError(c.Count(ctx, texts))(t, "a count after the end of its context")
}

func FuzzCounter(f *testing.F) {
	f.Add("a b a", "a \xff b\n\nc", "a b")
	f.Add("é É\x00e", "\u0301", "é")
	f.Fuzz(func(t *testing.T, one, other, vocabulary string) {
		words := slices.Compact(slices.Sorted(strings.FieldsSeq(vocabulary)))
		if len(words) == 0 {
			return
		}
		countedAs(t, Tokenizer{}, words, []string{one, other, one})
		countedAs(t, Tokenizer{MinN: 1, MaxN: 2, Digits: true}, words, []string{other, one})
	})
}
