package token

import (
	"slices"
	"strings"
	"testing"

	"github.com/gramengine/gram/internal/musttest"
)

func TestViewsParse(t *testing.T) {
	for in, want := range map[string]string{
		"words:1..2 + chars:2..5":                "word:ngrams=1..2 + char_wb:ngrams=2..5",
		" words+0.5 * chars : 3":                 "",
		"words+0.5*chars:3":                      "word + 0.5*char_wb:ngrams=3",
		"2*word":                                 "2*word",
		`word:pattern="a+b*c",case + char:2`:     `word:case,pattern="a+b*c" + char:ngrams=2`,
		"words:2,digits + words:stop=\"a + b\"":  `word:ngrams=2,digits + word:stop="+ a b"`,
		"words + ":                               "",
		"words + 0*chars":                        "",
		"words + NaN*chars":                      "",
		"words + runes":                          "",
		strings.Repeat("words + ", 9) + "chars":  "",
		"+":                                      "",
		"*":                                      "",
		"chars:2..4":                             "char_wb:ngrams=2..4",
		"word:ngrams=1..2 + char_wb:ngrams=2..5": "word:ngrams=1..2 + char_wb:ngrams=2..5",
	} {
		got, err := ParseViews(in)
		if (err != nil) != (want == "") {
			t.Errorf("%q: %v", in, err)
		}
		if err != nil {
			continue
		}
		if got.String() != want {
			t.Errorf("%q is %q, expected %q", in, got, want)
		}
		if again, err := Parse(got.String()); err != nil || again != got || again.Canonical() != again {
			t.Errorf("%q is read back as %q, %v", got, again, err)
		}
	}
	if err := (Tokenizer{Views: "words + chars:2", Digits: true}).Validate(); err == nil {
		t.Error("views pass with digits beside them")
	}
}

func TestViewsScan(t *testing.T) {
	both := musttest.Get(Parse("words:1..2 + chars:3"))(t)
	s := musttest.Get(both.NewScanner())(t)
	views, _ := both.Split()
	for _, text := range []string{"The cat sat\non the mat", "", "一二 café", "שָׁלוֹם 👍🏽 𠮷𝒳 e\u0301 مرحبا"} {
		var got, want []string
		s.Feed([]byte(text))
		for term := s.Next(); term != nil; term = s.Next() {
			got = append(got, string(term))
		}
		s.End()
		for i, v := range views {
			one, _ := v.NewScanner()
			one.Feed([]byte(text))
			for term := one.Next(); term != nil; term = one.Next() {
				want = append(want, prefixOf(i)+string(term))
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%q gives %q, expected %q", text, got, want)
		}
		slices.Sort(want)
		first, err := both.FirstColumns(want)
		if err != nil || len(first) != 2 || first[0] != 0 {
			t.Fatalf("%q: views from %v, %v", want, first, err)
		}
		for i, term := range want {
			if char := i >= first[1]; char != strings.HasPrefix(both.Term(term), "chars ") {
				t.Errorf("term %d of %q reads %s", i, want, both.Term(term))
			}
		}
	}
	if _, err := both.FirstColumns([]string{"\x02abc", "\x01the"}); err == nil {
		t.Error("a vocabulary out of order passes")
	}
	if _, err := both.FirstColumns([]string{"the"}); err == nil {
		t.Error("a vocabulary without views passes")
	}
}
