package token

import (
	"slices"
	"strings"
	"testing"

	"github.com/gramengine/gram/internal/musttest"
)

// A text form can contain lists, and words, which are tokenised like text.
func TestStopLists(t *testing.T) {
	cut := func(stop, text string) string {
		t.Helper()
		tokenizer := musttest.Get(Parse(Tokenizer{StopWords: stop}.String()))(t)
		s := musttest.Get(tokenizer.NewScanner())(t)
		return strings.Join(fed(s, text), " ")
	}
	for _, c := range []struct{ stop, text, want string }{
		{"@english", "The engine AND its cars", "engine cars"},
		{"@english Cars", "The engine AND its cars", "engine"},
		{"@french @english", "le moteur and the car", "moteur car"},
		{"@klingon english", "the english klingon", "the"}, // no such list, so these are two words
		{"@", "the english", "the english"},
	} {
		if got := cut(c.stop, c.text); got != c.want {
			t.Errorf("without %q: %q, expected %q", c.stop, got, c.want)
		}
	}
	known := StopLists()
	if len(known) != 7 || !slices.IsSorted(known) {
		t.Errorf("lists of %q", known)
	}
	for language, word := range map[string]string{
		"english": "the", "french": "dans", "hungarian": "egy", "norwegian": "ikke", "russian": "что", "spanish": "para",
		"swedish": "inte",
	} {
		if got := cut("@"+language, word+" zzz"); got != "zzz" {
			t.Errorf("%s keeps %q", language, got)
		}
	}
}
