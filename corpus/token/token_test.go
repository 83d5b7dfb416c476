package token

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/gramengine/gram/internal/musttest"
)

// fed returns the terms of a text.
func fed(s *Scanner, text string) (terms []string) {
	s.Feed([]byte(text))
	for term := s.Next(); term != nil; term = s.Next() {
		terms = append(terms, string(term))
	}
	return terms
}

// terms returns the terms of documents, passed line by line.
func terms(t testing.TB, tokenizer Tokenizer, documents ...string) [][]string {
	t.Helper()
	s := musttest.Get(tokenizer.NewScanner())(t)
	var out [][]string
	for _, d := range documents {
		var own []string
		for line := range strings.Lines(d) {
			own = append(own, fed(s, line)...)
		}
		s.End()
		out = append(out, own)
	}
	return out
}

// Terms agree exactly with scikit-learn's CountVectorizer for the same parameters.
func TestTerms(t *testing.T) {
	for _, c := range []struct {
		tokenizer, text string
		want            []string
	}{
		{"word", "It's NOT 2nd-rate,\ncafé", []string{"it", "s", "not", "nd", "rate", "café"}},
		{"word:digits", "It's 2nd in 1999", []string{"it", "s", "2nd", "in", "1999"}},
		{"word:case", "The THE Ärger", []string{"The", "THE", "Ärger"}},
		{"word:ngrams=1..2", "a b\nc", []string{"a", "b", "a b", "c", "b c"}},
		{"word:ngrams=2", "a", nil},
		{"word:ngrams=2..3", "a b c d", []string{"a b", "b c", "a b c", "c d", "b c d"}},
		{`word:stop="The OF"`, "The end of the day", []string{"end", "day"}},
		{`word:ngrams=2,stop="of"`, "cup of tea", []string{"cup tea"}},
		{`word:stop="don't"`, "don't do it", []string{"do", "it"}},
		{`word:pattern="[\\pL\\pN_]{2,}"`, "a bc_1 É dé, X", []string{"bc_1", "dé"}},
		{`word:pattern="(\\w+):"`, "to: me from: you", []string{"to", "from"}},
		{`word:pattern="x*"`, "axxb", []string{"xx"}},
		{`word:pattern="\\bfoo"`, "foofoo foo", []string{"foo", "foo"}},
		{`word:pattern="^\\w+"`, "first word\nsecond line", []string{"first", "second"}},
		{"word:normalize=NFKC", "ﬁne cafe\u0301", []string{"fine", "café"}},
		{"word:accents=strip", "Café Ångström ﬁ", []string{"cafe", "angstrom", "fi"}},
		{"char:ngrams=2", "ab \n c", []string{"ab", "b ", " c"}},
		{"char:ngrams=1..2", "aé", []string{"a", "é", "aé"}},
		{"char_wb:ngrams=3", "ab cde", []string{" ab", "ab ", " cd", "cde", "de "}},
		{"char_wb:ngrams=5", "ab cdef", []string{" ab ", " cdef", "cdef "}},
		{"char_wb:ngrams=4..5", "ab\nc", []string{" ab ", " c "}},
		{"char_wb:ngrams=3", "שלום", []string{" של", "שלו", "לום", "ום "}},
		{"char_wb:ngrams=2", "a😀 𠮷𝒳", []string{" a", "a😀", "😀 ", " 𠮷", "𠮷𝒳", "𝒳 "}},
		{"char:ngrams=2", "e\u0301👍🏽", []string{"e\u0301", "\u0301👍", "👍🏽"}},
		{"word", "مرحبا بالعالم 👍🏽 𝒳𠮷 שלום", []string{"مرحبا", "بالعالم", "𝒳𠮷", "שלום"}},
		{"word:normalize=NFC", "cafe\u0301 👨‍👩‍👧", []string{"café"}},
		{"char:ngrams=2", "a\x00\xffb", []string{"a�", "��", "�b"}},
	} {
		tokenizer, err := Parse(c.tokenizer)
		if err != nil {
			t.Errorf("%s: %v", c.tokenizer, err)
			continue
		}
		for i, got := range terms(t, tokenizer, c.text, c.text) {
			if !slices.Equal(got, c.want) {
				t.Errorf("%s of %q: %q, expected %q (document %d)", c.tokenizer, c.text, got, c.want, i)
			}
		}
		if s := tokenizer.String(); s != c.tokenizer && !strings.Contains(s, "stop") {
			t.Errorf("%q is written %q", c.tokenizer, s)
		}
	}
}

func TestBadTokenizers(t *testing.T) {
	for s, want := range map[string]string{
		"words": "analyzer", "word:": "unknown or repeated option", "word:ngrams=0": "ngrams", "word:ngrams=2..1": "ngrams",
		"word:ngrams=1..101": "ngrams", "word:digits=1": "digits", "word:digits,digits": "digits",
		`word:pattern="("`: "missing closing", `word:pattern="(a)(b)"`: "2 groups", `word:pattern="a"x`: `"x"`,
		`word:pattern="a",digits`: "cannot be combined", "char:digits": `analyzer "word"`,
		`char_wb:stop="a"`: `analyzer "word"`,
		"word:pairs=1":     "pairs", "char:pairs": `analyzer "char"`, `word:pairs,pattern="a"`: `got analyzer "word"`,
		"word:normalize=NFX": "NFKD", "word:accents=keep": "accents", "word:colour=red": "colour", "word:stop=": "stop",
		"word:digits,": "unknown or repeated option",
	} {
		musttest.WantError(Parse(s))(t, s, want)
	}
	musttest.WantError((Tokenizer{MinN: -1}).Validate())(t, "n-grams from -1")
	musttest.WantError((Tokenizer{MinN: 3, MaxN: 2}).NewScanner())(t, "n-grams from 3 to 2")
}

