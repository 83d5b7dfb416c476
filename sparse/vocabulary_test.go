package sparse

import (
	"errors"
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

func terms(text string) []string {
	t, err := Tokenizer{}.NewScanner()
	if err != nil {
		panic(err)
	}
	t.Feed([]byte(text))
	var out []string
	for term := t.Next(); term != nil; term = t.Next() {
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

// A vocabulary that comes later is as good as one that is there at once, and only text asks for it.
func TestVocabularyLater(t *testing.T) {
	tsv := writeFile(t, "a.tsv", "x\tto be or not to be\ny\tbe\n")
	folder := t.TempDir()
	writeInto(t, filepath.Join(folder, "x", "1"), "to be or not to be")
	for _, source := range []string{tsv, folder, "synthetic:docs=30,terms=50,length=20,classes=2"} {
		vocabulary := []string{"to", "be", "t07", "t00"}
		want := readWhole(t, source, Options{Vocabulary: vocabulary})
		asked := 0
		later := func() ([]string, error) { asked++; return vocabulary, nil }
		if got := readWhole(t, source, Options{VocabularyLater: later}); !reflect.DeepEqual(got, want) || asked != 1 {
			t.Errorf("%s: another corpus, or the vocabulary was asked for %d times", source, asked)
		}
		if want.Documents.NNZ() == 0 {
			t.Errorf("%s: no values, the test is void", source)
		}

		wrong := errors.New("no model")
		fail := func() ([]string, error) { return nil, wrong }
		if _, err := Read(t.Context(), source, Options{VocabularyLater: fail}); !errors.Is(err, wrong) {
			t.Errorf("%s: error %v, expected that of the vocabulary", source, err)
		}
		twice := func() ([]string, error) { return []string{"a", "b", "a"}, nil }
		_, err := Read(t.Context(), source, Options{VocabularyLater: twice})
		if err == nil || !strings.Contains(err.Error(), `"a" twice`) {
			t.Errorf("%s: error %v, expected that a term is there twice", source, err)
		}
		_, err = Read(t.Context(), source, Options{Vocabulary: vocabulary, VocabularyLater: later})
		if err == nil {
			t.Errorf("%s: two vocabularies are accepted", source)
		}
	}
	vectors := readWhole(t, writeFile(t, "a.svm", "1 1:1\n"), Options{VocabularyLater: func() ([]string, error) {
		t.Error("vectors ask for a vocabulary")
		return nil, nil
	}})
	if vectors.Vocabulary != nil {
		t.Error("vectors have a vocabulary")
	}
}

// Terms that share a place, since they agree in what is hashed, are told apart, met in turns as
// well as one after the other.
func TestRecentTerms(t *testing.T) {
	var words []string
	for c := 'a'; c <= 'e'; c++ {
		words = append(words, fmt.Sprintf("beginning%clastending", c), string(c))
	}
	if a, b := termHash([]byte(words[0])), termHash([]byte(words[2])); a != b {
		t.Fatalf("%s and %s have different hashes: the test tests nothing", words[0], words[2])
	}
	var c termCounter
	want := map[string]uint32{}
	for round := range 7 {
		for i, w := range words {
			for range 1 + (i+round)%3 {
				c.add([]byte(w + " "))
				want[w]++
			}
		}
	}
	if len(c.terms) != len(words) {
		t.Errorf("%d terms, expected %d", len(c.terms), len(words))
	}
	for id, term := range c.terms {
		if c.count[id] != want[term] {
			t.Errorf("%s is counted %d times, expected %d", term, c.count[id], want[term])
		}
	}
}
