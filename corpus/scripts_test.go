package corpus

import (
	"slices"
	"testing"

	"github.com/gramengine/gram/internal/musttest"
)

// Readers divide scripts without spaces into characters and pairs, and warn about these scripts. A
// tokenizer that is set together with a vocabulary is used unchanged.
func TestScripts(t *testing.T) {
	texts := []string{"iPhone手机", "iphone"}
	read := func(texts []string, opt Options) *Corpus {
		t.Helper()
		opt.MinDF = 1
		return musttest.Get(FromTexts(t.Context(), texts, nil, opt))(t)
	}
	c := read(texts, Options{})
	if want := []string{"iphone", "手", "手机", "机"}; !slices.Equal(c.Vocabulary, want) {
		t.Errorf("%q, expected %q", c.Vocabulary, want)
	}
	want := Script{Name: "Chinese", Share: 2. / 14}
	if c.Tokenizer.String() != "word:pairs" || !slices.Equal(c.Scripts, []Script{want}) {
		t.Errorf("tokenizer %s, scripts %v, expected word:pairs, %v", c.Tokenizer, c.Scripts, want)
	}
	if c := read(texts[1:], Options{}); c.Tokenizer != (Tokenizer{}) || c.Scripts != nil {
		t.Errorf("English: tokenizer %s, scripts %v", c.Tokenizer, c.Scripts)
	}
	if c := read(texts, Options{Tokenizer: Tokenizer{Pattern: `\pL+`}}); c.Tokenizer.Pairs || len(c.Vocabulary) != 2 {
		t.Errorf("a pattern: tokenizer %s, %q", c.Tokenizer, c.Vocabulary)
	}
	if c := read(texts, Options{Tokenizer: Tokenizer{Views: "words + chars:3"}}); len(c.Scripts) != 1 ||
		c.Tokenizer.String() != "word:pairs + char_wb:ngrams=3" || !slices.Contains(c.Vocabulary, "\x01手机") {
		t.Errorf("views: tokenizer %s, scripts %v, %q", c.Tokenizer, c.Scripts, c.Vocabulary)
	}
	if c := read(texts, Options{Vocabulary: c.Vocabulary}); c.Documents.NNZ() != 5 {
		t.Errorf("%d values with the vocabulary, expected 5", c.Documents.NNZ())
	}
	old := read(texts, Options{ModelTokenizer: &Tokenizer{}})
	if want := []string{"iphone", "iphone手机"}; !slices.Equal(old.Vocabulary, want) || old.Tokenizer != (Tokenizer{}) {
		t.Errorf("a tokenizer of before: %q, %s, expected %q", old.Vocabulary, old.Tokenizer, want)
	}
	counter := musttest.Get(NewCounter(old.Tokenizer, old.Vocabulary))(t)
	if m, err := counter.Count(t.Context(), texts); err != nil || m.NNZ() != 2 {
		t.Errorf("a counter of before: %v, %v", m, err)
	}
}
