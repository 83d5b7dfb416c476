package sparse

import (
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

func terms(text string) []string {
	t := tokenizer{text: []byte(text)}
	var out []string
	for term := t.next(); term != nil; term = t.next() {
		out = append(out, string(term))
	}
	return out
}

func TestTokenize(t *testing.T) {
	for text, want := range map[string]string{
		"":                           "",
		" \t\n12.5":                  "",
		"a":                          "a",
		"Hello, WORLD!":              "hello world",
		"snake_case and CamelCase":   "snake case and camelcase",
		"don't x2y":                  "don t x y",
		"Ärger über Öl":              "ärger über öl",
		"naïve ΣΟΦΙΑ война":          "naïve σοφια война",
		"u\u0308ber \u0308x":         "u\u0308ber x", // a mark belongs to the letter before it
		"हिन्दी":                     "हिन्दी",
		"日本語 text":                   "日本語 text",
		"bad\xffbyte\xc3":            "bad byte",
		"İı \u212a":                  "iı k",
		"soft\u00adhyphen 'quoted’s": "soft hyphen quoted s",
		"Ⅷ ①":                        "", // numbers that look like letters
	} {
		if got := strings.Join(terms(text), " "); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// TestCountingStops checks that counting the words of a long text ends when it is told to.
func TestCountingStops(t *testing.T) {
	done := make(chan struct{})
	close(done)
	c := termCounter{done: done}
	c.add([]byte(strings.Repeat("a ", 2*stopEvery)))
	if got := c.count[0]; got >= stopEvery {
		t.Errorf("%d words counted, expected fewer than %d", got, stopEvery)
	}
}

// slowTerms is the definition: letters with the marks that follow them, in lower case.
func slowTerms(text string) []string {
	var out []string
	term := ""
	for i, r := range text {
		_, size := utf8.DecodeRuneInString(text[i:])
		valid := r != utf8.RuneError || size > 1
		switch {
		case valid && unicode.Is(unicode.L, r):
			term += string(unicode.ToLower(r))
		case valid && unicode.Is(unicode.M, r) && term != "":
			term += string(r)
		case term != "":
			out = append(out, term)
			term = ""
		}
	}
	if term != "" {
		out = append(out, term)
	}
	return out
}

func FuzzTokenize(f *testing.F) {
	for _, s := range []string{"Hello, World", "Ünïcode ÜBER x", "u\u0308 \u0308", "\xff\xc3a", "日本語", "don't",
		"ABCdef", "aÉb", "é\x00"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if got, want := terms(text), slowTerms(text); !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	})
}