// Parse and String are inverse to each other.
func FuzzParse(f *testing.F) {
	for _, s := range []string{
		"", "word", "word:ngrams=1..2,digits", "word:pairs,case", "words:1..2,pairs + 2*chars:2..4",
		`char_wb:ngrams=2..4,case,normalize=nfkc,accents=strip`,
		`word:pattern="\\w+,\"",stop="the a \xff"`, "word:ngrams=1..1",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		tokenizer, err := Parse(s)
		if err != nil {
			return
		}
		again, err := Parse(tokenizer.String())
		if err != nil || again.Canonical() != tokenizer.Canonical() || again.String() != tokenizer.String() {
			t.Fatalf("%q is %+v, written %q, read %+v, %v", s, tokenizer, tokenizer.String(), again, err)
		}
	})
}

// naive divides a prepared text like scikit-learn's analyzers, except that for char a run of white
// space becomes a space.
func naive(t Tokenizer, text string) []string {
	least, most := t.ngramRange()
	var out []string
	slide := func(units []string, between string) {
		for n := least; n <= most; n++ {
			for i := 0; i+n <= len(units); i++ {
				out = append(out, strings.Join(units[i:i+n], between))
			}
		}
	}
	switch t.Analyzer {
	case AnalyzerChar:
		text = strings.Join(strings.Fields("x"+text+"x"), " ")
		slide(strings.Split(text[1:len(text)-1], ""), "")
	case AnalyzerCharWB:
		for _, w := range strings.Fields(text) {
			units := strings.Split(" "+w+" ", "")
			if len(units) < least {
				out = append(out, " "+w+" ")
			}
			slide(units, "")
		}
	case AnalyzerWord:
		slideUnits(t, text, func(term string) { out = append(out, term) })
	}
	slices.Sort(out)
	return out
}

// For any text, whole or line by line, the n-grams equal the result of naive, and are valid UTF-8.
func FuzzScanner(f *testing.F) {
	f.Add("Some text\nof lines  with\tspace", 0, 1, 2)
	f.Add("a\xffb\x00 é\u2003x\u0301 ﬁ", 1, 2, 3)
	f.Add("short wörds and\r\nlonger ones", 2, 3, 5)
	f.Add("iPhone手机很好，5G网络。\nコーヒーﾊﾞｯｸﾞ葛\U000E0100飾 𠮷野家", 0, 5, 0) // without normalisation
	f.Add("ที่นี่ดีมาก 한국어 "+strings.Repeat("가\u1102\u1161\u11ab", 7)+"는", 0, 1, 4)
	f.Add("\u1161手\u1161\uff9e가\uff9e\u0301나", 3, 5, 9)
	f.Fuzz(func(t *testing.T, text string, analyzer, least, more int) {
		tokenizer := Tokenizer{Analyzer: []Analyzer{AnalyzerWord, AnalyzerChar, AnalyzerCharWB}[uint(analyzer)%3]}
		tokenizer.MinN = 1 + int(uint(least)%6)
		tokenizer.MaxN = tokenizer.MinN + int(uint(more)%4)
		tokenizer.Normalize = []string{"", "NFC", "NFD", "NFKC", "NFKD"}[uint(least)%5]
		tokenizer.StripAccents = more%2 == 0
		if tokenizer.Analyzer == AnalyzerWord {
			tokenizer.Digits = more%3 == 0
			tokenizer.Pairs = least%4 != 0
		}
		s := musttest.Get(tokenizer.NewScanner())(t)
		// Both methods share the preparation of text; the test compares the terms.
		var prepared []byte
		for line := range bytes.Lines([]byte(text)) {
			prepared = append(prepared, s.prepare(line)...)
		}
		got := terms(t, tokenizer, text)[0]
		for _, term := range got {
			if term == "" || !utf8.ValidString(term) {
				t.Fatalf("the term %q", term)
			}
		}
		slices.Sort(got)
		if tokenizer.Normalize != "" && !tokenizer.StripAccents && !normForms[tokenizer.Normalize].IsNormal(prepared) &&
			!strings.Contains(text, "\n") {
			t.Fatalf("%q isn't %s", prepared, tokenizer.Normalize)
		}
		if want := naive(tokenizer, string(prepared)); !slices.Equal(got, want) {
			t.Fatalf("%s of %q: %q, expected %q", tokenizer, text, got, want)
		}
		whole := fed(s, text)
		if slices.Sort(whole); !slices.Equal(whole, got) {
			t.Fatalf("%s of %q: %q whole, %q line by line", tokenizer, text, whole, got)
		}
	})
}

// A long line is divided at white space without losing terms.
func TestLongLine(t *testing.T) {
	text := strings.Repeat("ab cde ", 30000)
	for _, s := range []string{
		"word:ngrams=1..2", "char:ngrams=3", "char_wb:ngrams=3", `word:pattern="[a-z]+"`, "word:normalize=NFC", "word:pairs",
	} {
		tokenizer := musttest.Get(Parse(s))(t)
		scanner, _ := tokenizer.NewScanner()
		got := fed(scanner, text)
		if slices.Sort(got); !slices.Equal(got, naive(tokenizer, text)) {
			t.Errorf("%s: %d terms, expected %d", s, len(got), len(naive(tokenizer, text)))
		}
		if cap(scanner.prepared) > 4*lineChunkBytes {
			t.Errorf("%s: a buffer of %d bytes", s, cap(scanner.prepared))
		}
	}
}
